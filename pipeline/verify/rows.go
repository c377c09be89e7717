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

// comparison is a sink that reads the files of the output and counts their rows. It compares the rows with those of the run, and finds
// the first record of each file that differs. Without rows of the run, it only counts.
type comparison struct {
	*verification
	ctx     context.Context
	schema  []writer.Column   // of the files; nil if the run is not written again
	columns []writer.Column   // of the row of a category
	read    []writer.ColumnID // of the files; nil for all columns
	rest    []*part           // the parts from the present part on
	record  int64             // the last record that was read
	reading
}

// row has the values of a row: see writer.Values.
type row []string

// reading is the state of the present part, which is read record by record.
type reading struct {
	*part
	pull    func() (*readback.Group, error, bool)
	stop    func()
	next    *readback.Group // nil at the end, and where the file cannot be read
	err     error           // of reading
	excused bool            // a difference is allowed: see mayDiffer and isAnsweredLater
}

// compare returns the sink that compares.
func (v *verification) compare(ctx context.Context, schema writer.Schema) writer.Sink {
	c := &comparison{verification: v, ctx: ctx, schema: schema.Columns(), rest: v.parts}
	schema.Shape = writer.ShapeLong
	c.columns = schema.Columns()
	return c.open()
}

// count counts the rows of the output without the rows of the run.
func (v *verification) count(ctx context.Context) error {
	c := &comparison{verification: v, ctx: ctx, rest: v.parts, read: []writer.ColumnID{writer.ColumnRecord, writer.ColumnStatus, writer.ColumnClassification}}
	_, err := c.open().Close()
	return err
}

// Write compares the rows of each record in a classification, which come in one call.
func (c *comparison) Write(rows []writer.Row) error {
	for len(rows) > 0 {
		first, n := &rows[0], 1
		for n < len(rows) && rows[n].Record == first.Record && rows[n].Classification == first.Classification {
			n++
		}
		c.moveTo(first.Record)
		if !c.found {
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
func (c *comparison) open() *comparison {
	c.reading = reading{part: c.rest[0]}
	known := c.Part
	known.Columns = c.schema
	c.pull, c.stop = iter.Pull2(readback.Groups(c.ctx, []readback.Part{known}, c.read...))
	if c.sha256 != "" {
		c.advance()
	}
	return c
}

// advance reads and counts the next record of the part in a classification.
func (c *comparison) advance() {
	if c.next, c.err, _ = c.pull(); c.next == nil {
		return
	}
	first := &c.next.Rows[0]
	if first.Record != c.record {
		c.Records++
	}
	if c.schema == nil && first.Record < c.record {
		c.find(c.part, first.Record, "record", "each record once, in order", "another order")
	}
	c.record = first.Record
	c.Rows += c.next.InFile
	c.Statuses.Add(first.Status)
}

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
	first := rows[0]    // a copy
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
		c.findDifference(first.Record, want, got)
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
	// Only answers from pages have bodies and are stored. A run without answers from pages can be computed again as a whole.
	isComputed := c.embedded && a.Counts.Bytes+a.Counts.FromStore == 0 && len(a.Earlier) == 0
	isUnanswered := read.Status == writer.StatusFailed || read.Status == writer.StatusPending
	return again.Status == writer.StatusPending || at.After(a.Ended) && !isComputed || at.After(a.Started) && isUnanswered
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
func (c *comparison) findDifference(record int64, want, got []row) {
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
		c.find(c.part, record, "content", expected.String(), c.err.Error())
	}
	c.find(c.part, record, what, expected.String(), found.String())
}

// end ends the comparison after the last row of the run, and counts the further rows of the file.
func (c *comparison) end() {
	if c.next != nil && c.schema != nil {
		c.find(c.part, c.record, "row", "nothing", c.head().String())
	}
	for c.next != nil {
		c.advance()
	}
	c.stop()
	switch {
	case c.err != nil:
		c.find(c.part, max(c.record, c.want.FirstRecord, 1), "content", "a whole file", c.err.Error())
	case c.schema == nil || c.found || c.excused || c.same:
	case c.account.Bulkcat != c.Run.Program && c.want.SHA256 == c.sha256: // another version may write other bytes
		c.uncheck("the bytes of %s: bulkcat %s has written them, and this is %s; the rows are the same", c.Path, c.account.Bulkcat, c.Run.Program)
	default:
		c.find(c.part, c.want.FirstRecord, "bytes", "those that the run writes", fmt.Sprintf("others, but the rows that are read back are the same, to record %d", c.record))
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
