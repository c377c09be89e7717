package reader

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/bulkcat/bulkcat/reader/pages"
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

// table is a Parquet file, as Open has found it.
type table struct {
	rows    int64
	columns []tableColumn // those that are read, parallel to file.columns
	inputs  []tableColumn
}

// tableColumn is a column of the file, or the part of a column that a dotted path names.
type tableColumn struct {
	Column
	node *node
}

// isParquet reports whether content is that of a Parquet file, whole or cut short.
func isParquet(head []byte, _ Source, _ int64) bool {
	return strings.HasPrefix(string(head), parquetMagic) && controls(head) > 0
}

// openParquet reads the metadata of a Parquet file.
func openParquet(name string, body io.ReaderAt, size int64) (*pages.File, error) {
	f, err := pages.Open(body, size)
	if err == nil {
		return f, nil
	}
	unsupported, ok := errors.AsType[*pages.UnsupportedError](err)
	switch reason, damaged := strings.CutPrefix(err.Error(), pages.ErrDamaged.Error()+": "); {
	case errors.Is(err, pages.ErrEncrypted):
		return nil, &UnsupportedError{name, "an encrypted Parquet file", "decrypt it"}
	case ok:
		return nil, &FormatError{name, 1, unsupported.Error(), ""}
	case damaged:
		return nil, damagedParquet(name, errors.New(reason))
	}
	return nil, &ReadError{name, 1, err}
}

func damagedParquet(name string, reason error) error {
	return &UnsupportedError{name, fmt.Sprintf("a damaged Parquet file (%v)", reason), "fetch the file again"}
}

// inspectParquet finds the columns of a Parquet file and the columns to read.
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
	t = &table{rows: opened.NumRows()}
	top := slices.DeleteFunc(slices.Clone(opened.Root().Columns()), func(c *parquet.Column) bool { return !hasLeaf(c) })
	for _, c := range top {
		all = append(all, c.Name())
	}
	all = columnNames(all)
	find := func(name string) (tableColumn, error) {
		place, err := matchColumn(file, all, name)
		if err == nil {
			return newTableColumn(all[place], opened, top[place], o.MaxRecord), nil
		}
		if below := descend(opened.Root(), name); below != nil && hasLeaf(below) {
			return newTableColumn(name, opened, below, o.MaxRecord), nil
		}
		return tableColumn{}, err
	}
	names, err := f.inputNames(o, all, func(name string) (string, error) {
		c, err := find(name)
		return c.Name, err
	}, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range names {
		c, err := find(name)
		if err != nil {
			return nil, nil, err
		}
		if c.Type == TypeJSON {
			return nil, nil, &FormatError{file, 1, fmt.Sprintf("column %q is a list or has parts, want text; name a part, such as %s.NAME", c.Name, c.Name), "Columns"}
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
		column, isColumn := errors.AsType[*ColumnError](err)
		switch {
		case isColumn && len(column.Matches) == 0: // another file may have the column
		case err != nil:
			if isColumn {
				column.Option = "ExtraColumns"
			}
			return nil, nil, err
		case !slices.ContainsFunc(t.columns, func(known tableColumn) bool { return known.Name == c.Name }):
			t.columns = append(t.columns, c)
		}
	}
	return t, all, nil
}

// descend returns the column at a dotted path without lists on the way; nil if there is none.
func descend(c *parquet.Column, path string) *parquet.Column {
	for _, below := range c.Columns() {
		if below.Name() == path {
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
	if n.leaf() && !n.repeated {
		column.Type, column.Precision, column.Scale = n.typ, n.precision, n.scale
	}
	return tableColumn{column, n}
}

// parquetParser reads the rows of one Parquet file. It has one page of each column that is read in memory.
type parquetParser struct {
	file    *pages.File
	table   *table
	places  placement
	width   int // number of the run's columns
	most    int // Options.MaxRecord
	stream  *stream
	leaves  []*leaf
	columns []placedColumn
	inputs  []placedColumn
	parts   []string // of the input of a row
	joiner
	group  int   // index of the next row group
	left   int64 // rows left in the current row group
	row    int64 // number of the last row, from 1
	bytes  int   // of its values
	text   []byte
	ends   []int
	fields slab[string]
	nulls  slab[bool]
}

// placedColumn is a column with the leaves that it consists of.
type placedColumn struct {
	*node
	leaves []*leaf
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
	p := &parquetParser{file: opened, table: t, places: f.places, width: len(r.columns), most: r.options.MaxRecord, stream: s, joiner: r.options.joiner()}
	byIndex := map[int]*leaf{}
	place := func(n *node) placedColumn {
		placed := placedColumn{node: n}
		for _, below := range n.columns() {
			l := byIndex[below.index]
			if l == nil {
				l = &leaf{index: below.index, repeated: below.rep > 0}
				byIndex[below.index] = l
				p.leaves = append(p.leaves, l)
			}
			placed.leaves = append(placed.leaves, l)
		}
		return placed
	}
	for _, c := range t.inputs {
		p.inputs = append(p.inputs, place(c.node))
	}
	if !r.options.InputsOnly {
		for _, c := range t.columns {
			p.columns = append(p.columns, place(c.node))
		}
	}
	return p, nil
}

func (p *parquetParser) at() int64 { return p.row + 1 }

func (p *parquetParser) next() (r row, err error) {
	defer pages.Guard(&err)
	for p.left == 0 {
		if p.group == len(p.file.RowGroups()) {
			return row{}, io.EOF
		}
		p.openGroup()
	}
	p.bytes = 0
	for _, l := range p.leaves {
		if err := l.next(p.most - p.bytes); err != nil {
			return row{}, err
		}
		p.bytes += l.size
	}
	p.left--
	p.row++
	if err := p.stream.follow(p.row, float64(p.row)/float64(p.table.rows)); err != nil {
		return row{}, err
	}
	return p.build(), nil
}

func (p *parquetParser) openGroup() {
	group := p.file.RowGroups()[p.group]
	p.group++
	p.left = group.NumRows()
	chunks := group.ColumnChunks()
	for _, l := range p.leaves {
		l.open(chunks[l.index])
	}
}

// build returns the row of the current values. Its fields share the memory of one string.
func (p *parquetParser) build() row {
	r := row{line: p.row, fields: p.fields.take(p.width), nulls: p.nulls.take(p.width)}
	if p.places != nil {
		setAll(r.nulls)
	}
	if p.appendRow() {
		setAll(r.nulls)
		p.text, r.fault = nil, faultLongRow
		return r
	}
	text, start := string(p.text), 0
	p.parts = p.parts[:0]
	for _, end := range p.ends[:len(p.inputs)] {
		p.parts = append(p.parts, text[start:end])
		start = end
	}
	if !utf8.ValidString(text) {
		r.fault = faultBinary
	} else {
		r.input = p.joined(p.parts)
	}
	for i, end := range p.ends[len(p.inputs):] {
		place := p.places.of(i)
		r.fields[place] = strings.ToValidUTF8(text[start:end], "\ufffd")
		r.nulls[place] = p.columns[i].null()
		start = end
	}
	if len(text) > longLine {
		p.fields, p.nulls = nil, nil
	}
	return r
}

// appendRow sets the text and the ends of the inputs and the columns to those of the current values. It reports whether the
// row is longer than a record may be.
func (p *parquetParser) appendRow() (long bool) {
	if p.bytes > p.most {
		return true
	}
	p.text, p.ends = p.text[:0], p.ends[:0]
	for _, columns := range [][]placedColumn{p.inputs, p.columns} {
		start := len(p.text)
		for i := range columns {
			p.text = columns[i].appendText(p.text)
			p.ends = append(p.ends, len(p.text))
			if len(p.text)-start > p.most {
				return true
			}
		}
	}
	return false
}

const faultBinary = "invalid UTF-8 in a text column"

// null reports whether the current value is null.
func (c *placedColumn) null() bool {
	first := c.leaves[0].values[0]
	if c.repeated {
		return false
	}
	return first.DefinitionLevel() < c.def
}

// appendText appends the current value as a field.
func (c *placedColumn) appendText(text []byte) []byte {
	if c.null() {
		return text
	}
	if c.leaf() && !c.repeated {
		return c.append(text, c.leaves[0].values[0])
	}
	parts := make([][]parquet.Value, len(c.leaves))
	for i, l := range c.leaves {
		parts[i] = l.values
	}
	return c.appendJSON(text, parts)
}
