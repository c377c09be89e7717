package outputs

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"

	"github.com/bulkcat/bulkcat/reader/pages"
	"github.com/bulkcat/bulkcat/writer"
)

// parquetScan makes a batch of each row group of a file.
type parquetScan struct {
	columns []parquetColumn
	input   int // the index of the input's leaf
	groups  []parquet.RowGroup
}

// parquetColumn is a column to read.
type parquetColumn struct {
	*writer.Column
	leaf   int  // the index in the file
	ofList bool // it is a member of the structs in the list
	most   byte // the definition level of a value that is not null
}

// jobs returns the jobs of a Parquet file: see inOrder.
func (p *parquetFile) jobs(own []writer.Column, columns Columns) func() (job, error) {
	s := p.scan(own, columns)
	group := -1
	return func() (job, error) {
		if group++; group >= len(s.groups) {
			return nil, io.EOF
		}
		n := group
		return func(b *Batch) error { return s.fill(n, b) }, nil
	}
}

func (p *parquetFile) scan(own []writer.Column, columns Columns) *parquetScan {
	s := &parquetScan{groups: p.groups}
	isList := p.list[1] > 0
	for leaf := range own {
		c := &own[leaf]
		if c.ID == writer.ColumnInput {
			s.input = leaf
		}
		if c.ID == writer.ColumnLevel || !columns.has(c.ID) && !(isList && c.ID == writer.ColumnRank) { // the ranks say how long the lists are
			continue
		}
		ofList := leaf >= p.list[0] && leaf < p.list[1]
		s.columns = append(s.columns, parquetColumn{Column: c, leaf: leaf, ofList: ofList, most: p.most[leaf]})
	}
	return s
}

// fill decodes a row group.
func (s *parquetScan) fill(i int, b *Batch) (err error) {
	defer pages.Guard(&err)
	chunks := s.groups[i].ColumnChunks()
	b.Rows = int(s.groups[i].NumRows())
	b.Len = b.Rows
	var rows []int32 // of the group, by row of the batch; nil if they are the same
	for _, c := range s.columns {
		if c.ofList && rows == nil {
			if rows, err = s.lists(chunks[c.leaf], b.Len); err != nil {
				return err
			}
			b.Len = len(rows)
		}
	}
	for _, c := range s.columns {
		if err := c.read(chunks[c.leaf], b, rows); err != nil {
			return err
		}
		if !c.ofList && rows != nil {
			c.spread(b, rows)
		}
		if n := b.rows(c.Column); n != b.Len {
			return fmt.Errorf("%w: a column has %d rows, not %d", pages.ErrDamaged, n, b.Len)
		}
	}
	input := &pageReader{chunk: chunks[s.input]}
	b.input = func(i int) (string, error) {
		if rows != nil {
			i = int(rows[i])
		}
		return input.at(int64(i))
	}
	return nil
}

// lists returns the row of the group for each element of its lists, and for each empty list.
func (s *parquetScan) lists(chunk parquet.ColumnChunk, n int) ([]int32, error) {
	rows := make([]int32, 0, min(4*n, 1<<20))
	row := int32(-1)
	err := eachPage(chunk, func(p parquet.Page) error {
		for _, level := range p.RepetitionLevels() {
			if level == 0 {
				row++
			}
			if rows = append(rows, row); len(rows) > MaxRows && rows[len(rows)-1-MaxRows] == row {
				return errLongList
			}
		}
		return nil
	})
	if err == nil && (int(row) != n-1 || len(rows) > 0 && rows[0] != 0) {
		err = pages.ErrDamaged
	}
	return rows, err
}

func eachPage(chunk parquet.ColumnChunk, use func(parquet.Page) error) (err error) {
	in := chunk.Pages()
	defer func() { err = errors.Join(err, in.Close()) }()
	for {
		p, err := in.ReadPage()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		err = use(p)
		parquet.Release(p)
		if err != nil {
			return err
		}
	}
}

// read appends the values of a column to the batch. An empty list has nulls. All columns of a list must have its rows.
func (c *parquetColumn) read(chunk parquet.ColumnChunk, b *Batch, rows []int32) error {
	var words dictionary
	at := 0 // of the rows
	return eachPage(chunk, func(p parquet.Page) error {
		for _, level := range p.RepetitionLevels() {
			if at >= len(rows) || (level == 0) != (at == 0 || rows[at] != rows[at-1]) {
				return pages.ErrDamaged
			}
			at++
		}
		levels := p.DefinitionLevels()
		if c.most == 0 {
			levels = nil
		}
		switch c.Type {
		case writer.TypeString:
			t := &b.Texts[c.ID]
			indexes, err := words.add(t, p)
			if err != nil {
				return err
			}
			t.Index, err = appendPresent(t.Index, indexes, levels, c.most, 0)
			return err
		case writer.TypeDouble:
			values, err := numbersOf(p, parquet.Double, (*encoding.Values).Double)
			if err == nil {
				b.Reals[c.ID], err = appendPresent(b.Reals[c.ID], values, levels, c.most, null)
			}
			return err
		}
		values, err := numbersOf(p, parquet.Int64, (*encoding.Values).Int64)
		if err == nil {
			b.Wholes[c.ID], err = appendPresent(b.Wholes[c.ID], values, levels, c.most, 0)
		}
		return err
	})
}

// numbersOf returns the values of a page of numbers. bulkcat writes no dictionaries of numbers; engines that rewrite an
// output do.
func numbersOf[T any](p parquet.Page, kind parquet.Kind, get func(*encoding.Values) []T) ([]T, error) {
	data, d := p.Data(), p.Dictionary()
	if d == nil {
		if p.Type().Kind() != kind {
			return nil, pages.ErrDamaged
		}
		return get(&data), nil
	}
	if d.Type().Kind() != kind {
		return nil, pages.ErrDamaged
	}
	distinct := d.Page().Data()
	all, indexes := get(&distinct), data.Int32()
	values := make([]T, len(indexes))
	for i, n := range indexes {
		if n < 0 || int(n) >= len(all) {
			return nil, pages.ErrDamaged
		}
		values[i] = all[n]
	}
	return values, nil
}

// appendPresent appends the values, and null where a definition level is not that of a value.
func appendPresent[T any](to, values []T, levels []byte, most byte, null T) ([]T, error) {
	if len(levels) == len(values) || levels == nil {
		return append(to, values...), nil
	}
	for _, level := range levels {
		if level != most {
			to = append(to, null)
			continue
		}
		if len(values) == 0 {
			return to, pages.ErrDamaged
		}
		to, values = append(to, values[0]), values[1:]
	}
	return to, nil
}

// dictionary numbers the texts of a column chunk in a batch.
type dictionary struct {
	of      parquet.Dictionary
	first   int32 // the number of its first text
	indexes []int32
}

// add adds the texts of a page, and returns the numbers of its values. The slice is valid until the next page.
func (d *dictionary) add(t *Text, p parquet.Page) ([]int32, error) {
	if len(t.Distinct) == 0 {
		t.Distinct = append(t.Distinct, "")
	}
	if p.Dictionary() == nil {
		return d.addPlain(t, p)
	}
	if p.Dictionary().Type().Kind() != parquet.ByteArray {
		return nil, pages.ErrDamaged
	}
	if p.Dictionary() != d.of {
		d.of, d.first = p.Dictionary(), int32(len(t.Distinct))
		for i := range d.of.Len() {
			t.Distinct = append(t.Distinct, string(d.of.Index(int32(i)).ByteArray()))
		}
	}
	data := p.Data()
	d.indexes = append(d.indexes[:0], data.Int32()...)
	for i, n := range d.indexes {
		if n < 0 || int(n) >= d.of.Len() {
			return nil, pages.ErrDamaged
		}
		d.indexes[i] += d.first
	}
	return d.indexes, nil
}

func (d *dictionary) addPlain(t *Text, p parquet.Page) ([]int32, error) {
	if p.Type().Kind() != parquet.ByteArray {
		return nil, pages.ErrDamaged
	}
	data := p.Data()
	bytes, offsets := data.ByteArray()
	texts := string(bytes) // one copy for all
	d.indexes = d.indexes[:0]
	for i := range max(len(offsets), 1) - 1 {
		d.indexes = append(d.indexes, int32(len(t.Distinct)))
		t.Distinct = append(t.Distinct, texts[offsets[i]:offsets[i+1]])
	}
	return d.indexes, nil
}

// spread repeats the values of the column for the elements of the lists.
func (c *parquetColumn) spread(b *Batch, rows []int32) {
	switch c.Type {
	case writer.TypeString:
		b.Texts[c.ID].Index = repeat(b.Texts[c.ID].Index, rows)
	case writer.TypeDouble:
		b.Reals[c.ID] = repeat(b.Reals[c.ID], rows)
	default:
		b.Wholes[c.ID] = repeat(b.Wholes[c.ID], rows)
	}
}

func repeat[T any](values []T, rows []int32) []T {
	spread := make([]T, len(rows))
	for i, row := range rows {
		spread[i] = values[row]
	}
	return spread
}

// pageReader reads single texts of a column chunk. It keeps the page of the last text.
type pageReader struct {
	chunk parquet.ColumnChunk
	first int64 // the row of the page's first text
	page  Text
}

func (r *pageReader) at(row int64) (text string, err error) {
	defer pages.Guard(&err)
	if row < r.first || row >= r.first+int64(len(r.page.Index)) {
		if err := r.read(row); err != nil {
			return "", err
		}
	}
	return r.page.At(int(row - r.first)), nil
}

// read reads the page with a row, and checks the pages before.
func (r *pageReader) read(row int64) (err error) {
	in := r.chunk.Pages()
	defer func() { err = errors.Join(err, in.Close()) }()
	for next := int64(0); ; {
		p, err := in.ReadPage()
		if err == io.EOF {
			return pages.ErrDamaged
		} else if err != nil {
			return err
		}
		next += p.NumRows()
		if next > row {
			err = r.keep(p, next-p.NumRows())
		}
		parquet.Release(p)
		if next > row || err != nil {
			return err
		}
	}
}

// keep keeps the texts of a page that begins with row first.
func (r *pageReader) keep(p parquet.Page, first int64) error {
	r.first, r.page = first, Text{}
	indexes, err := new(dictionary).add(&r.page, p)
	if err == nil {
		r.page.Index, err = appendPresent(r.page.Index, indexes, p.DefinitionLevels(), 1, 0)
	}
	return err
}
