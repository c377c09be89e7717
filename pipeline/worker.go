package pipeline

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/record"
)

// workers is the state that the workers of the stage ask share. A worker that finds a task and may ask
// at once does so. Of the others one dispatches: it waits for a task and for the permit to ask, and then
// lets another dispatch. A worker starts when none is idle, so that there is at most one worker more than
// requests were in flight at once.
type workers struct {
	dispatching chan struct{} // of capacity 1: holds a token while a worker dispatches
	idle        atomic.Int64  // workers that wait to dispatch
	wake        chan struct{} // of capacity 1: the dispatcher is to look again
	timer       *time.Timer   // the dispatcher's

	mu     sync.Mutex
	firsts []*task // taken from work, and not asked yet
}

func (w *workers) init() {
	w.dispatching, w.wake = make(chan struct{}, 1), make(chan struct{}, 1)
	w.timer = time.NewTimer(time.Hour)
	w.timer.Stop()
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

// next gives a task with a permit; false when there will be none.
func (r *run) next() (*task, limits.Permit, bool) {
	w := &r.workers
	if now := time.Now(); r.parking.noneDue(now) && r.soft.Err() == nil {
		select {
		case t := <-r.work:
			if permit, ok := r.Limits.Try(now); ok {
				r.replaceDispatcher()
				return t, permit, true
			}
			w.push(t)
			w.wakeUp()
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
			return &task{request: *r.rejections.known.Load(), known: true}, d.Permit, true
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

// queue says which tasks wait to be asked, and when the next parked task is due; zero if none is parked.
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
	for {
		t := r.parking.first()
		if t == nil {
			return q, time.Time{}
		}
		if t.due.After(now) {
			q.Later = !t.spent
			return q, t.due
		}
		if r.settleFailure(now, t, q) {
			q.Retry = true
			return q, t.due
		}
	}
}

// await waits for a while, or until something happens; false when no task will come.
func (r *run) await(now time.Time, wait time.Duration, due time.Time, first bool) bool {
	w := &r.workers
	if untilDue := due.Sub(now); untilDue > 0 && (wait == 0 || untilDue < wait) {
		wait = untilDue
	}
	if wait > 0 {
		w.timer.Reset(wait)
		defer w.timer.Stop()
	}
	work := r.work
	if first {
		work = nil
	}
	select {
	case t := <-work:
		w.push(t)
	case <-w.timer.C:
	case <-w.wake:
	case <-r.settled:
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

// hasFirsts says whether tasks are left to the dispatcher.
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

// wakeUp has the dispatcher look again.
func (w *workers) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// attempt asks once. Then the task is committed, parked for a retry, or completed. A quota or service
// error stops the run and leaves the task unfinished.
func (r *run) attempt(t *task, permit limits.Permit) error {
	if t.known {
		return r.recheck(t, permit)
	}
	answer, err := r.exchange(t)
	err = r.tolerate(t, err)
	result := client.ResultOf(answer, err)
	if r.doubts(err) {
		result.Signal = limits.Canceled // no more requests in flight than before
	}
	end := func() { r.report(r.Limits.End(time.Now(), permit, result)) }
	e, isError := errors.AsType[*client.Error](err)
	mayEnd := isError && r.mayEnd(e)
	if !mayEnd { // else no other request takes the place yet
		end()
	}
	if err := r.hear(time.Now(), err); err != nil {
		return err
	}
	switch {
	case err == nil:
		r.Counters.CountAnswer(answer)
		t.answer, t.err = answer, nil
		r.confirmBefore(t)
		r.save(t)
		return nil
	case isError:
	case r.asks.Err() != nil:
		r.Counters.CountCanceled()
		return nil
	default:
		return fmt.Errorf("ask for %s: %w", t.request.Input, err)
	}
	r.Counters.CountError(e)
	switch e.Class {
	case client.Rejected:
		t.err, t.answer.AnsweredAt = e, time.Now().UTC().Truncate(time.Microsecond)
		if err := r.hold(t, e); err != nil || !mayEnd {
			return err
		}
		end()
		return nil
	case client.Transient:
		r.parkFailed(t, e)
		return nil
	case client.Unsent:
		r.Log.Debug("request not sent", "record", t.record.Number, "error", e)
		t.attempts--
		r.park(t, 0)
		return nil
	case client.Quota:
		r.parkForQuota(t, e)
		return nil
	}
	return &ServiceError{Input: t.request.Input, Err: e}
}

// mayEnd reports whether an error may end the run: a few rejections do if the service has answered nothing.
func (r *run) mayEnd(e *client.Error) bool {
	switch e.Class {
	case client.Fatal, client.Auth:
		return true
	case client.Rejected:
		return r.rejections.known.Load() == nil
	}
	return false
}

func (r *run) exchange(t *task) (client.Answer, error) {
	r.Counters.Requests.Add(1)
	if t.attempts > 0 {
		r.Counters.Retries.Add(1)
	}
	t.attempts++
	t.sent = time.Now()
	r.Counters.InFlight.Add(1)
	defer func() {
		r.Counters.InFlight.Add(-1)
		r.Attempted()
	}()
	answer, err := r.Categorizer.Categorize(r.asks, t.request)
	r.Counters.ObserveAttempt(time.Since(t.sent))
	return answer, err
}

// waitForQuota says whether the run waits until there is quota again; else the run stops.
func (r *run) waitForQuota(e *client.Error) bool {
	if !r.options.WaitForQuota {
		r.stop(&StopError{Cause: record.QuotaExhausted, Err: e})
		return false
	}
	if wait, isNew := r.Limits.Exhausted(time.Now(), e.RetryAfter); isNew {
		r.Log.Warn("the quota is used up: waiting until there is quota again", "asked_in", wait.Round(time.Second).String(), "error", e)
	}
	return true
}

// askQuota asks how much quota is left, for the limits.
func (r *run) askQuota() {
	usage, err := r.Usage(r.soft)
	if r.soft.Err() != nil {
		return
	}
	if err == nil {
		_ = r.hear(time.Now(), nil)
	}
	account := limits.Quota{Err: err, Transient: client.ClassOf(err) == client.Transient}
	account.Left, account.Metered = usage.Requests()
	r.report(r.Limits.ReportQuota(time.Now(), account))
}

// report logs a change of the service, and wakes the dispatcher if a decision to wait may hold no longer.
func (r *run) report(change limits.Change) {
	switch change.State {
	case limits.Out:
		r.Counters.Outages.Add(1)
		r.Log.Warn("the service is out: waiting for it", "error", r.lastError.Load())
	case limits.Limited:
		if c, ok := r.Categorizer.(interface{ CloseIdle() }); ok {
			c.CloseIdle() // a limiter of connections counts those as well
		}
		if !r.limited.Swap(true) {
			r.Log.Info("limited, waiting: the service refuses further requests for a while", "error", r.lastError.Load())
		}
	case limits.Up:
		r.Log.Info("the service answers again", "after", change.After.Round(time.Second).String())
	}
	if change.Lasting {
		r.Log.Warn("limited, waiting: the service has refused all requests for a minute, and does not say for how long", "error", r.lastError.Load())
	}
	if change.Refilled {
		r.Log.Info("there is quota again")
	}
	if change.Wake {
		r.workers.wakeUp()
	}
}

// stopError is the reason for which the limits end the run.
func (r *run) stopError(err error) error {
	if _, ok := errors.AsType[*limits.OutageError](err); !ok {
		return &StopError{Cause: record.Budget, Err: err}
	}
	if last := r.lastError.Load(); last != nil {
		err = fmt.Errorf("%w, most lately with: %w", err, last)
	}
	return &StopError{Cause: record.OutageTooLong, Err: err}
}
