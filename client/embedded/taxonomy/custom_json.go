package taxonomy

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// jsonNode is a value of JSON with its line. Objects keep the order of their members.
type jsonNode struct {
	line     int
	text     string // of a string, a number or a boolean; "" for null
	keys     []string
	values   []jsonNode // of the members or elements
	isObject bool
	isArray  bool
}

// readJSON reads a tree of objects with a name and children, a tree of nested objects whose keys are the names, or a list of
// objects with the members of a table. The list may be the only member of an object.
func (c *customReader) readJSON(text string) {
	p := jsonParser{decoder: json.NewDecoder(strings.NewReader(text)), text: text}
	p.decoder.UseNumber()
	root, err := p.value(0)
	if err == nil {
		if _, end := p.decoder.Token(); end != io.EOF {
			err = fmt.Errorf("there is text after the end")
		}
	}
	if err != nil {
		c.report(p.line(), fmt.Sprintf("the JSON is broken: %v", err))
		return
	}
	if list, ok := root.member(childColumns); ok && len(root.keys) == 1 && list.isArray {
		root = list
	}
	if t, ok := root.table(); ok && c.readTable(t, " in JSON") {
		return
	}
	c.form = "a tree in JSON"
	c.readChildren(root, nil)
}

// table returns an array of objects as a table; false for other values, and for objects with children.
func (n jsonNode) table() (*table, bool) {
	t := &table{}
	for _, element := range n.values {
		if !n.isArray || !element.isObject {
			return nil, false
		}
		row := element.row()
		t.header, t.rows = union(t.header, row.header), append(t.rows, row)
	}
	return t, !t.has(childColumns)
}

// row returns an object as a row.
func (n jsonNode) row() tableRow {
	row := tableRow{line: n.line}
	for i, key := range n.keys {
		row.header, row.cells = append(row.header, strings.ToLower(key)), append(row.cells, n.values[i].join())
	}
	return row
}

// join returns the text, or the texts of an array joined by bars.
func (n jsonNode) join() string {
	if !n.isArray {
		return n.text
	}
	var texts []string
	for _, v := range n.values {
		texts = append(texts, v.text)
	}
	return strings.Join(texts, "|")
}

// member returns the first member with one of some names.
func (n jsonNode) member(names []string) (jsonNode, bool) {
	for _, name := range names {
		if i := slices.IndexFunc(n.keys, func(k string) bool { return strings.EqualFold(k, name) }); i >= 0 {
			return n.values[i], true
		}
	}
	return jsonNode{}, false
}

// readChildren reads the categories below a path.
func (c *customReader) readChildren(n jsonNode, above []string) {
	switch {
	case n.isArray:
		for _, element := range n.values {
			c.readCategory(element, above)
		}
	case n.isObject:
		if _, ok := n.member(nameColumns); ok {
			c.readCategory(n, above)
			return
		}
		for i, key := range n.keys {
			c.addNode(tableRow{line: n.values[i].line}, append(slices.Clip(above), foldSpace(key)), n.values[i])
		}
	}
}

// readCategory reads an object with a name, or a name alone.
func (c *customReader) readCategory(n jsonNode, above []string) {
	if !n.isObject {
		c.addNode(tableRow{line: n.line}, append(slices.Clip(above), foldSpace(n.text)), jsonNode{})
		return
	}
	name, ok := n.member(nameColumns)
	if !ok {
		c.readChildren(n, above)
		return
	}
	children, _ := n.member(childColumns)
	c.addNode(n.row(), append(slices.Clip(above), foldSpace(name.text)), children)
}

// addNode adds the category of a row, and reads its children.
func (c *customReader) addNode(row tableRow, names []string, children jsonNode) {
	problem := ""
	if names[len(names)-1] == "" {
		problem = "a category has no name"
	}
	if c.add(row, names, problem) {
		c.readChildren(children, names)
	}
}

// jsonParser parses JSON into nodes.
type jsonParser struct {
	decoder *json.Decoder
	text    string
	seen    int64 // offset up to which lines are counted
	lines   int
}

// line returns the present line of the decoder.
func (p *jsonParser) line() int {
	offset := min(p.decoder.InputOffset(), int64(len(p.text)))
	p.lines += strings.Count(p.text[p.seen:offset], "\n")
	p.seen = offset
	return p.lines + 1
}

// mostNesting is deeper than the nesting of a tree with maxCustomLevels levels.
const mostNesting = 2*maxCustomLevels + 4

func (p *jsonParser) value(depth int) (jsonNode, error) {
	if depth > mostNesting {
		return jsonNode{}, fmt.Errorf("it is nested over %d deep", mostNesting)
	}
	token, err := p.decoder.Token()
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return jsonNode{}, err
	}
	n := jsonNode{line: p.line()}
	delim, nested := token.(json.Delim)
	if !nested {
		if token != nil {
			n.text = fmt.Sprint(token)
		}
		return n, nil
	}
	n.isObject, n.isArray = delim == '{', delim == '['
	for p.decoder.More() {
		if n.isObject {
			key, err := p.decoder.Token()
			if err != nil {
				return n, err
			}
			n.keys = append(n.keys, key.(string))
		}
		v, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		n.values = append(n.values, v)
	}
	_, err = p.decoder.Token() // the closing bracket
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
