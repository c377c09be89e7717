package pipeline

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// publish writes the account of a run that has ended, which says from then on which run has written the output. It returns the
// account, the last status, and err, the error of the run, joined with the error of writing the account.
func (c *claimed) publish(out context.Context, done results, err error) (*account.Account, account.Status, error) {
	a := *c.account
	a.Free, a.Inputs, a.Expectations = done.audit, done.inputs, done.check.judged(err)
	if done.carried != nil {
		a.Carried = done.carried
	}
	a.Finish(EndingOf(err), err, c.counters.Snapshot(), output.Entries(done.published))
	status := c.end(&a, done, err)
	switch {
	case isReplaced(err): // another program has written the output, and its account
		if c.lock != nil {
			c.lock.DropClaim()
		}
	default:
		if unpublished := givenUp(out, c.write(out, &a)); unpublished != nil {
			err = errors.Join(err, unpublished)
			status = c.end(&a, done, err)
		}
	}
	if c.monitor != nil {
		c.monitor.Close(c.lock.Claimed() == "")
	}
	return &a, status, err
}

// write writes the account beside the output.
func (c *claimed) write(out context.Context, a *account.Account) error {
	if c.lock == nil {
		return nil
	}
	path := c.options.Output.Path
	var err error
	if !a.HasRows() && c.rows != nil && (!c.changed.Load() && c.killed == "" || c.options.Output.IsIntact(out, c.rows)) {
		a.Published = c.rows
	}
	if a.Timeline, err = runfiles.Timeline(runfiles.JournalPath(path), a); err != nil {
		c.options.Log.Warn("the account has no time line of this start", "reason", err)
	}
	err = runfiles.Write(out, runfiles.AccountPath(path), a)
	if err != nil {
		return err
	}
	isThere, err := c.options.Output.IsOccupied(out)
	switch changed := c.changed.Load(); {
	case err != nil:
		return err
	case a.OfRows().HasRows() || !isThere:
		c.lock.DropClaim()
	case !changed && c.killed != "": // the rows may be those of the run that was killed
		return c.lock.Claim(c.killed)
	case !changed || c.options.Output.IsFolder():
		c.lock.DropClaim()
	} // else the file may have the rows of this run, whatever the error says: the claim stays
	return nil
}

// end writes the end to the journal, and returns the last status. err is the error of the run or of writing its account.
func (c *claimed) end(a *account.Account, done results, err error) account.Status {
	ending := a.Ending
	if err != nil && ending == account.Complete {
		ending = account.Failed // the account could not be written
	}
	p := progress.New(a, a.Counts, account.Ended, a.Ended)
	p.Ending, p.Total, p.Cost, p.Quota = ending, done.records, a.Cost, c.quota.Left(false)
	if a.Ending == account.Complete {
		p.Total = p.Counts.Read
	}
	c.monitor.End(p)
	return c.withDetails(p.Status, a, done.learned)
}

// outputGrace is the time after the grace period in which the rest of the output and the account can still be published. A
// storage that answers needs a second.
const outputGrace = 5 * time.Second

// outputContext returns the context of the calls that write to object storage. It outlives ctx by grace and outputGrace, so that
// the run can publish its output, and a storage that does not answer cannot block the run for longer.
func outputContext(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	most := grace + outputGrace
	forget := context.AfterFunc(ctx, func() {
		end := time.AfterFunc(most, func() {
			cancel(&StopError{Cause: account.Interrupted, Err: fmt.Errorf("the storage did not answer within %v of the interruption", most)})
		})
		context.AfterFunc(out, func() { end.Stop() })
	})
	return out, func() { forget(); cancel(nil) } // forget, because ctx may live longer than the session
}

// givenUp returns the error of a call with the context of outputContext. If that context was canceled because the storage did
// not answer, the error is a *StopError, with which the run can be resumed; other errors are returned as they are.
func givenUp(out context.Context, err error) error {
	stop, is := errors.AsType[*StopError](context.Cause(out))
	if !is || !errors.Is(err, context.Canceled) {
		return err
	}
	return &StopError{Cause: stop.Cause, Err: fmt.Errorf("%w: %w", stop.Err, err)}
}

// interruptedByPipe makes a broken pipe of standard output an interruption of the run. Other errors are returned as they are.
func interruptedByPipe(err error) error {
	if !writer.IsBrokenPipe(err) {
		return err
	}
	return &StopError{Cause: account.Interrupted, Err: err}
}

// isReplaced reports whether a run failed because another program or another machine has written the output during the run.
func isReplaced(err error) bool {
	_, writing := errors.AsType[*disk.Error](err)
	return writing && (errors.Is(err, storage.ErrChanged) || errors.Is(err, disk.ErrChanged))
}

// joinClose joins err with the error of closing a store, unless err contains it: a store that failed repeats its error.
func joinClose(err, closing error) error {
	if errors.Is(err, closing) {
		return err
	}
	return errors.Join(err, closing)
}
