package flow

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/limits"
)

// workers is the state that the workers of the stage ask share. A worker that finds a task and may ask
// at once does so. One idle worker dispatches: it waits for a task and for the permit to ask, and then
// lets another dispatch. A worker starts when none is idle, so that there is at most one worker more than
// requests were in flight at once.
type workers struct {
	dispatching chan struct{} // of capacity 1: holds a token while a worker dispatches
	idle        atomic.Int64  // workers that wait to dispatch
	waker       *ask.Waker    // of the dispatcher

	mu     sync.Mutex
	firsts []*task // taken from work, and not asked yet
}

func (w *workers) init() {
	w.dispatching, w.waker = make(chan struct{}, 1), ask.NewWaker()
}

// ask is one worker.
func (r *run) ask() error {
	for {
		t, permit, ok := r.next()
		if !ok {
			return nil
		}
		if err := r.attempt(t, permit); err != nil {
			return err
		}
	}
}

// next returns a task with a permit; false when there will be none.
func (r *run) next() (*task, limits.Permit, bool) {
	w := &r.workers
	if now := time.Now(); r.parked.NoneDue(now) && r.soft.Err() == nil {
		select {
		case t := <-r.work:
			if permit, ok := r.Limits.Try(now); ok {
				r.replaceDispatcher()
				return t, permit, true
			}
			w.push(t)
			w.waker.Wake()
		default:
		}
	}
	w.idle.Add(1)
	w.dispatching <- struct{}{}
	defer func() { <-w.dispatching }()
	w.idle.Add(-1)
	return r.dispatch()
}

// dispatch waits until there is a task with a permit; false when there will be none.
func (r *run) dispatch() (*task, limits.Permit, bool) {
	for r.soft.Err() == nil {
		r.endSeries()
		now := time.Now()
		queue, due := r.queue(now)
		switch d := r.Limits.Next(now, queue); d.Action {
		case limits.SendFirst:
			r.replaceDispatcher()
			return r.workers.take(), d.Permit, true
		case limits.SendRetry:
			r.replaceDispatcher()
			return r.unpark(), d.Permit, true
		case limits.SendKnown:
			r.replaceDispatcher()
			return &task{Attempts: ask.Attempts{Request: *r.standing.Known()}, known: true}, d.Permit, true
		case limits.AskQuota:
			r.askQuota()
		case limits.Stop:
			r.stop(r.stopError(d.Err))
		default:
			if !r.await(now, d.For, due, queue.First) {
				return nil, limits.Permit{}, false
			}
		}
	}
	return nil, limits.Permit{}, false
}

// replaceDispatcher starts a worker if no other worker waits to dispatch.
func (r *run) replaceDispatcher() {
	if r.workers.idle.Load() == 0 && r.asking.live.Load() < int64(r.Limits.MostInFlight()) {
		r.start(r.asking, 1)
	}
}

// queue returns which tasks wait to be asked, and when the next parked task is due; zero if none is parked.
func (r *run) queue(now time.Time) (q limits.Queue, due time.Time) {
	w := &r.workers
	if q.First = w.hasFirsts(); !q.First {
		select {
		case t := <-r.work:
			w.push(t)
			q.First = true
		default:
		}
	}
	q.Proof, q.Known = true, r.standing.Known() != nil && r.Counters.Shared.Load() == 0 // a gateway has what was answered before
	failed, q, due := r.parked.Decide(now, r.Limits, q)
	for _, t := range failed {
		r.giveUp(t)
	}
	return q, due
}

// await waits for a while, until a parked task is due, or until something happens; false when no task will come.
func (r *run) await(now time.Time, wait time.Duration, due time.Time, first bool) bool {
	w := &r.workers
	work := r.work
	if first {
		work = nil
	}
	select {
	case t := <-work:
		w.push(t)
	case <-w.waker.Timer(now, wait, due):
	case <-w.waker.Woken():
	case <-r.noneOpen:
		return false
	case <-r.soft.Done():
		return false
	}
	return true
}

// push leaves a task to the dispatcher.
func (w *workers) push(t *task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.firsts = append(w.firsts, t)
}

// hasFirsts reports whether tasks are left to the dispatcher.
func (w *workers) hasFirsts() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.firsts) > 0
}

// take takes the first task that was left to the dispatcher.
func (w *workers) take() *task {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.firsts[0]
	w.firsts = w.firsts[1:]
	return t
}
