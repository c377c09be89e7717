package verify

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// ShardsOptions are the shards of a folder, and the records of their runs to compare them with.
type ShardsOptions struct {
	Folder   string // of all shards
	Shards   *record.Shards
	Accounts []*record.Account // of the shards, by number; nil for a missing account, which is a finding
	Stores   []*answers.Store  // of the shards, by number; nil for none
	Input    *reader.Reader    // as in Options
	Finished bool              // the folder must have the file _SUCCESS

	// Sink opens the output for the rows of all records, in input order, with the carried columns of the accounts.
	// RunShards does not close the sink, which is of use only if the report is balanced. Nil for none.
	Sink func() (writer.Sink, error)
}

// RunShards verifies the shards of a folder, each as Run does, and that every record of the input is in one
// shard. If a shard is missing or not complete, the report says so, and no rows are read. The shards are read at
// the same time, in the order of the records, so that memory does not grow with the output, but with the number
// of shards.
func RunShards(ctx context.Context, o ShardsOptions) (Report, error) {
	w := &shardsWalk{
		ShardsOptions: o, merge: &merge{open: o.Sink}, waiting: make(map[int64]*shardCursor),
		report: Report{Figures: Figures{Statuses: make(map[writer.Status]int64), Classifications: o.Shards.Settings.Classifications()}, Findings: []Finding{}},
	}
	if err := w.checkFolder(ctx); err != nil {
		return Report{}, err
	}
	if err := w.checkAccounts(ctx); err != nil {
		return Report{}, err
	}
	if !w.incomplete {
		if err := w.run(ctx); err != nil {
			return Report{}, err
		}
	}
	w.report.Balanced = len(w.report.Findings) == 0
	return w.report, nil
}

// shardsWalk is the state of RunShards.
type shardsWalk struct {
	ShardsOptions
	report     Report
	between    Report // the findings that are not of one shard
	incomplete bool   // a shard is missing or not complete
	merge      *merge
	waiting    map[int64]*shardCursor // shards before their next record, by its number
	last       int64                  // the number of the last record
}

// shardCursor is a shard that is verified record by record.
type shardCursor struct {
	*verification
	next func() (record int64, err error, ok bool) // verifies a record, and returns the number of the one after it
}

// checkFolder finds files that are not of the shards.
func (w *shardsWalk) checkFolder(ctx context.Context) error {
	names, err := storage.ReadDir(ctx, w.Folder)
	if err != nil {
		return fmt.Errorf("verify %s: %w", w.Folder, err)
	}
	success := false
	for _, name := range names {
		shard, ok := record.ShardOf(name)
		switch {
		case name == outputs.SuccessName:
			success = true
		case strings.HasPrefix(name, "_"), strings.HasPrefix(name, "."), ok && shard.Count == w.Shards.Count:
		default:
			w.report.add(Finding{File: writer.Join(w.Folder, name), What: "file", Expected: fmt.Sprintf("only the folders of %d shards", w.Shards.Count), Got: "another"})
		}
	}
	if w.Finished && !success {
		w.report.add(Finding{File: writer.Join(w.Folder, outputs.SuccessName), What: "file", Expected: "one that says that all shards are complete", Got: "none"})
	}
	return nil
}

// checkAccounts finds missing and incomplete shards, and shards of another run or another input.
func (w *shardsWalk) checkAccounts(ctx context.Context) error {
	var first *record.Account // that is complete
	for i, folder := range w.Shards.Folders(w.Folder) {
		a, where := w.Accounts[i], Finding{File: folder}
		found, err := storage.Exists(ctx, folder+"/")
		switch {
		case err != nil:
			return fmt.Errorf("verify %s: %w", folder, err)
		case !found:
			where.What, where.Expected, where.Got = "shard", "a folder", "none: the shard has not started, or has no part yet"
		case a == nil:
			where.What, where.Expected, where.Got = "shard", "a complete run", "one without an account: the shard is running, or was killed"
		case a.Ending != record.Complete:
			where.What, where.Expected, where.Got = "shard", "a complete run", string(a.Ending)
		case a.Counts.Pending > 0:
			where.What, where.Expected, where.Got = "shard", "a complete run", fmt.Sprintf("a partial output: %d records are pending", a.Counts.Pending)
		default:
			if first == nil {
				first = a
			}
			for _, c := range w.Shards.Changes(a) {
				w.report.add(Finding{File: folder, What: c.Setting, Expected: c.Then, Got: c.Now})
			}
			w.compareInputs(where, first, a)
			continue
		}
		w.incomplete = true
		w.report.add(where)
	}
	return nil
}

// compareInputs finds differences between the inputs that two shards have read.
func (w *shardsWalk) compareInputs(where Finding, first, a *record.Account) {
	expect(&w.report, where, "records of the input", first.Counts.Read+first.Counts.Others, a.Counts.Read+a.Counts.Others)
	expect(&w.report, where, "carried columns", fmt.Sprint(first.Carried), fmt.Sprint(a.Carried))
	expect(&w.report, where, "input files", len(first.Inputs), len(a.Inputs))
	for i := range min(len(first.Inputs), len(a.Inputs)) {
		if want, got := first.Inputs[i], a.Inputs[i]; want.Whole && got.Whole {
			expect(&w.report, where, "sha256 of the input "+got.Name, want.SHA256, got.SHA256)
		}
	}
}

// run verifies the shards, record by record.
func (w *shardsWalk) run(ctx context.Context) error {
	var input *inputs
	if w.Input != nil {
		input = &inputs{source: w.Input, limit: w.Shards.Settings.Limit}
	}
	var cursors []*shardCursor
	for i, folder := range w.Shards.Folders(w.Folder) {
		v := newVerification(Options{Output: folder, Account: w.Accounts[i], Store: w.Stores[i]})
		v.input, v.merge, v.inShards = input, w.merge, true
		next, stop := iter.Pull2(v.records(ctx))
		defer stop()
		cursors = append(cursors, &shardCursor{v, next})
	}
	for _, c := range cursors {
		if err := w.advance(c); err != nil {
			return err
		}
	}
	for len(w.waiting) > 0 {
		c, record := w.nextCursor()
		delete(w.waiting, record)
		w.last = record
		if err := w.advance(c); err != nil {
			return err
		}
	}
	for _, c := range cursors {
		w.report.include(&c.report)
	}
	w.report.include(&w.between)
	expect(&w.report, Finding{}, "last record, by the accounts", w.Accounts[0].Counts.Read+w.Accounts[0].Counts.Others, w.last)
	if input != nil {
		if err := input.checkAll(ctx, &w.report, w.report.Records); err != nil {
			return err
		}
		input.check(&w.report, w.Accounts[0])
	}
	return w.merge.flush()
}

// nextCursor returns the shard with the next record, and finds records that no shard has.
func (w *shardsWalk) nextCursor() (*shardCursor, int64) {
	record := w.last + 1
	if c := w.waiting[record]; c != nil {
		return c, record
	}
	record = slices.Min(slices.Collect(maps.Keys(w.waiting)))
	w.between.add(Finding{
		File: w.Folder, What: "records", Expected: fmt.Sprintf("%d after %d", w.last+1, w.last),
		Got: fmt.Sprintf("%d: %d missing in all shards", record, record-w.last-1),
	})
	return w.waiting[record], record
}

// advance verifies the present record of a shard. The shard then waits before its next record.
func (w *shardsWalk) advance(c *shardCursor) error {
	for {
		record, err, ok := c.next()
		if !ok || err != nil {
			return err
		}
		if record > w.last && w.waiting[record] == nil {
			w.waiting[record] = c
			return nil
		}
		w.between.add(Finding{File: c.group.path, Record: record, What: "shard", Expected: "a later record", Got: "a record out of order, or of two shards"})
	}
}

// errStopped ends a verification before its end.
var errStopped = errors.New("the verification is stopped")

// records verifies the output. It yields the number of each record before it reads the record's rows, and after it
// has checked the record before. An error comes last.
func (v *verification) records(ctx context.Context) iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		v.begin = func(record int64) error {
			if !yield(record, nil) {
				return errStopped
			}
			return nil
		}
		if err := v.run(ctx); err != nil && !errors.Is(err, errStopped) {
			yield(0, err)
		}
	}
}

// include adds the report of a shard.
func (r *Report) include(shard *Report) {
	r.Records += shard.Records
	r.Rows += shard.Rows
	r.Files += shard.Files
	r.Bytes += shard.Bytes
	r.Inputs += shard.Inputs
	r.Stored += shard.Stored
	r.NotStored += shard.NotStored
	for status, n := range shard.Statuses {
		r.Statuses[status] += n
	}
	for _, f := range shard.Findings {
		r.add(f)
	}
	r.Omitted += shard.Omitted
}
