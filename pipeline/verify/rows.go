package verify

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/writer"
)

// comparison is a sink that compares the rows of the run with the rows of the files whose hashes differ, and finds the first
// record of each file that differs.
type comparison struct {
	*verification
	ctx     context.Context
	names   []string        // of the columns
	columns []writer.Column // of the row of a category
	sources bool            // the output has the column source without answered_at, and readback takes source for a carried column

	first   writer.Row // the first row of the present group
	group   []row      // the rows of one record in one classification
	present *part      // the part that is compared; nil before the first part
}

// row has the values of a row: see writer.Values.
type row []string

// compare opens the sink that compares.
func (v *verification) compare(ctx context.Context, schema writer.Schema) (writer.Sink, error) {
	c := &comparison{verification: v, ctx: ctx, sources: schema.Sources && !schema.SourceColumns}
	for _, column := range schema.Columns() {
		c.names = append(c.names, column.Name)
	}
	schema.Shape = writer.ShapeLong
	c.columns = schema.Columns()
	return c, nil
}

// Write gathers the rows of each record in a classification.
func (c *comparison) Write(rows []writer.Row) error {
	for i := range rows {
		r := &rows[i]
		if len(c.group) > 0 && (r.Record != c.first.Record || r.Classification != c.first.Classification) {
			c.end()
		}
		if len(c.group) == 0 {
			c.first = *r
		}
		c.group = c.append(c.group, r)
	}
	return context.Cause(c.ctx)
}

func (c *comparison) Close() (writer.Published, error) {
	if len(c.group) > 0 {
		c.end()
	}
	for _, p := range c.parts {
		c.open(p)
	}
	c.open(nil)
	return writer.Published{}, context.Cause(c.ctx)
}

func (c *comparison) Abort() error {
	if c.present != nil {
		c.present.stop()
	}
	return nil
}

// append appends the values of a row, or of each row in its Categories.
func (c *comparison) append(list []row, r *writer.Row) []row {
	format := writer.Format(c.account.Settings.OutputFormat)
	for i := range r.Categories {
		list = append(list, writer.Values(c.columns, &r.Categories[i], format))
	}
	if len(r.Categories) == 0 {
		list = append(list, writer.Values(c.columns, r, format))
	}
	return list
}

// appendRead is append for a row that was read back.
func (c *comparison) appendRead(list []row, r writer.Row) []row {
	if c.sources {
		r.Categories = slices.Clone(r.Categories)
		for i := range r.Categories {
			takeSource(&r.Categories[i])
		}
		takeSource(&r)
	}
	return c.append(list, &r)
}

// takeSource makes the first carried column the source.
func takeSource(r *writer.Row) {
	if len(r.Fields) > 0 {
		r.Source, r.Fields = r.Fields[0], r.Fields[1:]
	}
	if len(r.Nulls) > 0 {
		r.Nulls = r.Nulls[1:]
	}
}

// end counts the group, and compares its rows with the file.
func (c *comparison) end() {
	rows, r := c.group, &c.first
	c.group = nil
	if r.Status == writer.StatusPending {
		c.NotCompared++
	} else if writer.HasInput(r.Status) {
		c.Answers++
	}
	f := c.partOf(r.Record)
	if !c.open(f) || f.found {
		return
	}
	f.last = r.Record
	var found []row
	if g := f.next; g != nil && g.Rows[0].Record == r.Record && g.Rows[0].Classification == r.Classification {
		found = f.take(c)
		c.takeTime(f, rows, found)
	}
	if slices.EqualFunc(rows, found, slices.Equal[row]) {
		return
	}
	if len(found) == 0 || !c.mayDiffer(r, rows[0], f.taken, found) {
		what, expected, got := c.difference(rows, found, f.head(c))
		if got == nil && f.err != nil {
			f.find(c, r.Record, "content", expected.String(), f.err.Error())
		} else {
			f.find(c, r.Record, what, expected.String(), got.String())
		}
		return
	}
	if f.excused = true; r.Status != writer.StatusPending {
		c.Answers--
		c.NotCompared++
	}
}

// takeTime sets answered_at in the rows of a record to the time in the file, if the time in the file is within the run: the
// embedded service stores only its answers from pages, and computes other answers again at another time.
func (c *comparison) takeTime(f *part, rows, found []row) {
	a, at := c.account, f.takenAt
	began := a.Started
	if len(a.Earlier) > 0 {
		began = a.Earlier[0].Started
	}
	i := slices.IndexFunc(c.columns, func(column writer.Column) bool { return column.ID == writer.ColumnAnsweredAt })
	if i < 0 || !c.embedded || !c.first.AnsweredAt.After(a.Ended) || at.Before(began) || at.After(a.Ended) {
		return
	}
	f.excused = true
	for _, r := range rows {
		r[i] = found[0][i]
	}
}

// mayDiffer reports whether the rows in the file, which have the status, may differ from the rows that the run writes again.
// Either the present answer is not the run's: the run's answer is not stored, another run has asked again, or the page of the
// answer is not stored. Or the run got no answer, and a later run got one for an equal input. In both cases the input and the
// carried columns must be equal.
func (c *comparison) mayDiffer(r *writer.Row, want row, status writer.Status, rows []row) bool {
	a, at := c.account, r.AnsweredAt
	since := at.After(a.Started)
	// Only answers from pages have bodies and are stored. A run without answers from pages can be computed again as a whole.
	given := c.embedded && a.Counts.Bytes+a.Counts.FromStore == 0 && len(a.Earlier) == 0
	another := r.Status == writer.StatusPending || since && !given && (c.embedded || at.After(a.Ended))
	later := since && (status == writer.StatusFailed || status == writer.StatusPending)
	if !another && !later {
		return false
	}
	return !slices.ContainsFunc(rows, func(got row) bool {
		for i, column := range c.columns {
			if (column.ID == writer.ColumnInput || column.ID == writer.ColumnCarried) && got[i] != want[i] {
				return true
			}
		}
		return false
	})
}

// difference returns the first difference between the rows that the run writes for a record and the rows in the file. next is
// the row in the file after these.
func (c *comparison) difference(want, got []row, next row) (what string, expected, found row) {
	i := 0
	for i < len(want) && i < len(got) && slices.Equal(want[i], got[i]) {
		i++
	}
	if i < len(want) {
		expected = want[i]
	}
	if i >= len(got) || expected == nil {
		return "row", expected, append(got[min(i, len(got)):], next)[0]
	}
	column := 0
	for got[i][column] == expected[column] {
		column++
	}
	return c.columns[column].Name, expected, got[i]
}

// partOf returns the part that has the rows of a record by the account; nil if the part is missing.
func (c *comparison) partOf(number int64) *part {
	outputs := c.account.Outputs
	i := slices.IndexFunc(outputs, func(o account.Output) bool { return number <= o.LastRecord })
	if i < 0 {
		i = len(outputs) - 1
	}
	if i < 0 {
		return nil
	}
	return c.partAt(outputs[i].Path)
}

// reading is the state of a part that differs, while it is read record by record.
type reading struct {
	pull func() (*readback.Group, error, bool)
	stop func()
	next *readback.Group // nil at the end, and where the file cannot be read
	err  error           // of opening and reading

	taken   writer.Status // the status of the last group that was taken
	takenAt time.Time     // its answered_at
	last    int64         // the last record that was compared
	found   bool          // there is a finding
	excused bool          // a difference is allowed: see mayDiffer and takeTime
}

// open makes p the present part, and ends the comparison of the part before p. Rows come in the order of the parts. It reports
// whether p is compared.
func (c *comparison) open(p *part) bool {
	if p != nil && c.present == p {
		return true
	}
	if c.present != nil {
		c.present.close(c)
	}
	if c.present = nil; p == nil || p.want == nil || p.isSame() || p.stop != nil {
		return false
	}
	c.present, p.last = p, p.want.FirstRecord
	if names := p.names(c); p.err == nil && names != nil && !slices.Equal(names, c.names) {
		p.find(c, p.last, "columns", strings.Join(c.names, ","), strings.Join(names, ","))
	}
	p.pull, p.stop = iter.Pull2(readback.Groups(c.ctx, []readback.Part{p.Part}))
	if p.err == nil {
		p.advance()
	}
	return true
}

// names returns the names of the columns; nil for JSONL without rows, or if the file cannot be opened.
func (p *part) names(c *comparison) (names []string) {
	in, err := readback.Open(c.ctx, p.Part)
	if err != nil {
		p.err = err
		return nil
	}
	defer in.Close() // only read from
	for _, name := range in.Columns() {
		if p.Escaped {
			name = writer.UnescapeFormula(name)
		}
		names = append(names, name)
	}
	if strings.HasPrefix(string(p.Format), string(writer.JSONL)) && len(names) > len(c.names) {
		names = names[:len(c.names)] // further members are not the run's; a record that lacks a column differs
	}
	return names
}

func (p *part) advance() { p.next, p.err, _ = p.pull() }

// head is the next row; nil if there is none.
func (p *part) head(c *comparison) row {
	if p.next == nil {
		return nil
	}
	return c.appendRead(nil, p.next.Rows[0])[0]
}

// take takes the rows of the next group.
func (p *part) take(c *comparison) (rows []row) {
	p.taken, p.takenAt = p.next.Rows[0].Status, p.next.Rows[0].AnsweredAt
	for i := range p.next.Rows {
		rows = c.appendRead(rows, p.next.Rows[i])
	}
	p.advance()
	return rows
}

func (p *part) find(c *comparison, number int64, what, expected, got string) {
	p.found = true
	c.report.add(Finding{File: p.Path, Record: number, What: what, Expected: expected, Got: got})
}

// close ends the comparison after the last row of the run.
func (p *part) close(c *comparison) {
	p.stop()
	switch version := c.account.Bulkcat; {
	case p.found:
	case p.next != nil:
		p.find(c, p.next.Rows[0].Record, "row", "nothing", p.head(c).String())
	case p.err != nil:
		p.find(c, p.last, "content", "a whole file", p.err.Error())
	case p.excused:
	case version != c.Run.Program && p.want.SHA256 == p.sha256: // another version may write other bytes
		c.uncheck("the bytes of %s: bulkcat %s has written them, and this is %s; the rows are the same", p.Path, version, c.Run.Program)
	default:
		p.find(c, p.want.FirstRecord, "bytes", "those that the run writes", fmt.Sprintf("others, but the rows that are read back are the same, to record %d", p.last))
	}
}

// String is the row as a line of CSV, with empty text in quotes if it is not null; "nothing" for none.
func (r row) String() string {
	if r == nil {
		return "nothing"
	}
	cells := slices.Clone(r)
	for i, cell := range cells {
		switch {
		case cell == writer.Null:
			cells[i] = ""
		case cell == "" || strings.ContainsAny(cell, ",\"\r\n\t"):
			cells[i] = strconv.Quote(cell)
		}
	}
	text := strings.Join(cells, ",")
	if len(text) > longest {
		text = strings.ToValidUTF8(text[:longest], "") + "..."
	}
	return text
}
