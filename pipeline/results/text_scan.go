package results

import (
	"errors"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"
)

// textRows is the number of rows of a batch of text. A batch of inputs of 100 bytes has some megabytes.
const textRows = 32 << 10

// mostDistinct bounds the texts that are kept for the following batches.
const mostDistinct = 1 << 16

// textScan makes batches of the rows of a text file.
type textScan struct {
	file    *File
	columns []textColumn
}

type textColumn struct {
	column   Columns
	place    int
	distinct []string         // of the batches so far
	index    map[string]int32 // into distinct; nil for inputs, which hardly repeat
}

func newTextScan(f *File, places map[Columns]int, columns Columns) *textScan {
	s := &textScan{file: f}
	for _, c := range slices.Sorted(maps.Keys(places)) {
		if c&(columns|Input) == 0 { // the input is there without reading a page
			continue
		}
		column := textColumn{column: c, place: places[c]}
		if c != Input {
			column.forget()
		}
		s.columns = append(s.columns, column)
	}
	return s
}

// forget begins new distinct texts: batches may still have those so far.
func (c *textColumn) forget() { c.distinct, c.index = []string{""}, map[string]int32{"": 0} }

// fill reads the next batch.
func (s *textScan) fill(_ int, b *Batch) error {
	for k := range s.columns {
		c := &s.columns[k]
		if len(c.distinct) > mostDistinct {
			c.forget()
		}
		if t := b.text(c.column); t != nil && c.index == nil {
			t.Distinct = append(make([]string, 0, textRows), "")
		}
	}
	for b.Len < textRows {
		rows, err := s.file.Next()
		if errors.Is(err, io.EOF) && b.Len > 0 {
			break
		}
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := s.add(b, r); err != nil {
				return err
			}
		}
	}
	for k := range s.columns {
		if c := &s.columns[k]; c.index != nil && b.text(c.column) != nil {
			b.text(c.column).Distinct = slices.Clip(c.distinct)
		}
	}
	return nil
}

// add adds a row.
func (s *textScan) add(b *Batch, r Row) (err error) {
	for k := range s.columns {
		c := &s.columns[k]
		cell := r[c.place]
		switch {
		case b.text(c.column) != nil:
			t := b.text(c.column)
			if c.index == nil {
				t.Index, t.Distinct = append(t.Index, int32(len(t.Distinct))), append(t.Distinct, cell)
				continue
			}
			i, known := c.index[cell]
			if !known {
				i = int32(len(c.distinct))
				c.index[cell], c.distinct = i, append(c.distinct, cell)
			}
			t.Index = append(t.Index, i)
		case c.column == Confidence:
			x := null
			if cell != "" {
				if x, err = strconv.ParseFloat(cell, 64); err != nil {
					return err
				}
			}
			b.Confidence = append(b.Confidence, x)
		default:
			n, err := wholeOf(c.column, cell)
			if err != nil {
				return err
			}
			w := b.whole(c.column)
			*w = append(*w, n)
		}
	}
	b.Len++
	return nil
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
