package verify

import (
	"cmp"
	"context"
	"fmt"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
)

// verifyShards verifies each shard in a folder as an output of its own, and checks that the shards together have all records
// of the input. If a shard is missing or not complete, the report says so, and no rows are read.
func (o Options) verifyShards(ctx context.Context, shards *account.Shards, report *Report) error {
	report.Classifications = shards.Settings.Classifications()
	if _, err := report.list(ctx, o.Output, o.Unfinished); err != nil {
		return err
	}
	accounts, err := runfiles.Accounts(ctx, shards, o.Output)
	if err != nil {
		return err
	}
	folders := runfiles.Folders(shards, o.Output)
	if !report.compareShards(shards, folders, accounts) {
		return nil
	}
	for i, folder := range folders {
		v := &verification{Options: o, Report: report, path: folder, account: accounts[i]}
		if err := v.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// compareShards finds missing and incomplete shards, and shards of another run or another input. It reports whether all shards
// are complete.
func (r *Report) compareShards(shards *account.Shards, folders []string, accounts []*account.Account) (complete bool) {
	var first *account.Account // of the first complete shard
	complete = true
	read := int64(0)
	for i, a := range accounts {
		folder, got := folders[i], ""
		switch {
		case a == nil:
			got = "none: the shard has not started, is running, or was killed"
		case a.Ending != account.Complete:
			got = fmt.Sprintf("one that has ended early (%s)", a.Ending)
		case a.Counts.Pending > 0:
			got = fmt.Sprintf("a partial output: %d records are pending", a.Counts.Pending)
		}
		if got != "" {
			r.add(Finding{File: folder, What: ShardFinding, Expected: "a complete run", Got: got})
			complete = false
			continue
		}
		first = cmp.Or(first, a)
		for _, c := range shards.Changes(a) {
			r.add(Finding{File: folder, What: c.Setting, Expected: c.Then, Got: c.Now})
		}
		expect(r, folder, "records of the input", first.Counts.Read+first.Counts.Others, a.Counts.Read+a.Counts.Others)
		expect(r, folder, "carried columns", fmt.Sprint(first.Carried), fmt.Sprint(a.Carried))
		r.compareInputs(folder+": ", first.Inputs, a.Inputs)
		read += a.Counts.Read
	}
	if complete {
		expect(r, "", "records of all shards, by their accounts", first.Counts.Read+first.Counts.Others, read)
	}
	return complete
}
