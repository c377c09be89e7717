package verify

import (
	"context"
	"fmt"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Options are an output, and the records of the run to compare it with.
type Options struct {
	Output  string          // a file, or a folder of parts
	Account *record.Account // of the run; nil if it is missing, which is a finding
	Input   *reader.Reader  // opened with the run's options and not read yet; nil for none
	Store   *answers.Store  // of the account's service; nil for none
}

// Run verifies an output. All faults of the output, damaged files included, are findings of the
// report. The error says why the output could not be verified: it does not exist, the store
// cannot be read, or ctx is done.
func Run(ctx context.Context, o Options) (Report, error) {
	v := newVerification(o)
	if err := v.run(ctx); err != nil {
		return Report{}, err
	}
	v.report.Balanced = len(v.report.Findings) == 0
	return v.report, nil
}

func newVerification(o Options) *verification {
	v := &verification{Options: o, report: Report{
		Figures: Figures{Statuses: make(map[writer.Status]int64)}, Findings: []Finding{},
	}}
	v.group.report, v.group.account = &v.report, o.Account
	if o.Account != nil {
		v.report.Classifications = o.Account.Settings.Classifications()
	}
	if o.Input != nil {
		v.input = &inputs{source: o.Input, limit: limitOf(o.Account)}
	}
	return v
}

// verification is the state of Run.
type verification struct {
	Options
	report Report
	input  *inputs // nil for none
	layout *layout // of the files so far; nil before the first
	group  group   // the group that is being read
	last   int64   // the greatest record number so far

	inShards bool                     // the other records and the end of the input are checked by RunShards
	begin    func(record int64) error // called before the first row of each record; nil for none
	merge    *merge                   // nil for none
}

func (v *verification) run(ctx context.Context) error {
	parts, err := v.list(ctx)
	if err != nil {
		return err
	}
	v.checkAccount(parts)
	for _, p := range parts {
		if err := v.file(ctx, p); err != nil {
			return err
		}
	}
	return v.checkEnd(ctx)
}

// isShard reports whether the output is a shard, which has some of the records.
func (v *verification) isShard() bool {
	return v.Account != nil && v.Account.Settings.Shard != ""
}

func (v *verification) file(ctx context.Context, p listedFile) error {
	v.report.Files++
	where := Finding{File: p.Path}
	bytes, sum, err := digestFile(ctx, p.Path)
	if err != nil {
		return err
	}
	v.report.Bytes += bytes
	figures, err := v.rows(ctx, p)
	if err != nil {
		return err
	}
	if p.account == nil {
		return nil
	}
	expect(&v.report, where, "bytes", p.account.Bytes, bytes)
	expect(&v.report, where, "sha256", p.account.SHA256, sum)
	expect(&v.report, where, "rows", p.account.Rows, figures.Rows)
	expect(&v.report, where, "first record", p.account.FirstRecord, figures.FirstRecord)
	expect(&v.report, where, "last record", p.account.LastRecord, figures.LastRecord)
	return nil
}

// rows reads the rows of a file, record by record.
func (v *verification) rows(ctx context.Context, p listedFile) (figures record.Output, err error) {
	p.Escaped = v.Account != nil && v.Account.Settings.EscapeFormulas
	f, err := outputs.Open(ctx, p.Part, membersOf(v.Account))
	if err != nil {
		v.report.add(damaged(p, err))
		return figures, nil
	}
	defer f.Close()
	if !v.checkColumns(p, f) {
		return figures, nil
	}
	v.group.start(p.Path, f, v.layout)
	if err := v.merge.start(); err != nil {
		return figures, err
	}
	var failed error
	err = f.Rows(func(rows []outputs.Row) error {
		failed = v.row(ctx, rows, &figures)
		return failed
	})
	if failed != nil {
		return figures, failed
	}
	if err != nil {
		v.report.add(damaged(p, err))
	}
	return figures, v.endRecord()
}

// row reads a row of the output, which is several rows for a list.
func (v *verification) row(ctx context.Context, rows []outputs.Row, figures *record.Output) error {
	v.report.Rows++
	cell := v.layout.cell(rows[0], writer.ColumnRecord)
	record, ok := number(cell)
	if !ok || record < 1 {
		v.report.add(Finding{File: v.group.path, What: "record", Expected: "a number from 1", Got: show(cell)})
		return nil
	}
	if err := v.endBefore(ctx, record, rows[0]); err != nil {
		return err
	}
	if figures.Rows++; figures.Rows == 1 {
		figures.FirstRecord = record
	}
	figures.LastRecord = record
	v.group.add(record, rows)
	return nil
}

// endBefore ends the present group, and the present record, if a row does not belong to them.
func (v *verification) endBefore(ctx context.Context, record int64, r outputs.Row) error {
	switch {
	case v.group.belongs(record, r):
		return nil
	case record == v.group.record:
		return v.endGroup()
	}
	if err := v.endRecord(); err != nil {
		return err
	}
	if err := context.Cause(ctx); err != nil || v.begin == nil {
		return err
	}
	return v.begin(record)
}

// endRecord checks the present record after its last row.
func (v *verification) endRecord() error {
	g := &v.group
	if len(g.rows) == 0 {
		return nil
	}
	if err := v.endGroup(); err != nil {
		return err
	}
	g.checkMissing()
	v.report.Records++
	g.record, g.place = 0, 0
	return nil
}

// endGroup checks the rows of the present group.
func (v *verification) endGroup() error {
	g := &v.group
	defer g.goOn()
	if g.place == 0 {
		v.checkOrder(g)
	}
	g.check()
	free := v.checkSource(g)
	v.report.Statuses[g.status()]++
	if err := v.merge.add(g); err != nil {
		return err
	}
	var record *reader.Record
	if v.input != nil {
		record = v.input.at(g)
	}
	if v.Account == nil {
		return nil
	}
	return v.checkAnswer(g, record, free)
}

// checkOrder finds missing records, and records that are out of order or repeated.
func (v *verification) checkOrder(g *group) {
	where := Finding{File: g.path, What: "records"}
	switch {
	case g.record <= v.last:
		where.Record, where.What = g.record, "order"
		where.Expected, where.Got = fmt.Sprintf("record %d or later", v.last+1), "a record out of order, or again"
		v.report.add(where)
		return
	case g.record > v.last+1 && !v.isShard():
		where.Expected = fmt.Sprintf("%d after %d", v.last+1, v.last)
		where.Got = fmt.Sprintf("%d: %d missing", g.record, g.record-v.last-1)
		v.report.add(where)
	}
	v.last = g.record
}

// checkColumns reports whether the columns of a file, and their types, are those of the layout.
func (v *verification) checkColumns(p listedFile, f *outputs.File) bool {
	names := f.Columns()
	if names == nil {
		return true // JSONL without rows
	}
	var input []string
	if v.input != nil {
		input = v.input.source.Columns()
	}
	l, finding := newLayout(names, v.Account, input)
	if finding == nil && v.layout != nil {
		if expected, got := strings.Join(v.layout.names, ","), strings.Join(names, ","); expected != got {
			finding = &Finding{What: "columns", Expected: expected, Got: got}
		}
	}
	if finding == nil {
		finding = l.checkTypes(f.Types(), v.Account)
	}
	if finding != nil {
		finding.File = p.Path
		v.report.add(*finding)
		return false
	}
	if v.layout == nil {
		v.layout = l
		if v.input != nil {
			v.input.layout = l
		}
	}
	return true
}

func damaged(p listedFile, err error) Finding {
	content, _, _ := strings.Cut(string(p.Format), ".")
	return Finding{File: p.Path, What: "content", Expected: "whole " + content, Got: err.Error()}
}

// checkAnswer compares a record with its request, and with the store unless its answer is free.
func (v *verification) checkAnswer(g *group, record *reader.Record, free bool) error {
	s := v.Account.Settings
	input := g.first(writer.ColumnInput)
	if record != nil {
		input = record.Input
	}
	request, err := s.Normalizer().Request(client.Kind(s.Kind), input, g.classification)
	invalid := err != nil || record != nil && record.Err != nil
	switch {
	case invalid:
		g.expect("status", string(writer.StatusInvalid), string(g.status()))
		return nil
	case g.status() == writer.StatusInvalid && record == nil: // the row of the input may be malformed
		return nil
	case g.status() == writer.StatusInvalid:
		g.finding("status", "another, for the input is valid", show(string(g.status())))
		return nil
	case v.Store == nil || free:
		return nil
	}
	for _, request := range spellings(s, request) {
		outcome, found, err := v.Store.Lookup(request)
		if err != nil {
			return fmt.Errorf("verify %s: %w", v.Output, err)
		}
		if found && !v.isLater(g, outcome) {
			v.report.Stored++
			g.compareAnswer(outcome)
			return nil
		}
	}
	v.report.NotStored++
	return nil
}

// spellings are the requests that a run may have made for a request.
func spellings(s record.Settings, request client.Request) []client.Request {
	list := []client.Request{request}
	if site := s.Normalizer().Site(request); s.Dedupe != record.DedupeExact && site != request {
		list = append(list, site)
	}
	return list
}

// isLater reports whether the stored outcome may differ from the record's: the run has stored no
// answer for the record, because the record failed or its answer cost nothing, and the answer to
// an equal input is stored; or another run has asked again, later or at the same time.
func (v *verification) isLater(g *group, o answers.Outcome) bool {
	at := o.Answer.AnsweredAt
	if ended := v.Account.Ended; !ended.IsZero() && at.After(ended) {
		return true
	}
	if !at.After(v.Account.Started) {
		return false
	}
	switch g.status() {
	case writer.StatusPending, writer.StatusFailed:
		return true
	}
	hosted := strings.HasPrefix(v.Account.Service, "http")
	return (!hosted || v.Account.Overlapped) && !g.agrees(o)
}
