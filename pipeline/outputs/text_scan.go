package outputs

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/writer"
)

// textBatch adds rows to a batch.
type textBatch struct {
	*Batch
	columns []textColumn // by place; those that are not read have the column 0
	escaped bool         // Part.Escaped
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
	if t.escaped {
		cell = writer.UnescapeFormula(cell)
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

// textJobs returns the jobs of a text file: see inOrder.
func textJobs(in io.Reader, format textFormat, names []string, columns Columns) (func() (job, error), error) {
	places, err := placesOf(names)
	if err != nil {
		return nil, err
	}
	source := &blocks{in: in, size: textBlock, quoted: format.content.Delimited()}
	members, isFirst := jsonMembersOf(names), true
	return func() (job, error) {
		block, err := source.next()
		if err != nil {
			return nil, err
		}
		if isFirst && source.quoted {
			block = block[headerEnd(block):]
		}
		isFirst = false
		return func(b *Batch) error {
			t := newTextBatch(b, places, columns)
			t.escaped = format.escaped && source.quoted
			switch format.content {
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
