package verify

import (
	"context"
	"fmt"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
)

// verifyShards verifies the shards of a folder, each as an output of its own, and that together they have all records of
// the input. If a shard is missing or not complete, the report says so, and no rows are read. The error is that of reading
// how the records are split.
func (o Options) verifyShards(ctx context.Context, shards *record.Shards, err error) (Report, error) {
	if err != nil {
		return Report{}, err
	}
	w := &shardsReport{Options: o, shards: shards, Report: newReport()}
	w.Classifications = shards.Settings.Classifications()
	if err := w.checkFolder(ctx); err != nil {
		return w.Report, err
	}
	accounts, err := shards.Accounts(ctx, o.Output)
	if err != nil {
		return w.Report, err
	}
	if complete, err := w.checkAccounts(ctx, accounts); err != nil || !complete {
		return w.Report, err
	}
	for i, folder := range shards.Folders(o.Output) {
		shard, err := o.verify(ctx, folder, accounts[i])
		if err != nil {
			return w.Report, err
		}
		w.Figures.add(shard.Figures)
		for _, f := range shard.Findings {
			w.add(f)
		}
		w.Omitted += shard.Omitted
		for _, reason := range shard.Unchecked {
			w.Unchecked = append(w.Unchecked, folder+": "+reason)
		}
	}
	return w.Report, nil
}

// shardsReport is the report on the shards of a folder.
type shardsReport struct {
	Options
	Report
	shards *record.Shards
}

// checkFolder finds files that are not of the shards.
func (w *shardsReport) checkFolder(ctx context.Context) error {
	names, err := storage.ReadDir(ctx, w.Output)
	if err != nil {
		return err
	}
	success := w.Unfinished
	for _, name := range names {
		shard, ok := record.ShardOf(name)
		switch {
		case name == readback.SuccessName:
			success = true
		case strings.HasPrefix(name, "_"), strings.HasPrefix(name, "."), ok && shard.Count == w.shards.Count:
		default:
			w.add(Finding{File: writer.Join(w.Output, name), What: "file", Expected: fmt.Sprintf("only the folders of %d shards", w.shards.Count), Got: "another"})
		}
	}
	if !success {
		w.add(Finding{File: writer.Join(w.Output, readback.SuccessName), What: "file", Expected: "one that says that all shards are complete", Got: "none"})
	}
	return nil
}

// checkAccounts finds missing and incomplete shards, and shards of another run or another input. It reports whether all are
// complete.
func (w *shardsReport) checkAccounts(ctx context.Context, accounts []*record.Account) (complete bool, err error) {
	var first *record.Account // that is complete
	complete = true
	read := int64(0)
	for i, folder := range w.shards.Folders(w.Output) {
		a := accounts[i]
		found, err := storage.Exists(ctx, folder+"/")
		if err != nil {
			return false, err
		}
		want, got := "a complete run", ""
		switch {
		case !found:
			want, got = "a folder", "none: the shard has not started, or has no part yet"
		case a == nil:
			got = "one without an account: the shard is running, or was killed"
		case a.Ending != record.Complete:
			got = string(a.Ending)
		case a.Counts.Pending > 0:
			got = fmt.Sprintf("a partial output: %d records are pending", a.Counts.Pending)
		}
		if got != "" {
			w.add(Finding{File: folder, What: "shard", Expected: want, Got: got})
			complete = false
			continue
		}
		if first == nil {
			first = a
		}
		for _, c := range w.shards.Changes(a) {
			w.add(Finding{File: folder, What: c.Setting, Expected: c.Then, Got: c.Now})
		}
		w.compareInputs(folder, first, a)
		read += a.Counts.Read
	}
	if complete {
		expect(&w.Report, "", "records of all shards, by their accounts", first.Counts.Read+first.Counts.Others, read)
	}
	return complete, nil
}

// compareInputs finds differences between the inputs that two shards have read.
func (w *shardsReport) compareInputs(folder string, first, a *record.Account) {
	expect(&w.Report, folder, "records of the input", first.Counts.Read+first.Counts.Others, a.Counts.Read+a.Counts.Others)
	expect(&w.Report, folder, "carried columns", fmt.Sprint(first.Carried), fmt.Sprint(a.Carried))
	expect(&w.Report, folder, "input files", len(first.Inputs), len(a.Inputs))
	for i := range min(len(first.Inputs), len(a.Inputs)) {
		if want, got := first.Inputs[i], a.Inputs[i]; want.Whole && got.Whole {
			expect(&w.Report, folder, "sha256 of the input "+got.Name, want.SHA256, got.SHA256)
		}
	}
}
