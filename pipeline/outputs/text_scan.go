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
	columns []textColumn // by place, without the carried ones
	escaped bool         // Part.Escaped
}

type textColumn struct {
	*writer.Column        // nil if it is not read
	last           string // the cell of the last row, and its index
	index          int32
	known          map[string]int32 // the index of each distinct text; nil for inputs, which hardly repeat
}

// newTextBatch begins a batch with the columns of a file.
func newTextBatch(b *Batch, own []writer.Column, columns Columns) *textBatch {
	t := &textBatch{Batch: b, columns: make([]textColumn, len(own))}
	columns |= Of(writer.ColumnInput) // the input is there without reading a page
	for i := range own {
		c := &own[i]
		if c.ID == writer.ColumnLevel || !columns.has(c.ID) {
			continue
		}
		if t.columns[i].Column = c; c.Type == writer.TypeString {
			b.Texts[c.ID].Distinct = append(b.Texts[c.ID].Distinct, "")
			if c.ID != writer.ColumnInput {
				t.columns[i].known = map[string]int32{"": 0}
			}
		}
	}
	return t
}

// add adds a cell of the present row.
func (t *textBatch) add(place int, cell string) (err error) {
	c := &t.columns[place]
	if c.Column == nil {
		return nil
	}
	if t.escaped {
		cell = writer.UnescapeFormula(cell)
	}
	switch c.Type {
	case writer.TypeString:
		c.addText(&t.Texts[c.ID], cell)
	case writer.TypeDouble:
		x := null
		if cell != "" {
			x, err = strconv.ParseFloat(cell, 64)
		}
		t.Reals[c.ID] = append(t.Reals[c.ID], x)
	default:
		var n int64
		if cell != "" {
			n, err = wholeOf(c.Type, cell)
		}
		t.Wholes[c.ID] = append(t.Wholes[c.ID], n)
	}
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

// wholeOf parses a whole number or a time.
func wholeOf(t writer.Type, cell string) (int64, error) {
	if t == writer.TypeTimestamp {
		at, err := time.Parse(time.RFC3339Nano, cell)
		return at.UnixMicro(), err
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
	own, err := ownColumns(names)
	if err != nil {
		return nil, err
	}
	source := &blocks{in: in, size: textBlock, quoted: format.content.Delimited()}
	members, isFirst := jsonMembersOf(names, own), true
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
			t := newTextBatch(b, own, columns)
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
