package readback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// mostBytes bounds a row: a record of 1 MiB, its carried columns, escapes of JSON and the categories need less.
const mostBytes = 64 << 20

// Open opens a file of an output. The fields of a record are the values of a row, in the order of Columns. A list of
// categories is one field. Escaped text stays escaped. Only the given columns of a Parquet file are read; without columns, all.
func Open(ctx context.Context, p Part, columns ...string) (*reader.Reader, error) {
	content, _, _ := strings.Cut(string(p.Format), ".")
	o := reader.Options{
		Paths: []string{p.Path}, Storage: storage.From(ctx), Format: content, Encoding: "utf-8", MaxRecord: mostBytes,
		Columns: []string{recordName}, ExtraColumns: columns, NamedOnly: len(columns) > 0, Reuse: len(columns) > 0, Dialect: reader.Dialect{Strict: true},
	}
	switch writer.Format(content) {
	case writer.CSV:
		o.Dialect.Delimiter = ","
	case writer.TSV:
		o.Format, o.Dialect.Delimiter = "csv", "\t"
	}
	if !storage.IsURL(p.Path) { // reader.Open would wait for a pipe
		f, err := regular.Open(p.Path)
		if err != nil {
			return nil, err
		}
		f.Close() // only opened
	}
	in, err := reader.Open(ctx, o)
	if column, is := errors.AsType[*reader.ColumnError](err); is {
		if _, other := writer.OwnColumns(column.Columns); other != nil {
			err = other
		}
		return nil, err
	}
	if err == nil && len(in.Columns()) == 0 && o.Format != string(writer.JSONL) {
		in.Close() // only read from
		return nil, errNoColumns
	}
	return in, err
}

var errNoColumns = errors.New("there are no columns")

// recordName is the name of the column with the numbers of records.
const recordName = "record"

// Rows yields the rows of the parts in their order, with the values of the given columns; without columns, with the values of all
// columns, including carried columns. A row is valid until the next row. The error names the damaged file.
func Rows(ctx context.Context, parts []Part, columns ...writer.ColumnID) iter.Seq2[*writer.Row, error] {
	return func(yield func(*writer.Row, error) bool) {
		for _, p := range parts {
			more, err := eachRow(ctx, p, columns, yield)
			if err != nil {
				yield(nil, p.failed(err))
			}
			if err != nil || !more {
				return
			}
		}
	}
}

// ctxStride is the number of rows between two checks of the context.
const ctxStride = 1024

// eachRow yields the rows of a file. more is false if yield has returned false.
func eachRow(ctx context.Context, p Part, columns []writer.ColumnID, yield func(*writer.Row, error) bool) (more bool, err error) {
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	in, l, err := openRows(ctx, p, columns)
	if err != nil {
		return false, err
	}
	defer in.Close() // only read from
	var row writer.Row
	for {
		record, err := in.Read()
		if err == io.EOF {
			return true, nil
		}
		if err == nil {
			err = record.Err
		}
		if err == nil && record.Number%ctxStride == 0 {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = l.set(&row, &record)
		}
		if err != nil || !yield(&row, nil) {
			return false, err
		}
	}
}

// failed returns the error of reading the part. Most errors of package reader begin with the path; failed does not repeat the
// path, and leaves out advice about inputs.
func (p Part) failed(err error) error {
	if unsupported, is := errors.AsType[*reader.UnsupportedError](err); is {
		return fmt.Errorf("read %s: it is %s", p.Path, unsupported.Kind)
	}
	if _, is := errors.AsType[*reader.RowError](err); is {
		return fmt.Errorf("read %v", err) // no option helps
	}
	if strings.HasPrefix(err.Error(), p.Path+":") {
		return fmt.Errorf("read %w", err)
	}
	return fmt.Errorf("read %s: %w", p.Path, err)
}

// openRows opens a file and returns its layout.
func openRows(ctx context.Context, p Part, columns []writer.ColumnID) (*reader.Reader, *layout, error) {
	in, err := Open(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	l, err := newLayout(p, in.Columns(), columns)
	if err == nil && len(columns) > 0 && p.Format == writer.Parquet {
		var names []string
		for _, c := range l.columns {
			names = append(names, c.Name)
		}
		in.Close() // only read from
		if in, err = Open(ctx, p, names...); err == nil {
			l.find(in.Columns())
		}
	}
	if err != nil && in != nil {
		in.Close()
	}
	return in, l, err
}

// layout says which fields of a record have the values of a row.
type layout struct {
	columns []writer.Column // to read, without the carried columns
	places  []int           // the indexes of columns in the fields
	carried int             // the index of the first carried column; -1 if carried columns are not read
	escaped bool
	members map[string]*writer.Column // the columns of a category in a list, by name; nil for a column that is not read
}

// newLayout returns the layout of a file whose columns are names. The layout of JSONL without rows is empty.
func newLayout(p Part, names []string, columns []writer.ColumnID) (*layout, error) {
	if len(names) == 0 {
		return &layout{}, nil
	}
	l := &layout{carried: -1, escaped: p.Escaped, members: make(map[string]*writer.Column)}
	own, err := p.ownColumns(names)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		l.carried = len(own)
	}
	wanted := func(c writer.Column) bool { return len(columns) == 0 || slices.Contains(columns, c.ID) }
	for _, c := range own {
		if c.Type == writer.TypeList {
			for _, e := range c.Elements {
				l.members[e.Name] = nil
				if wanted(e) {
					l.members[e.Name] = &e
				}
			}
		}
		if c.Type == writer.TypeList || wanted(c) {
			l.columns = append(l.columns, c)
		}
	}
	l.find(names)
	return l, nil
}

// ownColumns returns the columns that are not carried. A file must have all known columns; JSONL may have more.
func (p Part) ownColumns(names []string) (own []writer.Column, err error) {
	if p.Columns == nil {
		return writer.OwnColumns(names)
	}
	var known, found []string
	for _, c := range p.Columns {
		if known = append(known, c.Name); c.ID != writer.ColumnCarried {
			own = append(own, c)
		}
	}
	for _, name := range names {
		if p.Escaped {
			name = writer.UnescapeFormula(name)
		}
		found = append(found, name)
	}
	if n := len(known); strings.HasPrefix(string(p.Format), string(writer.JSONL)) && len(found) > n {
		found = found[:n]
	}
	if !slices.Equal(found, known) {
		return nil, fmt.Errorf("the columns are %s, not %s", strings.Join(found, ","), strings.Join(known, ","))
	}
	return own, nil
}

func (l *layout) find(names []string) {
	l.places = l.places[:0]
	for _, c := range l.columns {
		l.places = append(l.places, slices.Index(names, c.Name))
	}
}

// set sets a row to the values of a record.
func (l *layout) set(row *writer.Row, r *reader.Record) (err error) {
	if len(l.columns) == 0 { // the first records of the file are too long to find the columns
		return errNoColumns
	}
	*row = writer.Row{Confidence: math.NaN()}
	list := ""
	for k := range l.columns {
		c, text := &l.columns[k], r.Fields[l.places[k]]
		if c.Type == writer.TypeList {
			list = text
			continue
		}
		if l.escaped {
			text = writer.UnescapeFormula(text)
		}
		if err := c.Set(row, text); err != nil {
			return err
		}
	}
	if l.columns[0].ID == writer.ColumnRecord && row.Record < 1 {
		return errNoRecord
	}
	if l.carried >= 0 {
		row.Fields = r.Fields[l.carried:]
		if r.Nulls != nil {
			row.Nulls = r.Nulls[l.carried:]
		}
		if l.escaped {
			row.Fields = slices.Clone(row.Fields)
			for i, text := range row.Fields {
				row.Fields[i] = writer.UnescapeFormula(text)
			}
		}
	}
	if list != "" {
		row.Categories, err = l.categories(*row, list)
	}
	return err
}

var errNoRecord = errors.New("a row has no number of a record")

// categories returns the rows of a list of categories. Each row also has the values of the row of.
func (l *layout) categories(of writer.Row, list string) (rows []writer.Row, err error) {
	objects, err := reader.Objects(list)
	for _, object := range objects {
		row := of
		for name, text := range object {
			c, known := l.members[name]
			if !known {
				return nil, fmt.Errorf("%q is no column of a category", name)
			}
			if c == nil {
				continue
			}
			if err := c.Set(&row, text); err != nil {
				return nil, err
			}
		}
		rows = append(rows, row)
	}
	return rows, err
}

// Group has the rows of a record in a classification: a row for each category, or one row without a category.
type Group struct {
	Rows   []writer.Row
	InFile int64 // the number of rows in the file: a list of categories is one row
	First  bool  // the group is the first group of a file
}

// mostRows is the maximum number of rows of a group; answers have fewer entries.
const mostRows = 1 << 16

var errLongGroup = errors.New("a record has more rows than an answer has categories")

var errUnsorted = errors.New("the rows are not in the order of their records, so that the rows of one record may be apart: sort them by the columns record, classification and rank")

// Groups yields the groups of the parts, as Rows yields the rows. columns must include ColumnRecord and ColumnClassification. A
// group is valid until the next group. With ColumnRank, a file with several rows for a record whose rows another program has
// sorted is an error.
func Groups(ctx context.Context, parts []Part, columns ...writer.ColumnID) iter.Seq2[*Group, error] {
	return func(yield func(*Group, error) bool) {
		for _, p := range parts {
			g := Group{First: true}
			sorted, several, last := true, false, int64(0) // last is the record of the row before
			for row, err := range Rows(ctx, []Part{p}, columns...) {
				if err == nil && len(g.Rows) > mostRows {
					err = p.failed(fmt.Errorf("record %d: %w", row.Record, errLongGroup))
				}
				if err == nil {
					sorted, several, last = sorted && row.Record >= last, several || row.Rank > 1, row.Record
					if several && !sorted {
						err = p.failed(errUnsorted)
					}
				}
				if err != nil {
					yield(nil, err)
					return
				}
				if len(g.Rows) > 0 && (row.Record != g.Rows[0].Record || row.Classification != g.Rows[0].Classification) {
					if !yield(&g, nil) {
						return
					}
					g.Rows, g.InFile, g.First = g.Rows[:0], 0, false
				}
				g.InFile++
				g.Rows = appendFlat(g.Rows, row)
			}
			if len(g.Rows) > 0 && !yield(&g, nil) {
				return
			}
		}
	}
}

// appendFlat appends a row for each category, or one row without a category.
func appendFlat(rows []writer.Row, row *writer.Row) []writer.Row {
	if len(row.Categories) == 0 {
		return append(rows, *row)
	}
	return append(rows, row.Categories...)
}

// Flattened returns rows as a Group has them.
func Flattened(rows []writer.Row) (list []writer.Row) {
	for i := range rows {
		list = appendFlat(list, &rows[i])
	}
	return list
}

var schema = writer.Schema{Form: writer.Form{Levels: writer.MaxLevels}, Codes: client.Codes()}

// Levels returns the levels of a category, as in the columns level_1, level_2, ...: at least one level.
func Levels(classification, value string) []string {
	if list := schema.AppendLevels(nil, classification, value); len(list) > 0 {
		return list
	}
	return []string{value}
}

// IsCoded reports whether the categories of a classification are codes, and not paths.
func IsCoded(classification string) bool { return schema.Codes[classification] != nil }
