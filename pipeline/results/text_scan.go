package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/writer"
)

// textBlock is the bytes of a text file that become a batch.
const textBlock = 2 << 20

// blocks cuts a text file into blocks of whole rows.
type blocks struct {
	in     io.Reader
	size   int    // of a block, in bytes, or more if a row is longer
	quoted bool   // newlines inside quotes do not end a row, as in CSV
	rest   []byte // read, but after the last block
	err    error  // of in
}

// next returns the next block; io.EOF after the last one. The caller may keep it.
func (s *blocks) next() (string, error) {
	block := append(make([]byte, 0, len(s.rest)+s.size), s.rest...)
	for {
		if s.err == nil {
			n := len(block)
			block = append(block, make([]byte, s.size)...)
			var read int
			read, s.err = io.ReadFull(s.in, block[n:])
			if block = block[:n+read]; errors.Is(s.err, io.ErrUnexpectedEOF) {
				s.err = io.EOF
			}
		}
		if s.err != nil && !errors.Is(s.err, io.EOF) {
			return "", s.err
		}
		if s.err != nil && len(block) == 0 {
			return "", io.EOF
		}
		end := len(block)
		if s.err == nil {
			end = s.end(block)
		}
		if end > 0 {
			s.rest = bytes.Clone(block[end:])
			return string(block[:end]), nil
		}
	}
}

// end returns the end of the last whole row; 0 for none.
func (s *blocks) end(block []byte) int {
	quotes := 0
	if s.quoted {
		quotes = bytes.Count(block, []byte{'"'})
	}
	for end := len(block); ; {
		newline := bytes.LastIndexByte(block[:end], '\n')
		if s.quoted {
			quotes -= bytes.Count(block[newline+1:end], []byte{'"'})
		}
		if newline < 0 || quotes%2 == 0 {
			return newline + 1
		}
		end = newline
	}
}

// textBatch adds rows to a batch.
type textBatch struct {
	*Batch
	columns []textColumn // by place; those that are not read have the column 0
}

type textColumn struct {
	column Columns
	last   string // the cell of the last row, and its index
	index  int32
	known  map[string]int32 // the index of each distinct text; nil for inputs, which hardly repeat
}

// newTextBatch begins a batch with the columns at their places.
func newTextBatch(b *Batch, places map[Columns]int, columns Columns) *textBatch {
	t := &textBatch{Batch: b}
	for c, place := range places {
		for len(t.columns) <= place {
			t.columns = append(t.columns, textColumn{})
		}
		if c&(columns|Input) == 0 { // the input is there without reading a page
			continue
		}
		column := textColumn{column: c}
		if text := b.text(c); text != nil {
			text.Distinct = append(text.Distinct, "")
			if c != Input {
				column.known = map[string]int32{"": 0}
			}
		}
		t.columns[place] = column
	}
	return t
}

// add adds a cell of the present row.
func (t *textBatch) add(place int, cell string) error {
	c := &t.columns[place]
	if c.column == 0 {
		return nil
	}
	if text := t.text(c.column); text != nil {
		c.addText(text, cell)
		return nil
	}
	if c.column == Confidence {
		x := null
		if cell != "" {
			var err error
			if x, err = strconv.ParseFloat(cell, 64); err != nil {
				return err
			}
		}
		t.Confidence = append(t.Confidence, x)
		return nil
	}
	n, err := wholeOf(c.column, cell)
	w := t.whole(c.column)
	*w = append(*w, n)
	return err
}

func (c *textColumn) addText(text *Text, cell string) {
	switch {
	case c.known == nil:
		text.Index, text.Distinct = append(text.Index, int32(len(text.Distinct))), append(text.Distinct, cell)
		return
	case cell != c.last:
		i, known := c.known[cell]
		if !known {
			i = int32(len(text.Distinct))
			c.known[cell], text.Distinct = i, append(text.Distinct, cell)
		}
		c.last, c.index = cell, i
	}
	text.Index = append(text.Index, c.index)
}

// wholeOf parses a whole number or a time; 0 is null.
func wholeOf(c Columns, cell string) (int64, error) {
	if cell == "" {
		return 0, nil
	}
	if c == AnsweredAt {
		t, err := time.Parse(time.RFC3339Nano, cell)
		return t.UnixMicro(), err
	}
	return strconv.ParseInt(cell, 10, 64)
}

// addCSV adds the rows of a block of delimited text. All rows have so many fields.
func (t *textBatch) addCSV(block string, comma byte, fields int) error {
	for len(block) > 0 {
		line, rest, _ := strings.Cut(block, "\n")
		if line == "" || line == "\r" { // encoding/csv skips empty lines, too
			block = rest
			continue
		}
		var err error
		if strings.IndexByte(line, '"') < 0 {
			block, err = rest, t.addPlain(strings.TrimSuffix(line, "\r"), comma, fields)
		} else {
			block, err = t.addQuoted(block, comma, fields)
		}
		if err != nil {
			return err
		}
		t.Len++
	}
	return nil
}

var errFields = errors.New("a row has other fields than the header")

// addPlain adds a row without quotes.
func (t *textBatch) addPlain(line string, comma byte, fields int) error {
	for place := range fields {
		cell, isLast := line, place == fields-1
		n := strings.IndexByte(line, comma)
		if isLast != (n < 0) {
			return errFields
		}
		if !isLast {
			cell, line = line[:n], line[n+1:]
		}
		if place < len(t.columns) {
			if err := t.add(place, cell); err != nil {
				return err
			}
		} else if !isLast {
			n := strings.Count(line, string([]byte{comma}))
			if n != fields-2-place {
				return errFields
			}
			return nil
		}
	}
	return nil
}

// addQuoted adds the first row of a block, and returns the rest.
func (t *textBatch) addQuoted(block string, comma byte, fields int) (string, error) {
	separators := string([]byte{comma, '\n'})
	for place := range fields {
		cell, end := "", byte('\n')
		if strings.HasPrefix(block, `"`) {
			var err error
			if cell, block, err = quotedCell(block); err != nil {
				return "", err
			}
			if strings.HasPrefix(block, "\r\n") {
				block = block[1:]
			}
		} else {
			n := strings.IndexAny(block, separators)
			if n < 0 {
				n = len(block)
			}
			cell, block = strings.TrimSuffix(block[:n], "\r"), block[n:]
		}
		if block != "" {
			end, block = block[0], block[1:]
		}
		if isLast := place == fields-1; isLast && end != '\n' || !isLast && end != comma {
			return "", errFields
		}
		if place < len(t.columns) {
			if err := t.add(place, cell); err != nil {
				return "", err
			}
		}
	}
	return block, nil
}

// quotedCell cuts a cell in quotes off. Quotes inside are doubled.
func quotedCell(block string) (cell, rest string, err error) {
	for begin, at := 1, 1; ; {
		n := strings.IndexByte(block[at:], '"')
		if n < 0 {
			return "", "", errors.New("a quote is not closed")
		}
		if at += n; !strings.HasPrefix(block[at+1:], `"`) {
			return cell + block[begin:at], block[at+1:], nil
		}
		cell += block[begin : at+1]
		at += 2
		begin = at
	}
}

// jsonMembers are the members of the objects of a JSONL file, in order.
type jsonMembers struct {
	names []string // of the columns, as File.Columns has them
	list  int      // the place of the first column of the list; -1 for none
	width int      // the number of columns of the list
}

func jsonMembersOf(names []string) jsonMembers {
	m := jsonMembers{names: names, list: -1}
	for i, name := range names {
		if strings.HasPrefix(name, listPrefix) && i == 4 { // after record, input, status and classification
			m.list = i
		}
		if m.list >= 0 && i == m.list+m.width && strings.HasPrefix(name, listPrefix) {
			m.width++
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
			case place == m.list && name+"." == listPrefix:
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
			if place >= len(names) || names[place][len(listPrefix):] != name {
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

// textJobs returns the jobs of a text file: see inOrder.
func textJobs(in io.Reader, content writer.Format, names []string, columns Columns) (func() (job, error), error) {
	places, err := placesOf(names)
	if err != nil {
		return nil, err
	}
	source := &blocks{in: in, size: textBlock, quoted: content != writer.JSONL}
	members, isFirst := jsonMembersOf(names), true
	return func() (job, error) {
		block, err := source.next()
		if err != nil {
			return nil, err
		}
		if isFirst && content != writer.JSONL {
			block = block[headerEnd(block):]
		}
		isFirst = false
		return func(b *Batch) error {
			t := newTextBatch(b, places, columns)
			switch content {
			case writer.JSONL:
				return t.addJSON(block, members)
			case writer.TSV:
				return t.addCSV(block, '\t', len(names))
			}
			return t.addCSV(block, ',', len(names))
		}, nil
	}, nil
}

// headerEnd returns the end of the header, the first row of a block.
func headerEnd(block string) int {
	isQuoted := false
	for i := range len(block) {
		switch {
		case block[i] == '"':
			isQuoted = !isQuoted
		case block[i] == '\n' && !isQuoted:
			return i + 1
		}
	}
	return len(block)
}
