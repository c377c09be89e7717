package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/pipeline/attempts"
	"github.com/bulkcat/bulkcat/pipeline/cascade"
	"github.com/bulkcat/bulkcat/pipeline/flow"
	"github.com/bulkcat/bulkcat/pipeline/output"
	"github.com/bulkcat/bulkcat/pipeline/progress"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// Session is a whole run, from the lock on its output to its account. A Session holds what [flow.Run]
// needs (the input, the store, the limits, the sink), keeps two runs from writing one output, and
// has a run that is started again go on where the run before ended.
type Session struct {
	options   SessionOptions
	input     atomic.Pointer[reader.Reader] // of the present pass
	objects   *storage.Objects              // of the paths that are URLs
	lock      *disk.Lock                    // on the output; nil for standard output
	spool     *reader.Spool                 // nil unless standard input is a pipe that is kept
	interrupt func()                        // ends a read that waits for a pipe; nil without a pipe
	standing  *client.Standing              // of the service
	stopReads func()                        // ends the reads of object storage
	counters  *progress.Counters
	quota     *progress.Quota
	free      *cascade.Cascade // nil unless a model answers for nothing
	limits    *limits.Controller
	estimator progress.Estimator
	monitor   *progress.Monitor // nil until the output is claimed, and for standard output
	claimed   bool              // this run may write the output
	opened    time.Time
	asking    atomic.Bool     // account and limits are set
	account   *record.Account // nil before Run
	keepParts *int            // of the parts of an earlier run, so many are of the present input; nil while all may be
	unread    error           // of the output, which could not be checked
	final     atomic.Pointer[record.Status]
	total     progress.Total // records of the run
}

// Open checks the options, locks the output and opens the input. Nothing is asked and no output is
// touched. The errors are *OptionError (several may be joined), *places.OverwriteError, *disk.BusyError
// while another process writes the output, and those of reader.Open. When ctx ends while Open waits
// for a pipe, the error is ctx's cause. The caller closes the session.
func Open(ctx context.Context, options SessionOptions) (*Session, error) {
	if err := options.checkParts(); err != nil {
		return nil, err
	}
	objects := storage.Own(ctx)
	options, err := options.withoutURLParameters(objects.TakeParameters)
	if err != nil {
		return nil, err
	}
	s := newSession(options)
	s.objects, s.options.Input.Storage = objects, objects
	if err := s.open(storage.With(ctx, objects)); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func newSession(options SessionOptions) *Session {
	s := &Session{options: options.withDefaults().inShard(), counters: new(progress.Counters), opened: time.Now()}
	service := &s.options.Service
	s.standing, service.Categorizer, service.Usage = client.Observe(service.Categorizer, service.Usage)
	s.options.shareQuota()
	if options.Details {
		s.counters.GatherDetails()
	}
	s.quota = progress.NewQuota(service.Usage, service.Hosted, s.counters, s.options.Log)
	return s
}

func (s *Session) open(ctx context.Context) (err error) {
	o := &s.options
	if o.Output.Path != "-" {
		if err := o.Output.CheckStream(); err != nil {
			return err
		}
		if err := o.makeFolder(); err != nil {
			return err
		}
		if s.lock, err = disk.TryLock(storage.Local(o.Output.Path)); err != nil {
			return err
		}
	}
	if err := s.openSpool(ctx); err != nil {
		return err
	}
	return s.openInput(ctx)
}

// Close releases the input and the output. The copy of standard input is removed if the session
// did not get as far as to claim the output.
func (s *Session) Close() error {
	var err error
	if s.stopReads != nil {
		s.stopReads()
	}
	if input := s.input.Load(); input != nil {
		err = input.Close()
	}
	if s.spool != nil && !s.claimed {
		err = errors.Join(err, s.spool.Close(), s.spool.Remove())
		s.spool = nil
	}
	s.lock.Release()
	return err
}

// Run asks for all records that have no answer yet, writes the output, and leaves an account beside
// the output however the run ends, unless another machine has published the output meanwhile. Run may be called once. When
// ctx ends, the run stops: requests in flight get the grace period, and their answers are stored.
//
// The account is nil if the output belongs to another run: nothing was asked then, and the error is an
// *[OutputTakenError], a *[record.ShardCountError] or a *[record.ShardsTakenError]. Other errors are *[OptionError],
// *[NoStoreError], *[StopError], *[ServiceError], *[MisconfiguredError], *[UnreachableError], *[InputChangedError], and those
// of the store, the input and the output. The error is an *expect.BrokenError if the output breaks an expectation: it is
// published, unless the error says that it was held back. With a nil error the output is complete; records may still be
// without an answer: see [record.Snapshot.Unanswered].
func (s *Session) Run(ctx context.Context) (*record.Account, error) {
	ctx = storage.With(ctx, s.objects)
	account := s.newAccount()
	options := s.runOptions(account.Settings)
	options.Judge = s.judge(account)
	if err := s.carry(account, &options); err != nil {
		return nil, err
	}
	s.account = account
	out, cancel := s.outputContext(ctx)
	defer cancel()
	last, isSame := s.follow(ctx, account)
	if isSame {
		s.warnChanged(account, last)
	}
	s.bound(account)
	if isSame && options.Offline && !s.options.Output.IsFolder() {
		before := last.Outcomes()
		options.CheckCounts = func(c record.Snapshot) error {
			return s.options.Output.CheckFewer(before, c.OK+c.Empty+c.Rejected, c.Pending)
		}
	}
	if s.isEmpty(ctx) {
		if err := s.options.Output.CheckEmptied(ctx, last); err != nil {
			return nil, err
		}
	}
	published, err := s.ask(ctx, out, account, options)
	if !s.claimed {
		return nil, causeOf(ctx, err) // the output has an account of its own
	}
	account.Inputs = s.readInputs()
	err = s.inMoney(givenUp(out, interruptedByPipe(err)))
	var broken error
	if err == nil {
		broken = s.expected(ctx, account)
	}
	account.Finish(EndingOf(err), err, s.counters.Snapshot(), published)
	s.end(err)
	if !isReplaced(err) { // else the account there is that of the output
		if unpublished := givenUp(out, s.publish(out, account)); unpublished != nil {
			err = errors.Join(err, unpublished)
			s.end(err)
		}
	}
	if s.monitor != nil {
		s.monitor.Close(s.lock.Claimed() == "")
	}
	err = errors.Join(err, s.endSpool(err == nil))
	if c := account.Counts; err == nil && c.Failed+c.Pending == 0 {
		err = s.removeReadSpool()
	}
	return account, cmp.Or(err, broken)
}

// isEmpty reports whether the input has no records. It waits for the first, until ctx ends.
func (s *Session) isEmpty(ctx context.Context) bool {
	defer context.AfterFunc(ctx, s.endReading)()
	return s.input.Load().Empty()
}

// outputGrace is the time after the grace period in which the output, or what is left of it, and the account can still be
// published. A storage that answers needs a second.
const outputGrace = 5 * time.Second

// outputContext returns the context of the calls that write to object storage. It outlives ctx, so that the run ends in
// order, but not by long: a storage that does not answer does not hold the run.
func (s *Session) outputContext(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	most := s.options.Grace + outputGrace
	forget := context.AfterFunc(ctx, func() {
		end := time.AfterFunc(most, func() {
			cancel(&StopError{Cause: record.Interrupted, Err: fmt.Errorf("the storage did not answer within %v of the interruption", most)})
		})
		context.AfterFunc(out, func() { end.Stop() })
	})
	return out, func() { forget(); cancel(nil) } // a context that lives on keeps nothing of the session
}

// givenUp returns the error of a call with the context of the output: the reason for which the storage was given up, if
// it was. The run that was interrupted can be resumed.
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
	return &StopError{Cause: record.Interrupted, Err: err}
}

// ask opens the store, claims the output and runs the stages.
func (s *Session) ask(ctx, out context.Context, account *record.Account, options flow.Options) (published writer.Published, err error) {
	o := &s.options
	if o.Shard != (record.Shard{}) {
		if err := record.JoinShards(ctx, o.folderOfShards(), o.Shard, account); err != nil {
			return published, err
		}
	}
	store, err := s.openStore(options.Offline)
	if err != nil {
		return published, err
	}
	parts := flow.Parts{
		Source: s.input.Load(), Interrupt: s.endReading, Categorizer: o.Service.Categorizer, CloseIdle: o.Service.CloseIdle, Usage: s.quota.Ask,
		Each: o.Each, Log: o.Log, Counters: s.counters,
	}
	if store != nil {
		defer func() { err = joinClose(err, store.Close()) }()
		parts.Store, account.Store = store, store.Path()
	}
	defer func() { err = joinClose(err, parts.Attempts.Close()) }()
	if err := s.prepare(ctx, out, account, &parts, &options); err != nil {
		return published, err
	}
	s.asking.Store(true)
	ended := func() {}
	if o.Watch != nil {
		defer s.startCount(ctx)()
		ended = o.Watch(s)
	}
	s.monitor.Start()
	published, err = s.passes(ctx, out, account, parts, options)
	s.monitor.Stop()
	ended()
	s.warnUnknownKeys()
	s.warnMisfits()
	if options.Refresh != nil && err == nil {
		err = options.Refresh.End(parts.Store)
	}
	return published, joinClose(err, s.keepLearned(parts))
}

// prepare makes the output this run's, and completes the parts and the options of the engine.
func (s *Session) prepare(ctx, out context.Context, account *record.Account, parts *flow.Parts, options *flow.Options) (err error) {
	o := &s.options
	if err := s.findEarlier(ctx); err != nil {
		return err
	}
	if err := s.claim(ctx, account); err != nil {
		return err
	}
	if d := account.FinishBy; d != nil && !options.Offline && !time.Now().Before(d.At) {
		return &StopError{Cause: record.Deadline, Err: &record.PassedError{FinishBy: *d}}
	}
	if s.lock != nil {
		s.monitor = progress.NewMonitor(account, s.counters, s.Progress, o.Log)
	}
	if o.Service.Hosted {
		parts.Attempted = s.monitor.Attempted
		if o.Limits.MaxRequests > 0 {
			parts.Begins = s.monitor.Begins
		}
	}
	if o.Requests != "" {
		if parts.Attempts, err = attempts.Open(o.Requests, account.RunID(), o.Output.Overwrite); err != nil {
			return &OptionError{Option: "Requests", Err: err}
		}
		parts.Price = o.Price.Request
	}
	options.FinishBy = s.finishBy()
	if options.Refresh, err = s.startRefresh(ctx, parts.Store, *options, account.RunID()); err != nil {
		return err
	}
	if err := s.startFree(ctx, parts.Store, options, account); err != nil {
		return err
	}
	if !options.Offline {
		if err := s.warnElsewhere(ctx, parts.Store, *options); err != nil {
			return err
		}
		if err := s.checkQuota(ctx, parts.Store, *options); err != nil {
			return err
		}
		s.shareLimits()
	}
	if s.limits, err = s.newLimits(*parts); err != nil {
		return err
	}
	parts.Limits = s.limits
	return s.openOutput(ctx, out, account, parts, options)
}

// claim makes the output and the copy of standard input this run's.
func (s *Session) claim(ctx context.Context, account *record.Account) error {
	if err := s.options.Output.Claim(ctx, account, s.lock); err != nil {
		return err
	}
	s.claimed = true
	if s.spool != nil {
		return s.spool.Keep()
	}
	return nil
}

// runOptions are the options of the engine.
func (s *Session) runOptions(settings record.Settings) flow.Options {
	o := &s.options
	options := o.requests()
	options.SourceName, options.Basis = o.Service.Name, client.BasisService
	if !o.Service.Hosted {
		options.Basis = client.BasisPage // only answers of pages are stored
	}
	options.WaitForQuota = o.Limits.WaitForQuota
	options.KeepGoing = o.KeepGoing || !o.Service.Hosted
	options.Offline = o.Offline && !o.Service.Free
	options.Schema = settings.Schema()
	options.Typed = o.Output.Content() == writer.Parquet
	return options
}

// carry finds the carried columns in the input.
func (s *Session) carry(account *record.Account, options *flow.Options) (err error) {
	options.Carry, options.Schema.Carry, options.Schema.CarryTypes, err = s.options.Output.Carried(s.input.Load())
	account.Carried = output.CarriedBy(options.Schema)
	return err
}

// openOutput opens the sink, unless only the caller takes the answers.
func (s *Session) openOutput(ctx, out context.Context, account *record.Account, parts *flow.Parts, options *flow.Options) (err error) {
	o := &s.options
	if o.noOutput {
		return nil
	}
	if options.Folder, err = o.Output.OpenFolder(out, account, s.keeps()); err != nil {
		return err
	}
	if o.Store.RefreshBudget > 0 {
		if err := options.Folder.KeepEnds(); err != nil {
			return err
		}
	}
	parts.Sink, err = o.Output.Open(out, options.Schema, account.Settings.Metadata(), options.Folder, s.checkOf(ctx, account))
	return err
}

// keeps returns the function that says which parts of an earlier run are kept: it is called for each in order, while it
// is true.
func (s *Session) keeps() func(record.Statuses) bool {
	parts := 0
	return func(statuses record.Statuses) bool {
		parts++
		return (s.keepParts == nil || parts <= *s.keepParts) && s.options.Store.keeps(statuses)
	}
}

// publish leaves the account, which from then on says which run has written the output.
func (s *Session) publish(ctx context.Context, account *record.Account) error {
	if s.lock == nil {
		return nil
	}
	var err error
	if account.Timeline, err = record.Timeline(record.JournalPath(s.options.Output.Path), account); err != nil {
		s.options.Log.Warn("the account has no time line of this start", "reason", err)
	}
	err = account.Write(ctx, record.AccountPath(s.options.Output.Path))
	if err == nil {
		s.lock.DropClaim()
	}
	return err
}

// isReplaced reports whether a run failed because another machine has published the output meanwhile.
func isReplaced(err error) bool {
	_, writing := errors.AsType[*disk.Error](err)
	return writing && errors.Is(err, storage.ErrChanged)
}

// joinClose adds the error of a store's last calls, unless err has it already: a store that failed
// repeats its error.
func joinClose(err, closing error) error {
	if errors.Is(err, closing) {
		return err
	}
	return errors.Join(err, closing)
}

// AccountPath is the path of the run's account; "" if the run leaves none.
func (s *Session) AccountPath() string { return record.AccountPath(s.options.Output.Path) }

// Cost is what the run has cost so far; nil without a price, and before the run asks.
func (s *Session) Cost() *money.Cost {
	if !s.asking.Load() {
		return nil
	}
	return s.account.CostOf(s.counters.Snapshot())
}

// finishBy is the deadline of the run; zero if there is none.
func (s *Session) finishBy() time.Time {
	if s.account.FinishBy == nil {
		return time.Time{}
	}
	return s.account.FinishBy.At
}

// Shard is the shard that the run is; zero for a run of its own.
func (s *Session) Shard() record.Shard { return s.options.Shard }

// Counts gives the run's counters. Counts may be called while the run goes on.
func (s *Session) Counts() record.Snapshot { return s.counters.Snapshot() }
