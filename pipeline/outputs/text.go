package outputs

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/writer"
)

// textBlock is the bytes of a text file that become a batch, and rowsBlock those that are in memory for File.Rows.
const (
	textBlock = 2 << 20
	rowsBlock = 64 << 10
)

// readNames reads the names of the columns: the header, or the members of the first object.
func (f *File) readNames(members []string) error {
	in, err := decompress(bufio.NewReaderSize(io.NewSectionReader(f.body, 0, math.MaxInt64), 64<<10))
	if err != nil {
		return err
	}
	defer in.Close()
	source := &blocks{in: in, size: rowsBlock, quoted: f.format.Delimited()}
	if f.format == writer.JSONL {
		f.names, f.list, err = jsonNames(source, members)
		return err
	}
	if f.comma() == 0 {
		return fmt.Errorf("unknown format %q", f.format)
	}
	block, err := source.next()
	if err != nil && err != io.EOF {
		return err
	}
	names := newTextRows(f, func(rows []Row) error { f.names = rows[0]; return nil })
	if _, err = names.addRow(block, -1); err == nil && f.names == nil {
		err = errors.New("there is no header")
	}
	return err
}

// comma returns the separator of delimited text; 0 for other formats.
func (f *File) comma() byte {
	switch f.format {
	case writer.CSV:
		return ','
	case writer.TSV:
		return '\t'
	}
	return 0
}

// blocks returns the blocks of the file, and a function that adds a block to rows. The header is of no block.
func (f *File) blocks(in io.Reader, size int) (next func() (string, error), add func(*textRows, string) error) {
	source := &blocks{in: in, size: size, quoted: f.format.Delimited()}
	if f.format == writer.JSONL {
		return source.next, (*textRows).addJSON
	}
	begun := false
	return func() (string, error) {
		block, err := source.next()
		if err == nil && !begun {
			begun = true
			block, err = newTextRows(f, func([]Row) error { return nil }).addRow(block, -1)
		}
		return block, err
	}, (*textRows).addCSV
}

// textRows calls use with the rows of a text file: see File.Rows.
func (f *File) textRows(use func([]Row) error) error {
	in, err := decompress(bufio.NewReaderSize(f.body, 64<<10))
	if err != nil {
		return err
	}
	defer in.Close()
	next, add := f.blocks(in, rowsBlock)
	t := newTextRows(f, use)
	for {
		block, err := next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			if err = add(t, block); err != nil && t.used == nil {
				err = fmt.Errorf("row %d: %w", t.count+1, err)
			}
		}
		if err != nil {
			return err
		}
	}
}

// textRows takes the cells of rows, which become a batch with some columns, or Rows with all columns.
type textRows struct {
	names   []string
	prefix  string // File.list
	list    int    // the place of the first column of a list; -1 for none
	width   int    // the number of columns of the list
	comma   byte   // see File.comma
	escaped bool   // Part.Escaped

	batch   *Batch       // nil for Rows
	columns []textColumn // of the batch, by place, without the carried ones

	use   func([]Row) error // nil for a batch
	row   Row               // the present one
	count int               // of the rows of the file before it
	used  error             // of use
}

type textColumn struct {
	*writer.Column        // nil if it is not read
	last           string // the cell of the last row, and its index
	index          int32
	known          map[string]int32 // the index of each distinct text; nil for inputs, which hardly repeat
}

func newTextRows(f *File, use func([]Row) error) *textRows {
	t := &textRows{names: f.names, prefix: f.list, list: -1, comma: f.comma(), escaped: f.escaped && f.format.Delimited(), use: use}
	for i, name := range f.names {
		if f.list == "" || !strings.HasPrefix(name, f.list) || t.list >= 0 && i != t.list+t.width {
			continue
		}
		if t.width++; t.list < 0 {
			t.list = i
		}
	}
	return t
}

// newTextBatch returns rows for a batch with the columns of a file.
func newTextBatch(f *File, b *Batch, own []writer.Column, columns Columns) *textRows {
	t := newTextRows(f, nil)
	t.batch, t.columns = b, make([]textColumn, len(own))
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
func (t *textRows) add(place int, cell string) (err error) {
	if t.escaped {
		cell = writer.UnescapeFormula(cell)
	}
	if t.use != nil {
		t.row = append(t.row, cell)
		return nil
	}
	if place >= len(t.columns) || t.columns[place].Column == nil {
		return nil
	}
	c, b := &t.columns[place], t.batch
	switch c.Type {
	case writer.TypeString:
		c.addText(&b.Texts[c.ID], cell)
	case writer.TypeDouble:
		x := null
		if cell != "" {
			x, err = strconv.ParseFloat(cell, 64)
		}
		b.Reals[c.ID] = append(b.Reals[c.ID], x)
	default:
		var n int64
		if cell != "" {
			n, err = wholeOf(c.Type, cell)
		}
		b.Wholes[c.ID] = append(b.Wholes[c.ID], n)
	}
	return err
}

// end ends the present row.
func (t *textRows) end() error {
	if t.use == nil {
		t.batch.Len++
		t.batch.Rows++
		return nil
	}
	row := t.row
	t.row = make(Row, 0, len(row))
	return t.pass([]Row{row})
}

// pass passes Rows on.
func (t *textRows) pass(rows []Row) error {
	t.count++
	t.used = t.use(rows)
	return t.used
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

// jobs returns the jobs of a text file: see inOrder.
func (f *File) jobs(in io.Reader, own []writer.Column, columns Columns) func() (job, error) {
	next, add := f.blocks(in, textBlock)
	return func() (job, error) {
		block, err := next()
		if err != nil {
			return nil, err
		}
		return func(b *Batch) error { return add(newTextBatch(f, b, own, columns), block) }, nil
	}
}
