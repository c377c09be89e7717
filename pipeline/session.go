package pipeline

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
)

// Session is a whole run, from the lock on its output to its account. It prevents two runs from writing one output, and a run
// that is started again continues where its last start ended.
//
// A run has four states, each a value of its own type: opened has the lock and the input, claimed the output and the store,
// planned the plan and the limits, and running the stages. Each state makes the next state and does not change afterwards;
// results go from running to the account.
type Session struct {
	opened  *opened
	claimed atomic.Pointer[claimed]        // nil until the run has claimed the output
	running atomic.Pointer[running]        // nil until the run asks
	final   atomic.Pointer[account.Status] // nil until the run has ended
	kept    atomic.Bool                    // there is a copy of standard input
	closed  atomic.Bool
}

// Open checks the options, locks the output and opens the input. It asks the service nothing and does not change the output.
// The errors are *OptionError (several may be joined), *places.OverwriteError, *disk.BusyError while another process writes the
// output, and those of reader.Open. When ctx ends while Open waits for a pipe, the error is ctx's cause. The caller closes the
// session.
func Open(ctx context.Context, options Options) (*Session, error) {
	if err := options.checkParts(); err != nil {
		return nil, err
	}
	objects := storage.Own(ctx)
	options, err := options.withoutURLParameters(objects.TakeParameters)
	if err != nil {
		return nil, err
	}
	s := &Session{opened: newOpened(options, objects)}
	err = s.opened.open(storage.With(ctx, objects))
	s.kept.Store(s.opened.spool != nil)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close closes the input and unlocks the output. It removes the copy of standard input if the session has not claimed the
// output. A second Close does nothing: another session may have locked the output since.
func (s *Session) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	input := s.opened.input
	if r := s.running.Load(); r != nil {
		input = r.input.Load()
	}
	err := input.Close()
	if spool := s.opened.spool; spool != nil && s.claimed.Load() == nil {
		s.kept.Store(false)
		err = errors.Join(err, spool.Close(), spool.Remove())
	}
	s.opened.lock.Release()
	return err
}

// Run asks for all records that have no answer yet, and writes the output. However the run ends, Run then writes an account
// beside the output, unless another program or machine has published the output during the run. Run may be called once. When
// ctx ends, the run stops: requests in flight get the grace period, and their answers are stored.
//
// The account is nil if the run could not claim the output: nothing was asked then. If the output belongs to another run, the
// error is an *[OutputTakenError], a *[account.ShardCountError] or a *[account.ShardsTakenError]. Other errors are
// *[OptionError], *[NoStoreError], *[StopError], *[ServiceError], *[MisconfiguredError], *[UnreachableError],
// *[InputChangedError], and those of the store, the input and the output. If the output breaks an expectation, the error is an
// *expect.BrokenError, and the output is published unless Held is set. With a nil error the output is complete; records may
// still be without an answer: see [account.Snapshot.Unanswered].
func (s *Session) Run(ctx context.Context) (*account.Account, error) {
	ctx = storage.With(ctx, s.opened.objects)
	out, cancel := outputContext(ctx, s.opened.options.Grace)
	defer cancel()
	claimed, err := s.opened.claim(ctx)
	if err != nil {
		return nil, causeOf(ctx, err) // the account of another run may lie beside the output
	}
	s.claimed.Store(claimed)
	done, err := s.ask(ctx, out, claimed)
	err = claimed.options.inBounds(givenUp(out, interruptedByPipe(joinClose(err, claimed.store.Close()))))
	var broken error
	if err == nil {
		broken = done.check.end(ctx)
	}
	a, status, err := claimed.publish(out, done, err)
	s.final.Store(&status)
	kept, spoolErr := s.opened.endSpool(err == nil, err == nil && a.Counts.Failed+a.Counts.Pending == 0)
	s.kept.Store(kept)
	return a, cmp.Or(errors.Join(err, spoolErr), broken)
}

// ask plans the run, and runs it.
func (s *Session) ask(ctx, out context.Context, claimed *claimed) (results, error) {
	planned, err := claimed.plan(ctx)
	if err != nil {
		return results{inputs: claimed.options.inputsOf(claimed.input.Reader)}, err
	}
	running := planned.start(out)
	s.running.Store(running)
	ended := func() {}
	if watch := claimed.options.Watch; watch != nil {
		defer running.startCount(ctx)()
		ended = watch(s)
	}
	defer ended()
	return running.run(ctx)
}

// AccountPath is the path of the run's account; "" if the run writes none.
func (s *Session) AccountPath() string { return runfiles.AccountPath(s.opened.options.Output.Path) }

// SpoolPath is the path of the copy of standard input; "" if there is none.
func (s *Session) SpoolPath() string {
	if !s.kept.Load() {
		return ""
	}
	return s.opened.spool.Path()
}

// ForgetsRejections reports whether inputs were rejected, and the rejections are not stored: a hosted service has to answer an
// input first, unless KeepGoing is set.
func (s *Session) ForgetsRejections() bool {
	o := s.opened
	isSure := o.options.KeepGoing || !o.options.Service.Hosted || o.standing.State() == client.Answering
	return o.counters.Rejections.Load() > 0 && !isSure
}

// Shard is the shard of the run; zero for a run without shards.
func (s *Session) Shard() account.Shard { return s.opened.options.Shard }

// Counts returns the run's counts. It may be called during the run.
func (s *Session) Counts() account.Snapshot { return s.opened.counters.Snapshot() }

// Status returns the status of the run, as in the file of StatusPath, with Details. It may be called from several goroutines
// and at any time: before the call of Watch the state is Starting, and after Run the status has the ending of the run. The rates
// are measured from call to call. During a run that asks, Status asks the service for the quota each minute, in the background.
func (s *Session) Status() account.Status {
	if final := s.final.Load(); final != nil {
		return *final
	}
	if r := s.running.Load(); r != nil {
		return r.withDetails(r.progress().Status, r.account, r.limits.Learned().String())
	}
	o, a := s.opened, s.opened.newAccount()
	a.Started = o.began.UTC()
	return o.withDetails(progress.New(a, o.counters.Snapshot(), account.Starting, o.began).Status, a, "")
}

// LastUsage asks the service for the quota, for 3 seconds at most, and returns the last known usage with its age: 0 if the
// service has just answered. It does not ask after Options.Hurry is closed. The usage is zero if the service stated none at the
// run's beginning either, or if the run is offline.
func (s *Session) LastUsage() (usage client.Usage, since time.Duration) {
	if s.opened.options.Offline {
		return client.Usage{}, 0
	}
	select {
	case <-s.opened.options.Hurry:
		return s.opened.quota.Final(false)
	default:
		return s.opened.quota.Final(true)
	}
}

// Resumption says how to start a run again that ended early.
type Resumption struct {
	Stdin string // the file to give as standard input: "" for none, "-" for the same file or pipe as before, if no copy was kept
	Cut   bool   // Stdin has only the beginning of the pipe, which had not ended
}

// Resumption says how to continue the run after an error of Run. It returns false if the same run would end at the same point:
// no answers are stored, or the options, the input or the service have to change first.
func (s *Session) Resumption(err error) (Resumption, bool) {
	o := &s.opened.options
	switch {
	case o.Output.Path == "-" && !o.Service.Hosted && o.Store.Path == "", s.claimed.Load() == nil || !resumable(err):
		return Resumption{}, false
	case s.kept.Load():
		return Resumption{Stdin: s.opened.spool.Path(), Cut: !s.opened.spool.Whole()}, true
	case !o.readsStdin():
		return Resumption{}, true
	}
	return Resumption{Stdin: "-"}, true
}
