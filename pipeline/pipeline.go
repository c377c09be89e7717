package pipeline

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// run is the state that the stages share.
type run struct {
	Parts
	options Options

	window  *window
	pending chan *task // in input order, to the writer
	lookups chan *task // in input order, to be looked up
	work    chan *task // to be asked for the first time
	commits chan *task // answered, to be made durable

	rows      chan *rowBatch // in input order, to the sink
	written   chan *rowBatch // to be filled again
	flattened bool           // every record has its rows; set before rows is closed

	answerSize atomic.Int64 // bytes of an answer beyond a few entries, on average of late

	gathering gathering
	flights   flights
	turn      turn
	crew      crew
	refusals  refusals
	trouble   atomic.Pointer[client.Error] // the last failure

	open    atomic.Int64  // tasks that may still reach the workers, and 1 while tasks are looked up
	settled chan struct{} // closed when open is 0: the workers have nothing to wait for
	quiet   chan struct{} // closed when nothing is committed, and so no task finished, any more

	started time.Time
	readAll atomic.Bool // every record that the run is to read has been read

	soft context.Context // done when the run is to stop; requests in flight go on
	stop context.CancelCauseFunc
	asks context.Context // of the requests; outlives soft, and a failure elsewhere, by the grace period
}

// Run runs to the end, closes the sink if the run is complete and aborts it otherwise.
// When ctx ends the run stops softly: no new request, those in flight are drained. The
// error is nil, a *StopError, a *ServiceError, or a part's own.
func Run(ctx context.Context, parts Parts, options Options) (writer.Published, error) {
	if err := options.check(); err != nil {
		return writer.Published{}, errors.Join(err, parts.Sink.Abort())
	}
	options = options.withDefaults()
	if parts.Log == nil {
		parts.Log = slog.New(slog.DiscardHandler)
	}
	if parts.Limits == nil {
		parts.Limits = limits.New(limits.Options{Rate: math.Inf(1), InFlight: defaultInFlight}, time.Now())
	}
	g, hard := errgroup.WithContext(context.WithoutCancel(ctx))
	soft, stop := context.WithCancelCause(hard)
	defer stop(nil)
	defer context.AfterFunc(ctx, func() { stop(&StopError{Cause: Interrupted}) })()

	admitted := options.Window/taskOverhead + 1 // tasks that the window lets in at once, at most
	r := &run{
		Parts: parts, options: options,
		window:    newWindow(options.Window),
		pending:   make(chan *task, admitted),
		lookups:   make(chan *task, admitted),
		work:      make(chan *task, lookupBatch),
		commits:   make(chan *task, commitBatch),
		rows:      make(chan *rowBatch, 1),
		written:   make(chan *rowBatch, rowBatches),
		gathering: newGathering(),
		flights:   flights{leader: make(map[client.Request]*task)},
		turn:      turn{wake: make(chan struct{}, 1)},
		settled:   make(chan struct{}),
		quiet:     make(chan struct{}),
		started:   time.Now(),
		soft:      soft,
		stop:      stop,
	}
	r.turn.waiting = r.lend
	r.crew.init(g)
	r.open.Store(1)
	if parts.Interrupt != nil {
		defer context.AfterFunc(soft, parts.Interrupt)()
	}
	parts.Counters.Classifications.Store(int64(len(options.Classifications)))
	options.Manifest.count(parts.Counters)
	asks, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	r.asks = asks
	if parts.Store == nil { // what they bring would be lost with the run
		defer context.AfterFunc(hard, cancel)()
	}

	var published writer.Published
	r.stage(g, 1, r.read, func() { close(r.lookups); close(r.pending) })
	r.stage(g, runtime.NumCPU(), r.lookUp, r.leave)
	r.recruit()
	r.stage(g, 1, r.commit, func() { close(r.quiet); cancel() }) // nothing can be kept after it
	r.stage(g, 1, func() error { r.endGrace(cancel); return nil }, nil)
	if !options.FinishBy.IsZero() {
		r.stage(g, 1, func() error { r.finishBy(); return nil }, nil)
	}
	r.stage(g, 1, func() error { r.flatten(hard); return nil }, func() { close(r.rows) })
	r.stage(g, 1, func() (err error) { published, err = r.write(); return err }, nil)
	err := g.Wait()
	return published, err
}

// stage starts n goroutines of a stage; the last to end calls then, which closes what
// the stage sends on.
func (r *run) stage(g *errgroup.Group, n int, work func() error, then func()) {
	left := new(atomic.Int64)
	left.Store(int64(n))
	for range n {
		g.Go(func() (err error) {
			defer func() {
				if err != nil { // known before what follows from then: nobody takes the end for a good one
					r.stop(err)
				}
				if left.Add(-1) == 0 && then != nil {
					then()
				}
			}()
			return work()
		})
	}
}

// read makes tasks of each record while there is room in the window.
func (r *run) read() error {
	var tasks tasks
	var digest digest
	hash := xxhash.New()
	for r.options.Limit == 0 || r.Counters.Read.Load() < r.options.Limit {
		record, err := r.Source.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, reader.ErrInterrupted) { // by the caller, unless the run has stopped already
			r.stop(&StopError{Cause: Interrupted})
			return nil
		}
		if err != nil {
			return err
		}
		if m := r.options.Manifest; m != nil {
			digest = digest.next(hash, &record)
			if record.Number <= m.keptRecords() {
				if r.soft.Err() != nil {
					return nil
				}
				r.Counters.Read.Add(1)
				if err := m.check(record.Number, digest); err != nil {
					return err
				}
				continue
			}
		}
		r.Counters.Read.Add(1)
		for class := range r.options.Classifications {
			t := tasks.next(record, r.answerSize.Load())
			t.class, t.digest = class, digest
			if !r.admit(t) {
				return nil
			}
		}
	}
	if m := r.options.Manifest; m != nil {
		if err := m.checkEnd(r.Counters.Read.Load()); err != nil {
			return err
		}
	}
	r.readAll.Store(true)
	return nil
}

// admit lets a task into the window; false when the run has stopped.
func (r *run) admit(t *task) bool {
	if r.options.Strict {
		if err := r.check(t); err != nil { // in flight is only what comes before it
			r.stop(err)
			return false
		}
	}
	t.size = min(t.size, max(1, r.options.Window/nearPart)) // so that what is never lent admits one
	if r.window.acquire(r.soft, t.size) != nil {
		return false
	}
	r.pending <- t // never waits, nor does the next: there is room for all that the window lets in
	r.lookups <- t
	return true
}

// lend has the reader read further ahead when the writer waits for a task and none is left
// to be looked up: what there is to do meanwhile lies beyond. Whoever begins to wait calls it.
func (r *run) lend() {
	if len(r.lookups) == 0 && r.turn.awaited.Load() != nil {
		r.window.lend()
	}
}

// leave gives up one hold on the workers; the last lets them go.
func (r *run) leave() {
	open := r.open.Add(-1)
	if open == 0 {
		close(r.settled)
	}
	r.signalLast(open)
}

// land finishes a leader and its followers.
func (r *run) land(t *task) {
	t.answer.Release() // its body is in the store now, or of no further use
	for _, f := range r.flights.land(t) {
		f.answer, f.err, f.pending, f.recalled = t.answer, t.err, t.pending, t.recalled
		r.finish(f)
	}
	r.finish(t)
}

// finish counts what has become of a task's record, and hands the task to the writer.
func (r *run) finish(t *task) {
	r.Counters.countSettled(t, t.status(&r.options.Schema))
	r.turn.finish(t)
}

// finishBy stops the run before its deadline, with time to drain: the grace period, or
// a tenth of a short run's time.
func (r *run) finishBy() {
	left := time.Until(r.options.FinishBy)
	timer := time.NewTimer(left - min(r.options.Grace, left/10))
	defer timer.Stop()
	select {
	case <-timer.C:
		r.stop(&StopError{Cause: Deadline})
	case <-r.quiet:
	case <-r.soft.Done():
	}
}

// endGrace cuts requests off that are still in flight a while after the stop.
func (r *run) endGrace(cancel context.CancelFunc) {
	select {
	case <-r.quiet:
		return
	case <-r.soft.Done():
	}
	timer := time.NewTimer(r.options.Grace)
	defer timer.Stop()
	select {
	case <-r.quiet:
	case <-timer.C:
		cancel()
	}
}
