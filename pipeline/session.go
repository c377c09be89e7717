package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/progress"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Session is a whole run, from the lock on its output to its account. A Session holds what [Run]
// needs (the input, the store, the limits, the sink), keeps two runs from writing one output, and
// has a run that is started again go on where the run before ended.
type Session struct {
	options   SessionOptions
	input     *reader.Reader
	lock      *writer.Lock  // on the output; nil for standard output
	spool     *reader.Spool // nil unless standard input is a pipe that is kept
	interrupt func()        // ends a read that waits for a pipe; nil without a pipe
	stopReads func()        // ends the reads of object storage
	counters  *progress.Counters
	quota     *quota
	limits    *limits.Controller
	eta       eta
	monitor   *monitor // nil until the output is claimed, and for standard output
	claimed   bool     // this run may write the output
	opened    time.Time
	asking    atomic.Bool     // account and limits are set
	account   *record.Account // nil before Run
	final     atomic.Pointer[record.Status]
	records   total        // of the input
	total     atomic.Int64 // see Progress.Total, as estimated last
}

// Open checks the options, locks the output and opens the input. Nothing is asked and no output is
// touched. The errors are *OptionError (several may be joined), *places.OverwriteError, *writer.BusyError
// while another process writes the output, and those of reader.Open. When ctx ends while Open waits
// for a pipe, the error is ctx's cause. The caller closes the session.
func Open(ctx context.Context, options SessionOptions) (*Session, error) {
	if err := options.checkParts(); err != nil {
		return nil, err
	}
	s := newSession(options)
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func newSession(options SessionOptions) *Session {
	s := &Session{options: options.withDefaults().inShard(), counters: new(progress.Counters), opened: time.Now()}
	s.options.shareQuota()
	if options.Details {
		s.counters.GatherDetails()
	}
	s.quota = newQuota(s.options.Service, s.counters, s.options.Log)
	return s
}

func (s *Session) open(ctx context.Context) (err error) {
	o := &s.options
	if o.Output.Path != "-" {
		if err := o.Output.checkStream(); err != nil {
			return err
		}
		if err := o.makeFolder(); err != nil {
			return err
		}
		if s.lock, err = writer.TryLock(storage.Local(o.Output.Path)); err != nil {
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
	if s.input != nil {
		err = s.input.Close()
	}
	if s.spool != nil && !s.claimed {
		err = errors.Join(err, s.spool.Close(), s.spool.Remove())
		s.spool = nil
	}
	s.lock.Release()
	return err
}

// Run asks for all records that have no answer yet, writes the output, and leaves an account beside
// the output however the run ends, unless another machine has published the output meanwhile. Run may be called once. When ctx ends, the run stops: requests in
// flight get the grace period, and their answers are stored.
//
// The account is nil if the output belongs to another run: nothing was asked then, and the error is an
// *[OutputTakenError], a *[record.ShardCountError] or a *[ShardsTakenError]. Other errors are *[OptionError], *[NoStoreError], *[StopError],
// *[ServiceError], *[MisconfiguredError], *[UnreachableError], *[InputChangedError], and those of the store, the input and the output. With a
// nil error the output is complete; records may still be without an answer: see [record.Snapshot.Unanswered].
func (s *Session) Run(ctx context.Context) (*record.Account, error) {
	account := s.newAccount()
	options, err := s.runOptions(account.Settings)
	if err != nil {
		return nil, err
	}
	account.Carried = carriedOf(options.Schema)
	s.account = account
	out, cancel := s.outputContext(ctx)
	defer cancel()
	last, err := record.ReadAccount(ctx, record.AccountPath(s.options.Output.Path))
	if err != nil {
		s.options.Log.Warn("the account does not count the earlier runs", "reason", err)
	}
	if account.Follow(last) {
		s.warnChanged(account, last)
	}
	if s.isEmpty(ctx) {
		if err := s.options.Output.checkEmptied(ctx, last); err != nil {
			return nil, err
		}
	}
	published, err := s.ask(ctx, out, account, options)
	if !s.claimed {
		return nil, causeOf(ctx, err) // the output has an account of its own
	}
	account.Inputs = s.readInputs()
	err = givenUp(out, err)
	account.Finish(EndingOf(err), err, s.counters.Snapshot(), published)
	if !isReplaced(err) { // else the account there is that of the output
		err = errors.Join(err, givenUp(out, s.publish(out, account)))
	}
	s.monitor.end(err)
	s.end(err)
	err = errors.Join(err, s.endSpool(err == nil))
	if c := account.Counts; err == nil && c.Failed+c.Pending == 0 {
		err = s.removeReadSpool()
	}
	return account, err
}

// isEmpty reports whether the input has no records. It waits for the first, until ctx ends.
func (s *Session) isEmpty(ctx context.Context) bool {
	defer context.AfterFunc(ctx, s.endReading)()
	return s.input.Empty()
}

// outputGrace is the time after the grace period in which the output, or what is left of it, and the account can still be
// published. A storage that answers needs a second.
const outputGrace = 5 * time.Second

// outputContext returns the context of the calls that write to object storage. It outlives ctx, so that the run ends in
// order, but not by long: a storage that does not answer does not hold the run.
func (s *Session) outputContext(ctx context.Context) (context.Context, context.CancelFunc) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	most := cmp.Or(s.options.Grace, defaultGrace) + outputGrace
	context.AfterFunc(ctx, func() {
		end := time.AfterFunc(most, func() {
			cancel(&StopError{record.Interrupted, fmt.Errorf("the storage did not answer within %v of the interruption", most)})
		})
		context.AfterFunc(out, func() { end.Stop() })
	})
	return out, func() { cancel(nil) }
}

// givenUp returns the error of a call with the context of the output: the reason for which the storage was given up, if
// it was. The run that was interrupted can be resumed.
func givenUp(out context.Context, err error) error {
	stop, is := errors.AsType[*StopError](context.Cause(out))
	if !is || !errors.Is(err, context.Canceled) {
		return err
	}
	return &StopError{stop.Cause, fmt.Errorf("%w: %w", stop.Err, err)}
}

// ask opens the store, claims the output and runs the stages.
func (s *Session) ask(ctx, out context.Context, account *record.Account, options Options) (published writer.Published, err error) {
	o := &s.options
	if err := s.joinShards(ctx, account); err != nil {
		return published, err
	}
	store, err := s.openStore(ctx, options.Offline)
	if err != nil {
		return published, err
	}
	parts := Parts{Source: s.input, Interrupt: s.endReading, Categorizer: o.Service.Categorizer, Usage: s.quota.ask, Each: o.Each, Log: o.Log, counters: s.counters}
	if store != nil {
		defer func() {
			account.Overlapped = store.Overlapped()
			err = joinClose(err, store.Close())
		}()
		parts.Store, account.Store = store.Store, store.Dir
		stop, err := s.startBackup(ctx, out, store, options.Offline)
		if err != nil {
			return published, err
		}
		defer func() { account.Backup = stop() }()
	}
	if err := s.claim(ctx, account); err != nil {
		return published, err
	}
	s.monitor = newMonitor(s, account)
	if o.Service.Hosted {
		parts.Attempted = s.monitor.attempted
	}
	if options.refresh, err = s.startRefresh(ctx, parts.Store, options, account.RunID()); err != nil {
		return published, err
	}
	if !options.Offline {
		if err := s.checkQuota(ctx, parts.Store, options); err != nil {
			return published, err
		}
		s.shareLimits()
		options.reached = s.quota.known()
	}
	if s.limits, err = s.newLimits(parts); err != nil {
		return published, err
	}
	parts.Limits = s.limits
	if options.manifest, err = o.Output.manifest(out, account, &o.Store); err != nil {
		return published, err
	}
	if parts.Sink, err = o.Output.open(out, options.Schema, account.Settings.Metadata(), options.manifest); err != nil {
		return published, err
	}
	s.asking.Store(true)
	ended := func() {}
	if o.Watch != nil {
		defer s.startCount(ctx)()
		ended = o.Watch(s)
	}
	s.monitor.start()
	published, err = Run(ctx, parts, options)
	s.monitor.stop()
	ended()
	s.warnUnknownKeys()
	s.warnMisfits()
	if options.refresh != nil {
		err = joinClose(err, options.refresh.End(parts.Store, err == nil))
	}
	return published, joinClose(err, s.keepLearned(parts))
}

// claim makes the output and the copy of standard input this run's.
func (s *Session) claim(ctx context.Context, account *record.Account) error {
	if err := s.options.Output.claim(ctx, account, s.lock); err != nil {
		return err
	}
	s.claimed = true
	if s.spool != nil {
		return s.spool.Keep()
	}
	return nil
}

func (s *Session) runOptions(settings record.Settings) (Options, error) {
	o := &s.options
	carry, places, err := o.Output.carried(s.input.Columns())
	if err != nil {
		return Options{}, err
	}
	schema := settings.Schema()
	schema.Carry, schema.CarryTypes = carry, s.carryTypes(places)
	options := o.requests()
	options.Retry = o.Retry
	options.SourceName = o.Service.Name
	options.WaitForQuota = o.Limits.WaitForQuota
	options.FinishBy = o.FinishBy
	options.Strict = o.Strict
	options.KeepGoing = o.KeepGoing || !o.Service.Hosted
	options.Offline = o.Offline && !o.Service.Free
	options.Grace, options.Hurry = o.Grace, o.Hurry
	options.Schema, options.Carry = schema, places
	if o.Output.content() == writer.Parquet {
		options.types = schema.CarryTypes
	}
	return options, nil
}

// openStore gives nil where there is no place for a store, or nothing to store.
func (s *Session) openStore(ctx context.Context, offline bool) (*stores.Store, error) {
	o := &s.options
	if o.inStateFolder() {
		if err := stores.MakeStateFolder(!offline); err != nil {
			return nil, err
		}
	}
	stored, ok := o.stored()
	stored.MustExist, stored.Log = offline && o.Service.Hosted, o.Log
	if o.Store.Backup != "" {
		stored.Restore = func(dir string) error { return s.restore(ctx, dir) }
	}
	if stored.MustExist && !ok {
		return nil, &NoStoreError{Output: o.Output.Path}
	}
	if !ok || !o.keepsAnswers() {
		if o.Store.Backup != "" {
			return nil, &OptionError{"Store.Backup", errors.New("the answers of this run cost nothing and are not stored: name a store, or leave the option out")}
		}
		return nil, nil
	}
	store, err := stores.Open(ctx, stored)
	if err == nil && o.inStateFolder() {
		o.Log.Info("the output is a stream, so the answers are kept in the state folder of the user", "store", store.Dir)
	}
	return store, err
}

// trial is how many requests are in flight before the first answer: if the answers do not fit, few are paid for in
// vain.
const trial = 3

// newLimits gives the limits of the run. The embedded service has none, so that nothing has to be
// learned.
func (s *Session) newLimits(parts Parts) (*limits.Controller, error) {
	o, service := s.options.Limits, &s.options.Service
	o.CanAsk = s.quota.known()
	if service.Hosted {
		o.Trial = trial
	}
	if service.Hosted && o.Rate == 0 && parts.Store != nil {
		learned, err := parts.Store.Learned()
		if err != nil {
			return nil, err
		}
		o.Learned = learned
		s.options.Log.Debug("learned by an earlier run", "limits", learned)
	}
	if service.Hosted && o.Rate == 0 && o.Learned.Rate == 0 {
		o.Learned.Rate = service.Rate
	}
	return limits.New(o, time.Now()), nil
}

// keepLearned leaves what was learned to the next run.
func (s *Session) keepLearned(parts Parts) error {
	if parts.Store == nil {
		return nil
	}
	learned := parts.Limits.Learned()
	if learned.Rate == 0 {
		return nil
	}
	s.options.Log.Debug("learned", "limits", learned)
	return parts.Store.KeepLearned(learned)
}

// publish leaves the account, which from then on says which run has written the output.
func (s *Session) publish(ctx context.Context, account *record.Account) error {
	if s.lock == nil {
		return nil
	}
	err := account.Write(ctx, record.AccountPath(s.options.Output.Path))
	if err == nil {
		s.lock.DropClaim()
	}
	return err
}

// isReplaced reports whether a run failed because another machine has published the output meanwhile.
func isReplaced(err error) bool {
	_, writing := errors.AsType[*writer.Error](err)
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

// warnUnknownKeys warns of members of JSON objects that came too late to become columns.
func (s *Session) warnUnknownKeys() {
	if names, records := s.input.UnknownKeys(); records > 0 {
		s.options.Log.Warn("no column carries some members of records, because the beginning of the input does not have them: name them in the option carry",
			"members", strings.Join(names, ","), "records", records)
	}
}

// AccountPath is the path of the run's account; "" if the run leaves none.
func (s *Session) AccountPath() string { return record.AccountPath(s.options.Output.Path) }

// Shard is the shard that the run is; zero for a run of its own.
func (s *Session) Shard() record.Shard { return s.options.Shard }

// Counts gives the run's counters. Counts may be called while the run goes on.
func (s *Session) Counts() record.Snapshot { return s.counters.Snapshot() }

// LastUsage asks the service, for 3 seconds at most, how much quota is left, and gives what the service
// said last, with the time since: 0 if the service has just said so. In a hurry the service is not asked. The usage is zero if the service
// did not say at the run's beginning either, or nothing was to be asked.
func (s *Session) LastUsage() (usage client.Usage, since time.Duration) {
	if s.options.Offline {
		return client.Usage{}, 0
	}
	select {
	case <-s.options.Hurry:
		return s.quota.final(false)
	default:
		return s.quota.final(true)
	}
}
