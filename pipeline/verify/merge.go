package verify

import (
	"slices"

	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/writer"
)

// merge writes the rows of several outputs to one sink, in the order in which they are read.
type merge struct {
	open func() (writer.Sink, error) // nil for no sink
	sink writer.Sink
	rows []writer.Row
}

// mergeRows is how many rows are gathered for one call of the sink.
const mergeRows = 1024

// start opens the sink before the first row.
func (m *merge) start() (err error) {
	if m == nil || m.open == nil || m.sink != nil {
		return nil
	}
	m.sink, err = m.open()
	return err
}

// add adds the rows of a group.
func (m *merge) add(g *group) error {
	if m == nil || m.sink == nil {
		return nil
	}
	m.rows = g.appendTyped(m.rows)
	if len(m.rows) < mergeRows {
		return nil
	}
	return m.flush()
}

func (m *merge) flush() error {
	if m == nil || m.sink == nil || len(m.rows) == 0 {
		return nil
	}
	err := m.sink.Write(m.rows)
	clear(m.rows)
	m.rows = m.rows[:0]
	return err
}

// appendTyped appends the rows of the group as the writer takes them. The caller has checked the rows.
func (g *group) appendTyped(rows []writer.Row) []writer.Row {
	if g.layout.schema.Shape != writer.ShapeNested {
		for _, r := range g.rows {
			rows = append(rows, g.layout.typed(r, true))
		}
		return rows
	}
	row := g.layout.typed(g.rows[0], false)
	if g.first(writer.ColumnRank) != "" {
		row.Categories = make([]writer.Row, len(g.rows))
		for i, r := range g.rows {
			row.Categories[i] = g.layout.typed(r, true)
		}
	}
	return append(rows, row)
}

// typed is a row as the writer takes it, with or without its entry. Malformed cells are null.
func (l *layout) typed(r outputs.Row, entry bool) (t writer.Row) {
	for k := range l.columns {
		if c := &l.columns[k]; entry || c.OfRecord() {
			c.Set(&t, r[k])
		}
	}
	t.Fields, t.Nulls = carriedFields(r[l.carried:])
	return t
}

// carriedFields returns cells as the writer takes them. Without empty text all empty fields are null.
func carriedFields(cells []string) (fields []string, nulls []bool) {
	if !slices.Contains(cells, outputs.EmptyText) {
		return cells, nil
	}
	fields, nulls = slices.Clone(cells), make([]bool, len(cells))
	for i, cell := range cells {
		nulls[i] = cell == ""
		if cell == outputs.EmptyText {
			fields[i] = ""
		}
	}
	return fields, nulls
}
