package finish

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/writer"
)

// mergeRows is how many rows are gathered for one call of the sink.
const mergeRows = 1024

// shard is a shard whose rows are read in step with those of the others.
type shard struct {
	next func() (writer.Row, error, bool)
	row  writer.Row // the next one
}

// merge gives the rows of all shards to the sink, in input order. Memory grows with the number of shards, and not with the
// output.
func (f *finishing) merge(ctx context.Context, sink writer.Sink, schema writer.Schema) error {
	waiting := make(map[int64]*shard) // by the record of the next row
	advance := func(s *shard) error {
		row, err, ok := s.next()
		if s.row = row; ok && err == nil && waiting[row.Record] == nil {
			waiting[row.Record] = s
		} else if ok && err == nil {
			err = fmt.Errorf("record %d is in two shards", row.Record)
		}
		return err
	}
	for _, folder := range f.shards.Folders(f.Folder) {
		parts, err := outputs.List(ctx, folder, "")
		if err != nil {
			return err
		}
		s := new(shard)
		var stop func()
		s.next, stop = iter.Pull2(f.rows(ctx, parts, schema))
		defer stop()
		if err := advance(s); err != nil {
			return err
		}
	}
	var rows []writer.Row
	for record := int64(1); len(waiting) > 0; {
		s := waiting[record]
		if s == nil {
			record++
			if s = waiting[record]; s == nil {
				return fmt.Errorf("record %d is in no shard", record)
			}
		}
		delete(waiting, record)
		rows = append(rows, s.row)
		if len(rows) == mergeRows {
			if err := sink.Write(rows); err != nil {
				return err
			}
			clear(rows)
			rows = rows[:0]
		}
		if err := advance(s); err != nil {
			return err
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return sink.Write(rows)
}

var errStopped = errors.New("the merge is stopped")

// rows reads the rows of parts as the writer takes them.
func (f *finishing) rows(ctx context.Context, parts []outputs.Part, schema writer.Schema) iter.Seq2[writer.Row, error] {
	t := newTyped(schema)
	return func(yield func(writer.Row, error) bool) {
		for _, p := range parts {
			p.Escaped = f.shards.Settings.EscapeFormulas
			in, err := outputs.Open(ctx, p, t.members)
			if err == nil {
				err = in.Rows(func(rows []outputs.Row) error {
					if err := context.Cause(ctx); err != nil {
						return err
					}
					if !yield(t.row(rows), nil) {
						return errStopped
					}
					return nil
				})
				in.Close()
			}
			if err == errStopped {
				return
			}
			if err != nil {
				yield(writer.Row{}, fmt.Errorf("read %s: %w", p.Path, err))
				return
			}
		}
	}
}

// typed makes rows of their text.
type typed struct {
	nested  bool
	columns []writer.Column // those of the structs in place of a list, without the carried ones
	members []string        // of the structs in lists
	rank    int             // the place of the column
}

func newTyped(schema writer.Schema) *typed {
	t := &typed{nested: schema.Shape == writer.ShapeNested}
	for _, c := range schema.Leaves() {
		if c.ID == writer.ColumnCarried {
			break
		}
		if member, ok := strings.CutPrefix(c.Name, writer.ListPrefix); ok {
			t.members = append(t.members, member)
		}
		if c.ID == writer.ColumnRank {
			t.rank = len(t.columns)
		}
		t.columns = append(t.columns, c)
	}
	return t
}

// row is a row of a file, which is several for a list.
func (t *typed) row(rows []outputs.Row) writer.Row {
	row := t.entry(rows[0], !t.nested)
	if t.nested && rows[0][t.rank] != "" {
		for _, r := range rows {
			row.Categories = append(row.Categories, t.entry(r, true))
		}
	}
	return row
}

// entry is a row with or without its entry.
func (t *typed) entry(r outputs.Row, entry bool) (row writer.Row) {
	for k := range t.columns {
		if c := &t.columns[k]; entry || c.OfRecord() {
			c.Set(&row, r[k])
		}
	}
	row.Fields = slices.Clone(r[len(t.columns):])
	row.Nulls = make([]bool, len(row.Fields))
	for i, cell := range row.Fields {
		if row.Nulls[i] = cell == ""; cell == outputs.EmptyText {
			row.Fields[i] = ""
		}
	}
	return row
}
