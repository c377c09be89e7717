package verify

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/writer"
)

// comparison is a sink that compares the rows of the run with the rows of the files whose hashes differ, and finds the first
// record of each file that differs.
type comparison struct {
	*verification
	ctx     context.Context
	schema  []writer.Column // of the files
	columns []writer.Column // of the row of a category
	rest    []*part         // the parts from the present part on
	reading
}

// row has the values of a row: see writer.Values.
type row []string

// reading is the state of the present part, which is read record by record if it differs.
type reading struct {
	*part
	differs bool
	pull    func() (*readback.Group, error, bool)
	stop    func()
	next    *readback.Group // nil at the end, and where the file cannot be read
	err     error           // of reading
	last    int64           // the last record that was compared
	excused bool            // a difference is allowed: see mayDiffer and isAnsweredLater
}

// compare returns the sink that compares.
func (v *verification) compare(ctx context.Context, schema writer.Schema) writer.Sink {
	c := &comparison{verification: v, ctx: ctx, schema: schema.Columns(), rest: v.parts}
	schema.Shape = writer.ShapeLong
	c.columns = schema.Columns()
	c.open()
	return c
}

// Write compares the rows of each record in a classification, which come in one call.
func (c *comparison) Write(rows []writer.Row) error {
	for len(rows) > 0 {
		first, n := &rows[0], 1
		for n < len(rows) && rows[n].Record == first.Record && rows[n].Classification == first.Classification {
			n++
		}
		c.moveTo(first.Record)
		if c.differs && !c.found {
			c.compareGroup(readback.Flattened(rows[:n]))
		}
		rows = rows[n:]
	}
	return context.Cause(c.ctx)
}

func (c *comparison) Close() (writer.Published, error) {
	c.moveTo(math.MaxInt64)
	c.end()
	return writer.Published{}, context.Cause(c.ctx)
}

func (c *comparison) Abort() error {
	c.stop()
	return nil
}

// moveTo moves to the part that has the rows of a record by the account. The last part has all further records.
func (c *comparison) moveTo(record int64) {
	for len(c.rest) > 1 && record > c.rest[0].want.LastRecord {
		c.end()
		c.rest = c.rest[1:]
		c.open()
	}
}

// open begins with the first part of rest.
func (c *comparison) open() {
	p := c.rest[0]
	c.reading = reading{part: p, differs: p.sha256 != "" && !p.isSame(), last: p.want.FirstRecord}
	known := p.Part
	known.Columns = c.schema
	c.pull, c.stop = iter.Pull2(readback.Groups(c.ctx, []readback.Part{known}))
	if c.differs {
		c.advance()
	}
}

func (c *comparison) advance() { c.next, c.err, _ = c.pull() }

func (c *comparison) values(rows []writer.Row) (list []row) {
	for i := range rows {
		list = append(list, writer.Values(c.columns, &rows[i], writer.Format(c.account.Settings.OutputFormat)))
	}
	return list
}

// head is the next row in the file; nil if there is none.
func (c *comparison) head() row {
	if c.next == nil {
		return nil
	}
	return c.values(c.next.Rows[:1])[0]
}

// compareGroup compares the rows that the run writes for a record in a classification with the rows in the file.
func (c *comparison) compareGroup(rows []writer.Row) {
	first := rows[0] // a copy
	c.last = first.Record
	var read writer.Row // the first row in the file
	var got []row
	if g := c.next; g != nil && g.Rows[0].Record == first.Record && g.Rows[0].Classification == first.Classification {
		read = g.Rows[0]
		got = c.values(g.Rows)
		c.advance()
	}
	if c.isAnsweredLater(&first, read.AnsweredAt) {
		c.excused = true
		for i := range rows {
			rows[i].AnsweredAt = read.AnsweredAt
		}
	}
	want := c.values(rows)
	switch {
	case slices.EqualFunc(want, got, slices.Equal[row]):
	case len(got) > 0 && c.mayDiffer(&first, &read) && c.isSameInput(want[0], got):
		if c.excused = true; first.Status != writer.StatusPending {
			c.Answers--
			c.NotCompared++
		}
	default:
		c.findDifference(want, got)
	}
}

// isAnsweredLater reports whether the time of an answer may differ from the time in the file, which is within the run: the
// embedded service stores only its answers from pages, and computes other answers again at another time.
func (c *comparison) isAnsweredLater(first *writer.Row, at time.Time) bool {
	began, ended := c.account.Started, c.account.Ended
	if earlier := c.account.Earlier; len(earlier) > 0 {
		began = earlier[0].Started
	}
	return c.embedded && first.AnsweredAt.After(ended) && !at.Before(began) && !at.After(ended)
}

// mayDiffer reports whether the answer in the file may differ from the answer that the run writes again. Either the present
// answer is not the run's: the run's answer is not stored, another run has asked again, or the page of the answer is not
// stored. Or the run got no answer, and a later run got one for an equal input.
func (c *comparison) mayDiffer(again, read *writer.Row) bool {
	a, at := c.account, again.AnsweredAt
	since := at.After(a.Started)
	// Only answers from pages have bodies and are stored. A run without answers from pages can be computed again as a whole.
	given := c.embedded && a.Counts.Bytes+a.Counts.FromStore == 0 && len(a.Earlier) == 0
	another := since && !given && (c.embedded || at.After(a.Ended))
	later := since && (read.Status == writer.StatusFailed || read.Status == writer.StatusPending)
	return again.Status == writer.StatusPending || another || later
}

// isSameInput reports whether rows have the input and the carried columns of want.
func (c *comparison) isSameInput(want row, rows []row) bool {
	for i, column := range c.columns {
		if column.ID != writer.ColumnInput && column.ID != writer.ColumnCarried {
			continue
		}
		if slices.ContainsFunc(rows, func(got row) bool { return got[i] != want[i] }) {
			return false
		}
	}
	return true
}

// findDifference finds the first difference between the rows that the run writes for a record and the rows in the file.
func (c *comparison) findDifference(want, got []row) {
	i := 0
	for i < len(want) && i < len(got) && slices.Equal(want[i], got[i]) {
		i++
	}
	expected, found, what := append(want[i:], nil)[0], append(got[i:], c.head())[0], "row"
	if i < len(want) && i < len(got) {
		k := 0
		for expected[k] == found[k] {
			k++
		}
		what = c.columns[k].Name
	}
	if found == nil && c.err != nil {
		c.find(c.part, c.last, "content", expected.String(), c.err.Error())
	}
	c.find(c.part, c.last, what, expected.String(), found.String())
}

// end ends the comparison after the last row of the run.
func (c *comparison) end() {
	c.stop()
	switch version := c.account.Bulkcat; {
	case !c.differs || c.found:
	case c.next != nil:
		c.find(c.part, c.next.Rows[0].Record, "row", "nothing", c.head().String())
	case c.err != nil:
		c.find(c.part, c.last, "content", "a whole file", c.err.Error())
	case c.excused:
	case version != c.Run.Program && c.want.SHA256 == c.sha256: // another version may write other bytes
		c.uncheck("the bytes of %s: bulkcat %s has written them, and this is %s; the rows are the same", c.Path, version, c.Run.Program)
	default:
		c.find(c.part, c.want.FirstRecord, "bytes", "those that the run writes", fmt.Sprintf("others, but the rows that are read back are the same, to record %d", c.last))
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
	return strings.Join(cells, ",")
}
