package pipeline

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/diff"
	"github.com/bulkcat/bulkcat/pipeline/expect"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
)

// claimed is a run whose output is its own: no other run may replace it.
type claimed struct {
	*opened
	account     *account.Account             // at the beginning of the run; publish writes a changed copy
	maxRequests int64                        // of all starts of the run; 0 for no bound
	checkCounts func(account.Snapshot) error // refuses fewer answers than the earlier start had; nil unless the run may have fewer
	rows        *account.Account             // of the present rows of the output; nil for none
	killed      string                       // the run that was killed before it wrote an account; "" for none
	earlier     *diff.Side                   // the earlier output that expectations compare with; nil for none
	store       *answers.Store               // nil for none
	monitor     *progress.Monitor            // nil for standard output
	changed     atomic.Bool                  // the run has begun to replace the rows
}

// claim opens the store, and claims the output for this run. An error leaves the output unchanged.
func (o *opened) claim(ctx context.Context) (_ *claimed, err error) {
	c := &claimed{opened: o, account: o.newAccount()}
	defer func() {
		if err != nil {
			err = joinClose(err, c.store.Close())
		}
	}()
	if _, c.account.Carried, err = carried(&o.options.Output, o.options.stages(c.account.Settings), o.input.Reader); err != nil {
		return nil, err
	}
	last, before := o.follow(ctx, c.account)
	if before != nil { // the rows follow the present input; answers are stored by input, so all stored answers stay right
		c.account.Changed = runfiles.ChangedInputs(before, o.options.Output.Path)
		for _, name := range c.account.Changed {
			o.options.Log.Warn("the input has changed before its end since the last run: the output follows the present input", "file", name)
		}
	}
	if rows := last.OfRows(); rows.HasRows() {
		c.rows = rows
	}
	c.maxRequests = o.options.maxRequests(c.account)
	if before != nil && o.options.isOffline() && !o.options.Output.IsFolder() {
		outcomes := before.Outcomes()
		c.checkCounts = func(s account.Snapshot) error {
			return o.options.Output.CheckFewer(outcomes, s.OK+s.Empty+s.Rejected, s.Pending)
		}
	}
	if o.input.isEmpty(ctx) {
		if err := o.options.Output.CheckEmptied(ctx, last); err != nil {
			return nil, err
		}
		if err := o.checkKept(); err != nil {
			return nil, err
		}
	}
	if o.options.Shard != (account.Shard{}) {
		if err := runfiles.JoinShards(ctx, o.options.folderOfShards(), o.options.Shard, c.account); err != nil {
			return nil, err
		}
	}
	if c.store, err = o.options.openStore(); err != nil {
		return nil, err
	}
	if c.store != nil {
		c.account.Store = c.store.Path()
	}
	if c.earlier, err = o.options.findEarlier(ctx); err != nil {
		return nil, err
	}
	if o.lock != nil {
		c.killed = o.lock.Claimed()
	}
	if err := o.options.Output.Claim(ctx, c.account, o.lock); err != nil {
		return nil, err
	}
	if o.lock != nil {
		c.monitor = progress.NewMonitor(c.account, o.counters, c.maxRequests > 0, o.options.Log)
	}
	return c, nil
}

// newAccount returns the account of a run that starts now.
func (o *opened) newAccount() *account.Account {
	a := account.NewAccount(o.options.Program, o.options.Service.Name, o.options.settings())
	a.StatusFile = runfiles.StatusPath(o.options.Output.Path)
	a.Price, a.Reading = o.options.Price, readingOf(o.options.Input)
	for _, m := range o.options.AllModels() {
		a.Models = append(a.Models, describeModel(m))
	}
	return a
}

// follow adds the earlier starts of the run to its account, and the store of the last start to the other stores, and sets the
// deadline. last is the account beside the output, and before the account of the last start of the same run: last, or the
// account of the rows if the last start was another run and has left the rows unchanged. Either may be nil.
func (o *opened) follow(ctx context.Context, a *account.Account) (last, before *account.Account) {
	output := o.options.Output.Path
	last, err := runfiles.ReadLast(ctx, runfiles.AccountPath(output))
	if err != nil {
		o.options.Log.Warn("the account does not count the earlier runs", "reason", err)
	}
	if last != nil && last.Store != "" {
		o.options.Store.Others = append(slices.Clip(o.options.Store.Others), last.Store)
	}
	for _, of := range []*account.Account{last, last.OfRows()} {
		if before == nil && a.Follow(of) {
			before = of
		}
	}
	if journal := runfiles.JournalPath(output); journal != "" {
		starts, err := runfiles.ReadStarts(journal, a.RunID())
		if err != nil {
			o.options.Log.Warn("the account does not count the starts that were killed", "reason", err)
		}
		a.AddStarts(starts)
	}
	a.SetDeadline(o.options.FinishBy)
	return last, before
}

// findEarlier returns the earlier output that expectations compare with; nil for none. It returns an error before the first
// request if the earlier output cannot be compared.
func (o *Options) findEarlier(ctx context.Context) (*diff.Side, error) {
	against := o.Expect.Against
	earlier, err := expect.Earlier(ctx, against)
	if err == nil && earlier != nil && slices.ContainsFunc(o.Expect.List, expect.Expectation.Compares) {
		err = expect.Comparable(ctx, *earlier, o.Classifications)
	}
	if err != nil {
		return nil, &OptionError{Option: "Expect.Against", Err: err}
	}
	if earlier == nil && against != "" {
		o.Log.Warn("there is no earlier output to compare with", "path", against)
	}
	return earlier, nil
}
