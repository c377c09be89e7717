package pipeline

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
)

// Session is a whole run, from the lock on its output to its account. It keeps two runs from writing one output, and has a
// run that is started again go on where the run before ended.
//
// A run is four values, one after the other: opened has the lock and the input, claimed the output and the store,
// planned what is known before the first request, and running the stages. Each is made by the one before and then
// stays as it is; results are what the last one leaves for the account.
type Session struct {
	opened  *opened
	claimed atomic.Pointer[claimed]        // nil until the output is this run's
	running atomic.Pointer[running]        // nil until the run asks
	final   atomic.Pointer[account.Status] // nil until the run has ended
	kept    atomic.Bool                    // there is a copy of standard input
	closed  atomic.Bool
}

// Open checks the options, locks the output and opens the input. Nothing is asked and no output is
// touched. The errors are *OptionError (several may be joined), *places.OverwriteError, *disk.BusyError
// while another process writes the output, and those of reader.Open. When ctx ends while Open waits
// for a pipe, the error is ctx's cause. The caller closes the session.
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

// Close releases the input and the output. The copy of standard input is removed if the session
// did not get as far as to claim the output. A second Close does nothing: another session may have the output by then.
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

// Run asks for all records that have no answer yet, writes the output, and leaves an account beside
// the output however the run ends, unless another machine has published the output meanwhile. Run may be called once. When
// ctx ends, the run stops: requests in flight get the grace period, and their answers are stored.
//
// The account is nil if the output belongs to another run: nothing was asked then, and the error is an
// *[OutputTakenError], a *[account.ShardCountError] or a *[account.ShardsTakenError]. Other errors are *[OptionError],
// *[NoStoreError], *[StopError], *[ServiceError], *[MisconfiguredError], *[UnreachableError], *[InputChangedError], and those
// of the store, the input and the output. The error is an *expect.BrokenError if the output breaks an expectation: it is
// published, unless the error says that it was held back. With a nil error the output is complete; records may still be
// without an answer: see [account.Snapshot.Unanswered].
func (s *Session) Run(ctx context.Context) (*account.Account, error) {
	ctx = storage.With(ctx, s.opened.objects)
	out, cancel := outputContext(ctx, s.opened.options.Grace)
	defer cancel()
	claimed, err := s.opened.claim(ctx)
	if err != nil {
		return nil, causeOf(ctx, err) // the output has an account of its own
	}
	s.claimed.Store(claimed)
	done, err := s.ask(ctx, out, claimed)
	err = claimed.options.inBounds(givenUp(out, interruptedByPipe(joinClose(err, claimed.close()))))
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

// AccountPath is the path of the run's account; "" if the run leaves none.
func (s *Session) AccountPath() string { return runfiles.AccountPath(s.opened.options.Output.Path) }

// SpoolPath is the file that keeps standard input; "" if there is none.
func (s *Session) SpoolPath() string {
	if !s.kept.Load() {
		return ""
	}
	return s.opened.spool.Path()
}

// ForgetsRejections reports whether inputs were rejected, and the rejections are not stored: the service has to answer first,
// unless the settings are right in any case.
func (s *Session) ForgetsRejections() bool {
	o := s.opened
	isSure := o.options.KeepGoing || !o.options.Service.Hosted || o.standing.State() == client.Answering
	return o.counters.Rejections.Load() > 0 && !isSure
}

// Shard is the shard that the run is; zero for a run of its own.
func (s *Session) Shard() account.Shard { return s.opened.options.Shard }

// Counts gives the run's counters. Counts may be called while the run goes on.
func (s *Session) Counts() account.Snapshot { return s.opened.counters.Snapshot() }

// Cost is what the run has cost so far; nil without a price, and before the run asks.
func (s *Session) Cost() *money.Cost {
	r := s.running.Load()
	if r == nil {
		return nil
	}
	return r.account.CostOf(r.counters.Snapshot())
}

// Progress says how far the run is. It may be called from several goroutines and at any time; before the call of Watch
// the state is Starting. The rates are measured from call to call. During a run that asks, the service is asked for the
// quota each minute, in the background.
func (s *Session) Progress() Progress {
	if r := s.running.Load(); r != nil {
		return r.progress()
	}
	return starting(s.opened)
}

// Status is how far the run is, as the file of StatusPath says, and with Details. It may be called from several
// goroutines and at any time: before the call of Watch the state is Starting, and after Run the status says how the run
// has ended.
func (s *Session) Status() account.Status {
	if final := s.final.Load(); final != nil {
		return *final
	}
	if r := s.running.Load(); r != nil {
		return r.statusOf(r.progress(), r.account, r.limits.Learned().String())
	}
	a := s.opened.newAccount()
	a.Started = s.opened.began.UTC()
	return s.opened.statusOf(starting(s.opened), a, "")
}

// LastUsage asks the service, for 3 seconds at most, how much quota is left, and gives what the service
// said last, with the time since: 0 if the service has just said so. In a hurry the service is not asked. The usage is zero if the service
// did not say at the run's beginning either, or nothing was to be asked.
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
	Stdin string // the file to give as standard input: "" for none, "-" for the same file or pipe as before, which was not kept
	Cut   bool   // the pipe had not ended, so that Stdin holds only its beginning
}

// Resumption says how the run goes on after an error of Run; false if the same run gets no further:
// no answers are kept, or the options, the input or the service have to change
// first.
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
