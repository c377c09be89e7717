package outputs

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/bulkcat/bulkcat/writer"
)

// jsonMembers are the members of the objects of a JSONL file, in order.
type jsonMembers struct {
	names []string // of the columns, as File.Columns has them
	list  int      // the place of the first column of the list; -1 for none
	width int      // the number of columns of the list
}

func jsonMembersOf(names []string, own []writer.Column) jsonMembers {
	m := jsonMembers{names: names, list: -1}
	for i := range own {
		if !strings.HasPrefix(own[i].Name, writer.ListPrefix) {
			continue
		}
		if m.width++; m.list < 0 {
			m.list = i
		}
	}
	return m
}

// addJSON adds the rows of a block of JSON lines.
func (t *textBatch) addJSON(block string, m jsonMembers) error {
	p := jsonParser{text: block}
	cells := make([]string, len(m.names))
	var elements []string // of the list, by row and column
	for {
		p.space()
		if p.text == "" {
			return nil
		}
		elements = elements[:0]
		place := 0
		err := p.object(func(name string) (err error) {
			switch {
			case place == m.list && name+"." == writer.ListPrefix:
				elements, err = p.list(elements, m.names[place:place+m.width])
				place += m.width
				return err
			case place >= len(m.names) || m.names[place] != name:
				return fmt.Errorf("%q is another column", name)
			}
			cells[place], err = p.value()
			place++
			return err
		})
		if err == nil && place != len(m.names) {
			err = fmt.Errorf("an object has %d members, not %d", place, len(m.names))
		}
		if err != nil {
			return err
		}
		if err := t.addCells(cells, elements, m); err != nil {
			return err
		}
	}
}

// addCells adds the row of an object, or a row for each element of its list.
func (t *textBatch) addCells(cells, elements []string, m jsonMembers) error {
	if m.list >= 0 {
		clear(cells[m.list : m.list+m.width])
	}
	for first := true; first || len(elements) > 0; first = false {
		if len(elements) > 0 {
			copy(cells[m.list:], elements[:m.width])
			elements = elements[m.width:]
		}
		for place := range t.columns {
			if err := t.add(place, cells[place]); err != nil {
				return err
			}
		}
		t.Len++
	}
	return nil
}

// jsonParser cuts JSON values off a text.
type jsonParser struct{ text string }

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

// list appends the values of a list of objects, whose members have the names.
func (p *jsonParser) list(values, names []string) ([]string, error) {
	if !p.take('[') {
		return nil, errJSON
	}
	for more := !p.take(']'); more; {
		place := 0
		err := p.object(func(name string) error {
			if place >= len(names) || names[place][len(writer.ListPrefix):] != name {
				return fmt.Errorf("%q is another column", name)
			}
			value, err := p.value()
			values = append(values, value)
			place++
			return err
		})
		if err == nil && place != len(names) {
			err = fmt.Errorf("an object has %d members, not %d", place, len(names))
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
		return p.string()
	case '{', '[':
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
	return value, nil
}

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
