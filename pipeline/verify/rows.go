package verify

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/writer"
)

// comparison compares files with those that the run writes, and finds the first record of each that differs.
type comparison struct {
	*verification
	ctx     context.Context
	members []string // of the structs in lists
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
	want := openFile(c.ctx, outputs.Part{Path: again, Format: p.Format, Escaped: p.Escaped}, c.members)
	defer want.close()
	got := openFile(c.ctx, p.Part, c.members)
	defer got.close()
	find := func(record int64, what, expected, found string) error {
		c.report.add(Finding{File: p.Path, Record: record, What: what, Expected: expected, Got: found})
		return want.err
	}
	if got.names != nil && want.names != nil && !slices.Equal(got.names, want.names) {
		return find(p.want.FirstRecord, "columns", strings.Join(want.names, ","), strings.Join(got.names, ","))
	}
	l, excused, last := c.layoutOf(want.names), false, p.want.FirstRecord
	for want.next() != nil {
		rows := want.group(l, want.next())
		found := got.group(l, rows[0])
		if last = numberOf(rows[0][l.record]); slices.EqualFunc(rows, found, slices.Equal[outputs.Row]) {
			continue
		}
		if len(found) == 0 || !c.mayDiffer(l, rows[0], found) {
			what, expected, row := l.difference(rows, found, got.next())
			if row == nil && got.err != nil {
				return find(last, "content", showRow(expected), got.err.Error())
			}
			return find(last, what, showRow(expected), showRow(row))
		}
		if excused = true; rows[0][l.status] != string(writer.StatusPending) {
			c.report.Answers--
			c.report.NotCompared++
		}
	}
	switch row := got.next(); {
	case row != nil && want.names != nil:
		return find(numberOf(row[l.record]), "row", "nothing", showRow(row))
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

// mayDiffer reports whether a record may have other rows than the run writes again: its answer is another one, and the input
// and the carried columns are the same.
func (c *comparison) mayDiffer(l layout, want outputs.Row, rows []outputs.Row) bool {
	excuse := another
	if want[l.status] != string(writer.StatusPending) {
		excuse = c.excuses[c.placeOf(numberOf(want[l.record]), want[l.classification])]
	}
	if !excuse.covers(writer.Status(rows[0][l.status])) {
		return false
	}
	return !slices.ContainsFunc(rows, func(r outputs.Row) bool {
		return r[l.input] != want[l.input] || !slices.Equal(r[l.carried:], want[l.carried:])
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
	l := layout{names: names, carried: len(v.account.Settings.Schema().Names())}
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
func (l *layout) difference(want, got []outputs.Row, next outputs.Row) (what string, expected, found outputs.Row) {
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
	return l.names[column], expected, got[i]
}

// file is an open file, read row by row. A row of the shape nested is several.
type file struct {
	names []string
	pull  func() ([]outputs.Row, error, bool)
	close func()
	head  []outputs.Row // that were read and not taken
	err   error         // of opening and reading
}

// errStopped ends the reading of a file before its end.
var errStopped = errors.New("the comparison is stopped")

func openFile(ctx context.Context, p outputs.Part, members []string) *file {
	in, err := outputs.Open(ctx, p, members)
	if err != nil {
		return &file{err: err, close: func() {}}
	}
	next, stop := iter.Pull2(func(yield func([]outputs.Row, error) bool) {
		err := in.Rows(func(row []outputs.Row) error {
			if !yield(row, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	})
	f := &file{names: in.Columns(), pull: next, close: func() { stop(); in.Close() }}
	f.advance()
	return f
}

// next is the next row; nil at the end, and where the file cannot be read.
func (f *file) next() outputs.Row {
	if len(f.head) == 0 {
		return nil
	}
	return f.head[0]
}

func (f *file) advance() {
	if len(f.head) > 1 {
		f.head = f.head[1:]
		return
	}
	f.head, f.err, _ = f.pull()
}

// group takes the next rows that have the record and the classification of a row.
func (f *file) group(l layout, of outputs.Row) (rows []outputs.Row) {
	for r := f.next(); r != nil && r[l.record] == of[l.record] && r[l.classification] == of[l.classification] && len(rows) <= outputs.MaxRows; r = f.next() {
		rows = append(rows, r)
		f.advance()
	}
	return rows
}
