package flow

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/pprof"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/writer"
)

// run is the state that the stages share.
type run struct {
	Parts
	options Options

	window     *window
	pending    chan *task                 // in input order, to the stage flatten
	lookups    chan *task                 // in input order, to the stage look up
	work       chan *task                 // tasks without a stored answer, to the stage claim
	commits    chan *task                 // answered or rejected tasks, to the stage commit
	committing atomic.Pointer[committing] // nil while nothing is committed

	rows      chan *rowBatch // in input order, to the stage write
	written   chan *rowBatch // empty batches, back to the stage flatten
	flattened bool           // every record has its rows; set before rows is closed

	answerSize atomic.Int64 // average bytes of the entries of recent answers beyond fewEntries

	lookupOrder lookupOrder
	joins       joins
	claims      claims
	completion  completion
	dispatcher  *ask.Dispatcher[*task]
	sends       chan send // to idle workers of the stage ask, which closes the channel
	rejections  rejections
	standing    *client.Standing // of the service
	silence     silence
	slow        atomic.Bool // the log has the warning that the timeout is short
	limited     atomic.Bool // the log has the notice that the service limits the run

	open     atomic.Int64       // tasks that may still be asked, and 1 while tasks are looked up
	asked    context.Context    // done when open is 0, or when the run is to stop: no further task is asked
	allAsked context.CancelFunc // cancels asked when open is 0
	quiet    chan struct{}      // closed when the stage commit has ended: no further task is completed

	failedAudit atomic.Pointer[error] // the error of Options.Free.Count: the rows must not be published

	started time.Time
	readAll atomic.Bool // every record that the run is to read has been read

	group  *errgroup.Group
	asking *stage          // the stage ask: the dispatcher, and as many workers as requests were in flight at once
	soft   context.Context // done when the run is to stop; requests in flight continue
	stop   context.CancelCauseFunc
	asks   context.Context // of the requests; outlives soft and a failure of the run by the grace period
}

// Run reads all records, asks for the answers and writes the rows. It closes the sink if the run is complete, and otherwise
// aborts the sink. When ctx ends, the run stops: requests in flight get the grace period, and their answers are stored. The
// error is nil, a *[StopError], a *[ServiceError], a *[MisconfiguredError], an *[UnreachableError], an
// *[output.InputChangedError], or that of a part, of Judge, of CheckCounts or of Options.Free.
func Run(ctx context.Context, parts Parts, options Options) (writer.Published, error) {
	parts, options = parts.withDefaults(), options.withDefaults()
	if got, want := len(options.Carry), len(options.Schema.Carry); got != want {
		err := fmt.Errorf("Options.Carry has %d indexes for the %d columns of Schema.Carry", got, want)
		return writer.Published{}, errors.Join(err, parts.Sink.Abort())
	}
	group, hard := errgroup.WithContext(context.WithoutCancel(ctx))
	soft, stop := context.WithCancelCause(hard)
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(errInterrupted) })()
	defer context.AfterFunc(soft, func() { parts.Counters.Finishing.Store(true) })()
	asks, cutOff := context.WithCancel(context.WithoutCancel(ctx))
	defer cutOff()
	if parts.Store == nil { // without a store the answers would be lost with the run
		defer context.AfterFunc(hard, cutOff)()
	}
	if parts.Interrupt != nil {
		defer context.AfterFunc(soft, parts.Interrupt)()
	}

	admitted := options.Window/taskOverhead + 1 // the maximum number of tasks in the window
	r := &run{
		Parts: parts, options: options,
		window:      newWindow(options.Window),
		pending:     make(chan *task, admitted),
		lookups:     make(chan *task, admitted),
		work:        make(chan *task, lookupBatch),
		commits:     make(chan *task, commitBounds.Outcomes),
		rows:        make(chan *rowBatch, 1),
		written:     make(chan *rowBatch, rowBatches),
		lookupOrder: newLookupOrder(),
		joins:       joins{asked: make(map[client.Request]*task)},
		claims:      newClaims(),
		quiet:       make(chan struct{}),
		sends:       make(chan send),
		started:     time.Now(),
		group:       group, soft: soft, stop: stop, asks: asks,
	}
	r.standing, r.Attempter, r.Usage = client.Observe(r.Attempter, r.Usage)
	r.completion = completion{wake: make(chan struct{}, 1), waiting: r.readAhead}
	r.dispatcher = ask.NewDispatcher(r, r.Limits)
	r.asked, r.allAsked = context.WithCancel(soft)
	defer r.allAsked()
	r.open.Store(1)
	parts.Counters.Classifications.Store(int64(len(options.Classifications)))
	options.Folder.Count(parts.Counters)

	var published writer.Published
	write := func() (err error) { published, err = r.write(); return err }
	r.asking = newStage("ask", 1, r.ask, func() { close(r.commits) })
	for _, s := range []*stage{
		newStage("read", 1, r.read, func() { close(r.lookups); close(r.pending) }),
		newStage("look up", runtime.NumCPU(), r.lookUp, r.taskEnded),
		newStage("claim", 1, r.claim, nil),
		r.asking,
		newStage("commit", 1, r.commit, func() { close(r.quiet); cutOff() }),
		newStage("flatten", 1, func() error { return r.flatten(hard) }, func() { close(r.rows) }),
		newStage("write", 1, write, nil),
		newStage("deadline", 1, r.finishBy, nil),
		newStage("grace period", 1, func() error { return r.endGrace(cutOff) }, nil),
	} {
		for range s.live.Load() {
			r.start(s, func() (err error) {
				pprof.Do(r.asks, pprof.Labels("stage", s.name), func(context.Context) { err = s.work() })
				return err
			})
		}
	}
	err := group.Wait()
	return published, err
}

// stage is one row of the table of stages.
type stage struct {
	name string // labels the goroutines in profiles
	work func() error
	then func()       // closes the channels that the stage sends on, after the last worker; may be nil
	live atomic.Int64 // workers
}

func newStage(name string, workers int, work func() error, then func()) *stage {
	s := &stage{name: name, work: work, then: then}
	s.live.Store(int64(workers))
	return s
}

// start starts a worker of a stage. The caller has counted the worker in live. A goroutine inherits the profile labels of the
// goroutine that starts it.
func (r *run) start(s *stage, work func() error) {
	r.group.Go(func() (err error) {
		defer func() {
			if err != nil { // before then closes channels, whose receivers would take the end for success
				r.stop(err)
			}
			if s.live.Add(-1) == 0 && s.then != nil {
				s.then()
			}
		}()
		return work()
	})
}

// finishBy stops the run before its deadline: earlier by the grace period, but at most by a tenth of the time to the deadline.
func (r *run) finishBy() error {
	if r.options.FinishBy.IsZero() {
		return nil
	}
	left := time.Until(r.options.FinishBy)
	timer := time.NewTimer(left - min(r.options.Grace, left/10))
	defer timer.Stop()
	select {
	case <-timer.C:
		r.stop(&StopError{Cause: account.Deadline})
	case <-r.quiet:
	case <-r.soft.Done():
	}
	return nil
}

// HurriedGrace is the longest grace period after Conduct.Hurry is closed: most answers come within that time.
const HurriedGrace = 2 * time.Second

// endGrace cuts off the requests that are in flight at the end of the grace period.
func (r *run) endGrace(cutOff context.CancelFunc) error {
	select {
	case <-r.quiet:
		return nil
	case <-r.soft.Done():
	}
	timer := time.NewTimer(r.options.Grace)
	defer timer.Stop()
	for hurry := r.options.Hurry; ; {
		select {
		case <-r.quiet:
			return nil
		case <-timer.C:
			cutOff()
			return nil
		case <-hurry:
			hurry = nil
			timer.Reset(min(r.options.Grace, HurriedGrace))
		}
	}
}
