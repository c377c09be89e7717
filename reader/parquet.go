package reader

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/bulkcat/bulkcat/reader/internal/pages"
)

var parquetFormat = inputFormat{
	name:       "parquet",
	extensions: []string{".parquet", ".pq", ".parq"},
	content:    "a Parquet file",
	recognize:  isParquet,
	inspect:    inspectParquet,
	damaged:    damagedParquet,
}

// parquetMagic begins and ends a Parquet file.
const parquetMagic = "PAR1"

// table is the result of inspectParquet.
type table struct {
	rows    int64
	columns []tableColumn // columns to read, parallel to file.columns
	inputs  []tableColumn
}

// tableColumn is a column of the file, or a part of a column, named by a dotted path.
type tableColumn struct {
	Column
	*node
	leaves []*leaf // of a parser
}

// isParquet reports whether content begins like a Parquet file.
func isParquet(head []byte, _ Source, _ int64) bool {
	return strings.HasPrefix(string(head), parquetMagic) && controls(head) > 0
}

// openParquet reads the metadata of a Parquet file.
func openParquet(name string, body io.ReaderAt, size int64) (*pages.File, error) {
	f, err := pages.Open(body, size)
	damage, damaged := errors.AsType[*pages.Damage](err)
	unsupported, valid := errors.AsType[pages.Unsupported](err)
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, pages.ErrEncrypted):
		return nil, &UnsupportedError{name, "an encrypted Parquet file", "decrypt it"}
	case valid:
		return nil, &FormatError{name, 1, string(unsupported), ""}
	case damaged:
		return nil, damagedParquet(name, damage.Reason)
	}
	return nil, &ReadError{name, 1, err}
}

func damagedParquet(name string, reason error) error {
	return &UnsupportedError{name, fmt.Sprintf("a damaged Parquet file (%v)", reason), "fetch the file again"}
}

// inspectParquet finds the columns of a Parquet file.
func inspectParquet(f *file, body Source, size int64, o *Options) (opener, error) {
	opened, err := openParquet(f.info.Name, body, size)
	if err != nil {
		return nil, err
	}
	t, all, err := newTable(f, opened, o)
	if err != nil {
		return nil, err
	}
	f.all = all
	for _, c := range t.inputs {
		f.info.Inputs = append(f.info.Inputs, c.Name)
	}
	for _, c := range t.columns {
		f.addColumn(c.Column)
	}
	return t.open, nil
}

// newTable returns the table, and the names of all columns of the file.
func newTable(f *file, opened *pages.File, o *Options) (t *table, all []string, err error) {
	defer pages.Guard(&err)
	file := f.info.Name
	t = &table{rows: opened.NumRows}
	top := slices.DeleteFunc(slices.Clone(opened.Root.Columns()), func(c *parquet.Column) bool { return !hasLeaf(c) })
	for _, c := range top {
		all = append(all, c.Name())
	}
	f.header = all
	all = columnNames(all)
	isPath := func(name string) bool { return !slices.Contains(all, name) && descend(opened.Root, name) != nil }
	find := func(name string) (tableColumn, *ColumnError) {
		if isPath(name) {
			return newTableColumn(name, opened, descend(opened.Root, name), o.MaxRecord), nil
		}
		place, err := matchColumn(file, all, name)
		if err != nil {
			return tableColumn{}, err
		}
		return newTableColumn(all[place], opened, top[place], o.MaxRecord), nil
	}
	names, err := f.inputNames(o, all, isPath, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		c, _ := find(name) // cannot fail: inputNames has found it
		if c.Type == TypeJSON {
			return nil, nil, c.nested(file, all)
		}
		t.inputs = append(t.inputs, c)
	}
	if !o.NamedOnly {
		for i, c := range top {
			t.columns = append(t.columns, newTableColumn(all[i], opened, c, o.MaxRecord))
		}
	}
	for _, name := range o.ExtraColumns {
		c, err := find(name)
		switch {
		case err != nil && len(err.Matches) == 0: // another file may have the column
		case err != nil:
			err.Option = "ExtraColumns"
			return nil, nil, err
		case !slices.ContainsFunc(t.columns, func(known tableColumn) bool { return known.Name == c.Name }):
			t.columns = append(t.columns, c)
		}
	}
	return t, all, nil
}

// nested returns the error of an input column that is not one value. all are the columns of the file.
func (c *tableColumn) nested(file string, all []string) error {
	parts := c.parts(c.Name)
	switch {
	case len(parts) > 0:
		return &FormatError{file, 1, fmt.Sprintf("column %q has parts, want text (parts: %s)", c.Name, listColumns(parts)), "Columns"}
	case len(all) > 1:
		return &FormatError{file, 1, fmt.Sprintf("column %q has lists or maps, want text (columns: %s)", c.Name, listColumns(all)), "Columns"}
	}
	return &UnsupportedError{file, fmt.Sprintf("a Parquet file with arrays or maps in its only column %q", c.Name), "write a row for each element"}
}

// descend returns the column with values at a dotted path; nil if there is none, or if the path leads through a list.
func descend(c *parquet.Column, path string) *parquet.Column {
	for _, below := range c.Columns() {
		if below.Name() == path && hasLeaf(below) {
			return below
		}
		if rest, found := strings.CutPrefix(path, below.Name()+"."); found && !below.Leaf() && below.MaxRepetitionLevel() == 0 {
			if found := descend(below, rest); found != nil {
				return found
			}
		}
	}
	return nil
}

// hasLeaf reports whether a column has values: some programs write structs without members.
func hasLeaf(c *parquet.Column) bool { return c.Leaf() || slices.ContainsFunc(c.Columns(), hasLeaf) }

func newTableColumn(name string, opened *pages.File, c *parquet.Column, most int) tableColumn {
	n := newNode(opened, c, most)
	column := Column{Name: name, Type: TypeJSON}
	if n.single() {
		column.Type, column.Precision, column.Scale = n.typ, n.precision, n.scale
	}
	return tableColumn{Column: column, node: n}
}

// parquetParser reads the rows of one Parquet file. It holds one page of each column in memory.
type parquetParser struct {
	*table
	options *Options
	most    int // Options.MaxRecord
	stream  *stream
	leaves  []*leaf
	parts   []string // of the input of a row
	row     int64    // number of the last row, from 1
	bytes   int      // of its values
	fields  slab[string]
	nulls   slab[bool]
	kept    row // with Options.Reuse, all rows share its memory
}

// open opens the file again, and checks that its rows and columns have not changed.
func (t *table) open(r *Reader, f *file, s *stream) (parser, error) {
	opened, err := openParquet(f.info.Name, s.seekable, s.size)
	if err != nil {
		return nil, err
	}
	rows := t.rows
	t, all, err := newTable(f, opened, &r.options)
	if err != nil || t.rows != rows || !slices.Equal(all, f.all) {
		return nil, changedSince(f, 1, "the file")
	}
	p := &parquetParser{table: t, options: &r.options, most: r.options.MaxRecord, stream: s}
	if r.options.InputsOnly {
		t.columns = nil
	} else {
		p.kept = row{fields: make([]string, len(t.columns)), nulls: make([]bool, len(t.columns))}
	}
	leaves := map[*parquet.Column]*leaf{}
	for _, columns := range [][]tableColumn{t.inputs, t.columns} {
		for i := range columns {
			for _, below := range columns[i].columns() {
				l := leaves[below.column]
				if l == nil {
					l = &leaf{node: below, source: opened.Values(below.column), most: p.most}
					leaves[below.column] = l
					p.leaves = append(p.leaves, l)
				}
				columns[i].leaves = append(columns[i].leaves, l)
			}
		}
	}
	return p, nil
}

func (p *parquetParser) at() int64 { return p.row + 1 }

// next returns the next row. In a damaged file, the columns of a list may have different numbers of elements, which is a panic.
func (p *parquetParser) next() (_ row, err error) {
	defer pages.Guard(&err)
	if p.row == p.rows {
		return row{}, io.EOF
	}
	p.bytes = 0
	for _, l := range p.leaves {
		if err := l.read(p.most - p.bytes); err != nil {
			return row{}, err
		}
		p.bytes += l.size
	}
	p.row++
	if err := p.stream.follow(p.row, float64(p.row)/float64(p.rows)); err != nil {
		return row{}, err
	}
	return p.build(), nil
}

// build makes a row from the current values.
func (p *parquetParser) build() row {
	r := row{line: p.row, fields: p.kept.fields, nulls: p.kept.nulls}
	if clear(r.nulls); !p.options.Reuse && r.fields != nil {
		r.fields, r.nulls = p.fields.take(len(p.columns)), p.nulls.take(len(p.columns))
	}
	binary, encoded, inputs, columns := false, false, 0, 0
	p.parts = p.parts[:0]
	for i := range p.inputs {
		f := p.inputs[i].field()
		p.parts, inputs, binary, encoded = append(p.parts, f.text), inputs+len(f.text), binary || f.binary, encoded || f.encoded
	}
	for i := 0; i < len(p.columns) && max(p.bytes, inputs, columns) <= p.most; i++ {
		f := p.columns[i].field()
		r.fields[i], r.nulls[i] = f.text, f.null
		columns, binary = columns+len(f.text), binary || f.binary
	}
	switch {
	case max(p.bytes, inputs, columns) > p.most:
		clear(r.fields)
		setAll(r.nulls)
		r.fault = faultLongRow
	case binary:
		r.fault = faultBinary
	case encoded:
		r.fault = faultBytes
	default:
		r.input = p.options.joined(p.parts)
	}
	if inputs+columns > longLine {
		p.fields, p.nulls = nil, nil
	}
	return r
}

const (
	faultBinary = "invalid UTF-8 in a text column"
	faultBytes  = "the input is bytes that are no UTF-8 text"
)

// field returns the current value as a field.
func (c *tableColumn) field() field {
	if c.single() {
		return c.leaves[0].field()
	}
	if !c.repeated && c.leaves[0].values[0].DefinitionLevel() < c.def {
		return field{null: true}
	}
	parts := make([][]parquet.Value, len(c.leaves))
	for i, l := range c.leaves {
		parts[i] = l.values
	}
	return fieldOf(string(c.appendJSON(nil, parts)), false)
}
