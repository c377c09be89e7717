package verify

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/writer"
)

// group is the rows of one record in one classification, which are adjacent in one file.
type group struct {
	report  *Report
	account *record.Account // nil if it is missing

	path   string // of the file
	file   *outputs.File
	layout *layout

	record         int64
	place          int    // the index of the classification in the report's list
	classification string // the expected classification of the rows
	written        int    // the number of rows in the file
	rows           []outputs.Row
	more           int // the number of rows beyond outputs.MaxRows
}

// start begins a file.
func (g *group) start(path string, f *outputs.File, l *layout) { g.path, g.file, g.layout = path, f, l }

// goOn begins the next group of the same record.
func (g *group) goOn() { g.place, g.written, g.rows, g.more = g.place+1, 0, g.rows[:0], 0 }

// belongs reports whether a row is of the group.
func (g *group) belongs(record int64, r outputs.Row) bool {
	return record == g.record && (len(g.rows) == 0 || g.layout.cell(r, writer.ColumnClassification) == g.first(writer.ColumnClassification))
}

// add adds the rows that are one row of the file.
func (g *group) add(record int64, rows []outputs.Row) {
	g.record = record
	g.written++
	n := min(len(rows), outputs.MaxRows-len(g.rows))
	g.rows = append(g.rows, rows[:n]...)
	g.more += len(rows) - n
}

// first returns a cell of the first row.
func (g *group) first(c writer.ColumnID) string { return g.layout.cell(g.rows[0], c) }

func (g *group) status() writer.Status { return writer.Status(g.first(writer.ColumnStatus)) }

func (g *group) finding(what, expected, got string) {
	g.report.add(Finding{File: g.path, Record: g.record, What: what, Expected: expected, Got: got})
}

func (g *group) expect(what, expected, got string) {
	expect(g.report, Finding{File: g.path, Record: g.record}, what, expected, got)
}

// check checks that rows are consistent with each other, and the columns of each row.
func (g *group) check() {
	if g.more > 0 {
		g.finding("rows", fmt.Sprintf("at most %d", outputs.MaxRows), strconv.Itoa(outputs.MaxRows+g.more))
	}
	if shape := g.layout.schema.Shape; g.written != 1 && (shape == writer.ShapeTop || shape == writer.ShapeNested) {
		g.finding("rows", fmt.Sprintf("1, for the shape is %s", shape), strconv.Itoa(g.written))
	}
	g.checkConstant()
	g.checkClassification()
	g.checkStatus()
	if g.status() == writer.StatusOK {
		g.checkEntries()
	} else {
		g.checkNoEntry()
	}
}

// checkConstant finds differences between rows in the columns of the record.
func (g *group) checkConstant() {
	for _, r := range g.rows[1:] {
		for k := range r {
			if !g.layout.ofEntry(k) {
				g.expect(g.layout.names[k]+" of another row", g.rows[0][k], r[k])
			}
		}
	}
}

// checkClassification checks the classification. Without an account, the first record defines the
// classifications.
func (g *group) checkClassification() {
	got := g.first(writer.ColumnClassification)
	if g.account == nil && g.report.Records == 0 && g.place < outputs.MaxRows {
		g.report.Classifications = append(g.report.Classifications, got)
	}
	g.classification = textAt(g.report.Classifications, g.place)
	g.expect("classification", g.classification, got)
}

// checkMissing finds classifications without rows of the record.
func (g *group) checkMissing() {
	for _, name := range g.report.Classifications[min(g.place, len(g.report.Classifications)):] {
		g.expect("classification", name, "")
	}
}

func (g *group) checkStatus() {
	reason := g.first(writer.ColumnError)
	switch g.status() {
	case writer.StatusOK, writer.StatusPending:
		g.expect("error", "", reason)
	case writer.StatusEmpty:
		if !g.mayDrop() { // else the error may say that no entry has the confidence
			g.expect("error", "", reason)
		}
	case writer.StatusRejected, writer.StatusFailed, writer.StatusInvalid:
		if reason == "" {
			g.finding("error", "a reason", "nothing")
		}
	default:
		g.finding("status", "ok, empty, rejected, failed, invalid or pending", show(string(g.status())))
	}
}

// mayDrop reports whether the run may have left out entries by their confidence.
func (g *group) mayDrop() bool { return g.account == nil || g.layout.schema.MinConfidence != 0 }

// checkRank finds ranks that are not 1, 2, 3, ..., or not ascending if the run may have left out
// entries. It returns the rank.
func (g *group) checkRank(r outputs.Row, last int64) int64 {
	got := g.layout.cell(r, writer.ColumnRank)
	if !g.mayDrop() {
		g.expect("rank", strconv.FormatInt(last+1, 10), got)
		return last + 1
	}
	rank, ok := number(got)
	if !ok || rank <= last {
		g.finding("rank", fmt.Sprintf("%d or more", last+1), show(got))
	}
	return rank
}

// checkEntries finds wrong ranks, entries without a value, entries that the settings leave out, and
// levels that differ from the value's.
func (g *group) checkEntries() {
	schema := &g.layout.schema
	if schema.Top > 0 && len(g.rows) > schema.Top {
		g.finding("categories", fmt.Sprintf("at most %d", schema.Top), strconv.Itoa(len(g.rows)))
	}
	var levels []string
	rank := int64(0)
	for _, r := range g.rows {
		rank = g.checkRank(r, rank)
		l := g.layout
		value, text := l.cell(r, writer.ColumnValue), l.cell(r, writer.ColumnConfidence)
		if value == "" {
			g.finding("value", "one, for the status is ok", "nothing")
			continue
		}
		if x, ok := confidence(text); !ok {
			g.finding("confidence", "a number or nothing", show(text))
		} else if !schema.Keeps(x) {
			g.finding("confidence", fmt.Sprintf("%v or more", schema.MinConfidence), show(text))
		}
		levels = schema.AppendLevels(levels[:0], g.classification, value)
		for k, at := 0, l.at[writer.ColumnLevel]; at >= 0 && at < l.carried && l.columns[at].ID == writer.ColumnLevel; k, at = k+1, at+1 {
			g.expect(l.names[at], textAt(levels, k), r[at])
		}
	}
}

// checkNoEntry checks that a record without entries has one row, without values.
func (g *group) checkNoEntry() {
	if len(g.rows) != 1 {
		g.finding("rows", fmt.Sprintf("1, for the status is %s", g.status()), strconv.Itoa(len(g.rows)))
	}
	for k := range g.layout.carried {
		if g.layout.ofEntry(k) {
			g.expect(g.layout.names[k], "", g.rows[0][k])
		}
	}
}

// agrees reports whether the record is consistent with its stored outcome.
func (g *group) agrees(o answers.Outcome) bool {
	comparison := *g
	comparison.report = new(Report)
	comparison.compareAnswer(o)
	return len(comparison.report.Findings) == 0
}

// compareAnswer compares the record with its stored outcome.
func (g *group) compareAnswer(o answers.Outcome) {
	if o.Rejection != nil {
		g.expect("status, by the store", string(writer.StatusRejected), string(g.status()))
		g.expect("error, by the store", sameText(o.Rejection.Error()), sameText(g.first(writer.ColumnError)))
		return
	}
	stored := writer.Result{Status: writer.StatusEmpty, Classification: g.classification, Entries: make([]writer.Entry, len(o.Answer.Entries))}
	for i, e := range o.Answer.Entries {
		stored.Entries[i], stored.Status = writer.Entry{Value: e.Value, Title: e.Title, Confidence: e.Confidence}, writer.StatusOK
	}
	schema := g.layout.schema
	if schema.Levels = 0; schema.Shape == writer.ShapeNested {
		schema.Shape = writer.ShapeLong
	}
	rows := schema.Flatten(nil, stored)
	g.expect("status, by the store", string(rows[0].Status), string(g.status()))
	if rows[0].Status != g.status() {
		return
	}
	g.expect("error, by the store", rows[0].Error, g.first(writer.ColumnError))
	if g.status() != writer.StatusOK {
		return
	}
	g.compareEntries(rows)
	if text := g.first(writer.ColumnAnsweredAt); schema.SourceColumns {
		got, err := time.Parse(time.RFC3339Nano, text)
		if err != nil || !got.Equal(o.Answer.AnsweredAt) {
			g.finding("answered_at, by the store", o.Answer.AnsweredAt.Format(time.RFC3339Nano), show(text))
		}
	}
}

func (g *group) compareEntries(stored []writer.Row) {
	entries, ranks := g.layout.entries(g.rows)
	if len(entries) != len(stored) {
		g.finding("entries, by the store", strconv.Itoa(len(stored)), strconv.Itoa(len(entries)))
		return
	}
	for i, e := range entries {
		g.expect("rank, by the store", strconv.FormatInt(stored[i].Rank, 10), ranks[i])
		g.expect("value, by the store", sameText(stored[i].Value), sameText(e.Value))
		g.expect("title, by the store", sameText(stored[i].Title), sameText(e.Title))
		if x := stored[i].Confidence; x != e.Confidence && !(math.IsNaN(x) && math.IsNaN(e.Confidence)) {
			g.finding("confidence, by the store", fmt.Sprint(x), fmt.Sprint(e.Confidence))
		}
	}
}

// confidence parses a confidence; "" is NaN.
func confidence(text string) (float64, bool) {
	if text == "" {
		return math.NaN(), true
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil && !math.IsNaN(x) && !math.IsInf(x, 0)
}

func textAt(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}
