package outputs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/writer"
)

// jsonNames returns the names of the columns of a JSONL file, which are the members of its first object, and the prefix
// of those in a list; nil for a file without rows. members are the expected members of the objects in the list. Without
// them the first object in any list has them.
func jsonNames(in *blocks, members []string) (names []string, prefix string, err error) {
	list, begun := -1, false
	for !begun || list >= 0 && members == nil {
		block, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, "", err
		}
		p := jsonParser{text: block}
		for p.space(); p.text != "" && (!begun || list >= 0 && members == nil); p.space() {
			err := p.object(func(name string) error {
				isList := strings.HasPrefix(p.text, "[")
				switch {
				case begun:
				case isList && list >= 0:
					return fmt.Errorf("%q is a second list", name)
				case isList:
					list, prefix = len(names), name+"."
				default:
					names = append(names, name)
				}
				if isList && name+"." == prefix {
					found, err := p.members()
					if members == nil {
						members = found
					}
					return err
				}
				_, err := p.value()
				return err
			})
			if err == nil && names == nil && list < 0 {
				err = errors.New("the first object has no members")
			}
			if err != nil {
				return nil, "", err
			}
			begun = true
		}
	}
	if list < 0 {
		return names, "", nil
	}
	if members == nil { // all lists are empty
		for _, name := range (writer.Schema{Shape: writer.ShapeNested}).Names() {
			if member, ok := strings.CutPrefix(name, writer.ListPrefix); ok {
				members = append(members, member)
			}
		}
	}
	for i, member := range members {
		names = slices.Insert(names, list+i, prefix+member)
	}
	return names, prefix, nil
}

// addJSON adds the rows of a block of JSON lines. It is written by hand: encoding/json needs several times the time.
func (t *textRows) addJSON(block string) error {
	p := jsonParser{text: block, strict: t.use != nil}
	cells := make([]string, len(t.names))
	var elements []string // of the list, by row and column
	for p.space(); p.text != ""; p.space() {
		elements = elements[:0]
		place := 0
		err := p.object(func(name string) (err error) {
			switch {
			case place == t.list && name+"." == t.prefix:
				elements, err = p.list(elements, t.width, func(at int, member string) error {
					if t.names[t.list+at][len(t.prefix):] != member {
						return fmt.Errorf("%q is another column", member)
					}
					return nil
				})
				place += t.width
				return err
			case place >= len(t.names) || t.names[place] != name:
				return fmt.Errorf("%q is another column", name)
			}
			cells[place], err = p.value()
			place++
			return err
		})
		if err == nil && place != len(t.names) {
			err = fmt.Errorf("an object has %d members, not %d", place, len(t.names))
		}
		if err == nil {
			err = t.addCells(cells, elements)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addCells adds the row of an object, or a row for each element of its list.
func (t *textRows) addCells(cells, elements []string) error {
	if t.list >= 0 {
		clear(cells[t.list : t.list+t.width])
	}
	var rows []Row
	for first := true; first || len(elements) > 0; first = false {
		if len(elements) > 0 {
			copy(cells[t.list:], elements[:t.width])
			elements = elements[t.width:]
		}
		if t.use != nil {
			rows = append(rows, slices.Clone(cells))
			continue
		}
		for place := range t.columns {
			if err := t.add(place, cells[place]); err != nil {
				return err
			}
		}
		t.batch.Len++
	}
	if t.use != nil {
		return t.pass(rows)
	}
	t.batch.Rows++
	return nil
}

// jsonParser cuts JSON values off a text.
type jsonParser struct {
	text   string
	strict bool // empty text is EmptyText, and lists, objects and malformed numbers are errors
}

var errJSON = errors.New("malformed JSON")

func (p *jsonParser) space() {
	for p.text != "" && (p.text[0] == ' ' || p.text[0] == '\n' || p.text[0] == '\r' || p.text[0] == '\t') {
		p.text = p.text[1:]
	}
}

// take cuts a character off, and spaces before and after it; false if the text does not begin with it.
func (p *jsonParser) take(c byte) bool {
	p.space()
	if p.text == "" || p.text[0] != c {
		return false
	}
	p.text = p.text[1:]
	p.space()
	return true
}

// object calls member with the name of each member of an object; member cuts off the value.
func (p *jsonParser) object(member func(name string) error) error {
	if !p.take('{') {
		return errJSON
	}
	for more := !p.take('}'); more; {
		name, err := p.string()
		if err != nil {
			return err
		}
		if !p.take(':') {
			return errJSON
		}
		if err := member(name); err != nil {
			return err
		}
		if more = p.take(','); !more && !p.take('}') {
			return errJSON
		}
	}
	return nil
}

// members cuts a list of objects off, and returns the names of the members of the first one.
func (p *jsonParser) members() (names []string, err error) {
	_, err = p.list(nil, 0, func(place int, name string) error {
		if place == len(names) {
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// list appends the values of a list of objects, which have width members each, or as many as the first one if width is
// 0. check gets the place and the name of each member.
func (p *jsonParser) list(values []string, width int, check func(place int, name string) error) ([]string, error) {
	if !p.take('[') {
		return nil, errJSON
	}
	objects := 0
	for more := !p.take(']'); more; objects++ {
		if objects == MaxRows {
			return nil, errLongList
		}
		place := 0
		err := p.object(func(name string) error {
			if width > 0 && place == width {
				return fmt.Errorf("%q is another column", name)
			}
			if err := check(place, name); err != nil {
				return err
			}
			value, err := p.value()
			values = append(values, value)
			place++
			return err
		})
		if width == 0 {
			width = place
		}
		if err == nil && (place != width || place == 0) {
			err = fmt.Errorf("an object has %d members, not %d", place, width)
		}
		if err != nil {
			return nil, err
		}
		if more = p.take(','); !more && !p.take(']') {
			return nil, errJSON
		}
	}
	return values, nil
}

// value cuts a text, a number or null off; other values are skipped and "".
func (p *jsonParser) value() (string, error) {
	if p.text == "" {
		return "", errJSON
	}
	switch p.text[0] {
	case '"':
		text, err := p.string()
		if text == "" && p.strict {
			text = EmptyText
		}
		return text, err
	case '{', '[':
		if p.strict {
			return "", errNoCell
		}
		d := json.NewDecoder(strings.NewReader(p.text))
		var skipped json.RawMessage
		if err := d.Decode(&skipped); err != nil {
			return "", err
		}
		p.text = p.text[d.InputOffset():]
		return "", nil
	}
	n := strings.IndexAny(p.text, ",}] \r\n\t")
	if n <= 0 {
		return "", errJSON
	}
	value := p.text[:n]
	if p.text = p.text[n:]; value == "null" {
		return "", nil
	}
	if p.strict && !json.Valid([]byte(value)) {
		return "", errJSON
	}
	return value, nil
}

var errNoCell = errors.New("a value is neither text, number, boolean nor null")

// errLongList is the error of a list that no answer has.
var errLongList = fmt.Errorf("a list has more than %d entries", MaxRows)

// string cuts a string off.
func (p *jsonParser) string() (string, error) {
	if !strings.HasPrefix(p.text, `"`) {
		return "", errJSON
	}
	if n := strings.IndexByte(p.text[1:], '"') + 1; n > 0 && strings.IndexByte(p.text[:n], '\\') < 0 {
		text := p.text[1:n]
		p.text = p.text[n+1:]
		return text, nil
	}
	end := 1
	for {
		n := strings.IndexAny(p.text[end:], `"\`)
		if n < 0 {
			return "", errJSON
		}
		if end += n; p.text[end] == '"' {
			break
		}
		if end += 2; end >= len(p.text) { // after the escaped character
			return "", errJSON
		}
	}
	var text string
	err := json.Unmarshal([]byte(p.text[:end+1]), &text)
	p.text = p.text[end+1:]
	return text, err
}
