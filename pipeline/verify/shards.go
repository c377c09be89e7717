package verify

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// verifyShards verifies each shard in a folder as an output of its own, and checks that the shards together have all records
// of the input. If a shard is missing or not complete, the report says so, and no rows are read.
func (o Options) verifyShards(ctx context.Context, shards *account.Shards, report *Report) error {
	w := &shardsReport{o, report, shards}
	w.Classifications = shards.Settings.Classifications()
	if err := w.checkFolder(ctx); err != nil {
		return err
	}
	accounts, err := runfiles.Accounts(ctx, shards, o.Output)
	if err != nil {
		return err
	}
	if complete, err := w.checkAccounts(ctx, accounts); err != nil || !complete {
		return err
	}
	for i, folder := range runfiles.Folders(shards, o.Output) {
		if err := o.verify(ctx, folder, accounts[i], report, folder+": "); err != nil {
			return err
		}
	}
	return nil
}

// shardsReport is the report on the shards of a folder.
type shardsReport struct {
	Options
	*Report
	shards *account.Shards
}

// checkFolder finds files that do not belong to the shards, and a missing _SUCCESS.
func (w *shardsReport) checkFolder(ctx context.Context) error {
	names, err := storage.ReadDir(ctx, w.Output)
	if err != nil {
		return err
	}
	success, others := w.Unfinished, []string(nil)
	for _, name := range names {
		shard, ok := account.ShardOf(name)
		switch {
		case name == writer.SuccessName:
			success = true
		case strings.HasPrefix(name, "_"), strings.HasPrefix(name, "."), ok && shard.Count == w.shards.Count:
		default:
			others = append(others, disk.Join(w.Output, name))
		}
	}
	w.addFiles(others, fmt.Sprintf("only the folders of %d shards", w.shards.Count))
	if !success {
		w.add(Finding{File: runfiles.SuccessPath(w.Output), What: "file", Expected: "one that says that all shards are complete", Got: "none"})
	}
	return nil
}

// checkAccounts finds missing and incomplete shards, and shards of another run or another input. It reports whether all shards
// are complete.
func (w *shardsReport) checkAccounts(ctx context.Context, accounts []*account.Account) (complete bool, err error) {
	var first *account.Account // of the first complete shard
	complete = true
	read := int64(0)
	for i, folder := range runfiles.Folders(w.shards, w.Output) {
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
		case a.Ending != account.Complete:
			got = fmt.Sprintf("one that has ended early (%s)", a.Ending)
		case a.Counts.Pending > 0:
			got = fmt.Sprintf("a partial output: %d records are pending", a.Counts.Pending)
		}
		if got != "" {
			w.add(Finding{File: folder, What: ShardFinding, Expected: want, Got: got})
			complete = false
			continue
		}
		first = cmp.Or(first, a)
		for _, c := range w.shards.Changes(a) {
			w.add(Finding{File: folder, What: c.Setting, Expected: c.Then, Got: c.Now})
		}
		expect(w.Report, folder, "records of the input", first.Counts.Read+first.Counts.Others, a.Counts.Read+a.Counts.Others)
		expect(w.Report, folder, "carried columns", fmt.Sprint(first.Carried), fmt.Sprint(a.Carried))
		w.compareInputs(folder+": ", first.Inputs, a.Inputs)
		read += a.Counts.Read
	}
	if complete {
		expect(w.Report, "", "records of all shards, by their accounts", first.Counts.Read+first.Counts.Others, read)
	}
	return complete, nil
}
