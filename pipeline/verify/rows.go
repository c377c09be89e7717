package verify

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// comparison compares files with those that the run writes, and finds the first record of each that differs.
type comparison struct {
	*verification
	ctx     context.Context
	excuses []excuse // of the records in their order, in each classification; those of a shard leave gaps
}

// excuse says why the row of a record may differ from that of the run.
type excuse byte

const (
	none    excuse = iota
	another        // the answer is not stored, or that of another run, or of a page that is not stored
	late           // if the run got no answer, an equal input did later
)

// note counts records that are written again, and notes their excuses.
func (c *comparison) note(rows []writer.Row) {
	for i := range rows {
		r := &rows[i]
		if i > 0 && r.Record == rows[i-1].Record && r.Classification == rows[i-1].Classification {
			continue
		}
		switch at := c.placeOf(r.Record, r.Classification); {
		case r.Status == writer.StatusPending:
			c.report.NotCompared++
		case r.Status.HasInput():
			c.report.Answers++
			fallthrough
		default:
			c.excuses = append(c.excuses, make([]excuse, max(0, at+1-len(c.excuses)))...)
			c.excuses[at] = c.excuse(r)
		}
	}
}

// placeOf is the place of a record in a classification among the excuses.
func (c *comparison) placeOf(record int64, classification string) int {
	n := len(c.report.Classifications)
	return int(record-1)*n + max(0, slices.Index(c.report.Classifications, classification))
}

func (c *comparison) excuse(r *writer.Row) excuse {
	a, at := c.account, r.AnsweredAt
	switch {
	case !at.After(a.Started):
		return none
	case c.embedded && a.Counts.Bytes+a.Counts.FromStore == 0 && len(a.Earlier) == 0: // only answers of pages have bodies
		return late
	case at.After(a.Ended), c.embedded:
		return another
	}
	return late
}

// compare compares a file with the one that the run writes.
func (c *comparison) compare(p *part, again string) error {
	want := openFile(c.ctx, readback.Part{Path: again, Format: p.Format})
	defer want.close()
	got := openFile(c.ctx, p.Part)
	defer got.close()
	find := func(record int64, what, expected, found string) error {
		c.report.add(Finding{File: p.Path, Record: record, What: what, Expected: expected, Got: found})
		return want.err
	}
	names := got.names
	if strings.HasPrefix(string(p.Format), string(writer.JSONL)) && len(names) > len(want.names) {
		names = names[:len(want.names)] // a record with a further one differs
	}
	if names != nil && want.names != nil && !slices.Equal(names, want.names) {
		return find(p.want.FirstRecord, "columns", strings.Join(want.names, ","), strings.Join(names, ","))
	}
	l, excused, last := c.layoutOf(want.names), false, p.want.FirstRecord
	for want.row != nil {
		rows := want.group(l, want.row)
		found := got.group(l, rows[0])
		if last = numberOf(rows[0].Fields[l.record]); slices.EqualFunc(rows, found, equal) {
			continue
		}
		if len(found) == 0 || !c.mayDiffer(l, rows[0], found) {
			what, expected, row := l.difference(rows, found, got.row)
			if row == nil && got.err != nil {
				return find(last, "content", showRow(expected), got.err.Error())
			}
			return find(last, what, showRow(expected), showRow(row))
		}
		if excused = true; rows[0].Fields[l.status] != string(writer.StatusPending) {
			c.report.Answers--
			c.report.NotCompared++
		}
	}
	switch row := got.row; {
	case row != nil && want.names != nil:
		return find(numberOf(row.Fields[l.record]), "row", "nothing", showRow(row))
	case row != nil || got.err != nil:
		return find(last, "content", "a whole file", fmt.Sprint(showRow(row), got.err))
	case excused:
		return want.err
	}
	if version := c.account.Bulkcat; version != c.Run.Program && p.want.SHA256 == p.sha256 { // which may write other bytes
		c.uncheck("the bytes of %s: bulkcat %s has written them, and this is %s; the rows are the same", p.Path, version, c.Run.Program)
		return want.err
	}
	return find(p.want.FirstRecord, "bytes", "those that the run writes", fmt.Sprintf("others, but the rows that are read back are the same, to record %d", last))
}

// equal reports whether two rows have the same values. A row with further columns differs where these are not null.
func equal(want, got *reader.Record) bool {
	n := len(want.Fields)
	return slices.Equal(want.Fields, got.Fields[:n]) && slices.Equal(want.Nulls, got.Nulls[:min(n, len(got.Nulls))]) && !slices.Contains(got.Nulls[min(n, len(got.Nulls)):], false)
}

// mayDiffer reports whether a record may have other rows than the run writes again: its answer is another one, and the input
// and the carried columns are the same.
func (c *comparison) mayDiffer(l layout, want *reader.Record, rows []*reader.Record) bool {
	excuse := another
	if want.Fields[l.status] != string(writer.StatusPending) {
		excuse = c.excuses[c.placeOf(numberOf(want.Fields[l.record]), want.Fields[l.classification])]
	}
	if !excuse.covers(writer.Status(rows[0].Fields[l.status])) {
		return false
	}
	return !slices.ContainsFunc(rows, func(r *reader.Record) bool {
		return r.Fields[l.input] != want.Fields[l.input] || !slices.Equal(r.Fields[l.carried:], want.Fields[l.carried:])
	})
}

// covers reports whether a record with this status may differ.
func (e excuse) covers(status writer.Status) bool {
	return e == another || e == late && (status == writer.StatusFailed || status == writer.StatusPending)
}

// layout has the places of some columns.
type layout struct {
	names                                 []string
	record, classification, status, input int
	carried                               int // the first carried column
}

func (v *verification) layoutOf(names []string) layout {
	l := layout{names: names, carried: len(v.account.Settings.Schema().Columns())}
	l.record, l.classification = slices.Index(names, "record"), slices.Index(names, "classification")
	l.status, l.input = slices.Index(names, "status"), slices.Index(names, "input")
	return l
}

// numberOf is the number of a cell; 0 for other text.
func numberOf(cell string) int64 {
	n, _ := strconv.ParseInt(cell, 10, 64)
	return n
}

// difference is the first difference between the rows of a record and those that are there; next is the row after them.
func (l *layout) difference(want, got []*reader.Record, next *reader.Record) (what string, expected, found *reader.Record) {
	i := 0
	for i < len(want) && i < len(got) && equal(want[i], got[i]) {
		i++
	}
	if i < len(want) {
		expected = want[i]
	}
	if i >= len(got) || expected == nil {
		return "row", expected, append(got[min(i, len(got)):], next)[0]
	}
	for column, name := range l.names {
		if got[i].Fields[column] != expected.Fields[column] || got[i].Nulls != nil && got[i].Nulls[column] != expected.Nulls[column] {
			return name, expected, got[i]
		}
	}
	return "columns", expected, got[i]
}

// file is an open file of an output, read row by row.
type file struct {
	names []string
	in    *reader.Reader // nil if it cannot be opened
	row   *reader.Record // the next one; nil at the end, and where the file cannot be read
	err   error          // of opening and reading
}

func openFile(ctx context.Context, p readback.Part) *file {
	f := new(file)
	if f.in, f.err = readback.Open(ctx, p); f.err == nil {
		if f.names = f.in.Columns(); len(f.names) == 0 {
			f.names = nil // of JSONL without rows
		}
		f.advance()
	}
	return f
}

func (f *file) close() {
	if f.in != nil {
		f.in.Close() // only read from
	}
}

func (f *file) advance() {
	r, err := f.in.Read()
	if err == nil {
		err = r.Err
	}
	f.row = nil
	if err == nil {
		f.row = &r
	} else if err != io.EOF {
		f.err = err
	}
}

// mostRows is more than the rows of any record.
const mostRows = 1 << 16

// group takes the next rows that have the record and the classification of a row.
func (f *file) group(l layout, of *reader.Record) (rows []*reader.Record) {
	for r := f.row; r != nil && r.Fields[l.record] == of.Fields[l.record] && r.Fields[l.classification] == of.Fields[l.classification] && len(rows) < mostRows; r = f.row {
		rows = append(rows, r)
		f.advance()
	}
	return rows
}
