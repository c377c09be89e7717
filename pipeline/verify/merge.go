package verify

import (
	"slices"
	"strconv"
	"time"

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
			rows = append(rows, g.layout.typed(r))
		}
		return rows
	}
	row := g.layout.typed(g.rows[0])
	if row.Rank == 0 {
		return append(rows, row)
	}
	row.Categories = make([]writer.Row, len(g.rows))
	for i, r := range g.rows {
		row.Categories[i] = g.layout.typed(r)
	}
	row.Rank, row.Value, row.CategoryID, row.Title, row.Levels = 0, "", "", "", nil
	return append(rows, row)
}

// typed is a row as the writer takes it, with zero values for malformed cells.
func (l *layout) typed(r outputs.Row) writer.Row {
	record, _ := number(r[atRecord])
	rank, _ := strconv.ParseInt(r[atRank], 10, 64)
	t := writer.Row{
		Record: record, Input: r[atInput], Status: writer.Status(r[atStatus]), Classification: r[atClassification],
		Rank: rank, Value: r[atValue], CategoryID: r[atCategoryID], Title: l.title(r),
		Levels: r[l.atConfidence+1 : l.atError], Error: r[l.atError],
	}
	t.Fields, t.Nulls = carriedFields(r[l.carried:])
	t.Confidence, _ = confidence(r[l.atConfidence])
	if l.schema.SourceColumns {
		t.Source = r[l.atError+1]
		t.AnsweredAt, _ = time.Parse(time.RFC3339Nano, r[l.atError+2])
	}
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
