package pipeline

import (
	"container/heap"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
)

// parking holds the tasks that wait for their next attempt; they hold no worker.
type parking struct {
	due atomic.Int64 // when the next task is due, in Unix nanoseconds; math.MaxInt64 if no task is parked

	mu    sync.Mutex
	tasks taskHeap
}

func (p *parking) init() { p.due.Store(math.MaxInt64) }

// noneDue says whether no task is due.
func (p *parking) noneDue(now time.Time) bool { return now.UnixNano() < p.due.Load() }

// first is the task that is due first; nil if none is parked.
func (p *parking) first() *task {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.tasks) == 0 {
		return nil
	}
	return p.tasks[0]
}

// change changes the heap and keeps due up to date.
func (p *parking) change(change func(*taskHeap)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.tasks)
	due := int64(math.MaxInt64)
	if len(p.tasks) > 0 {
		due = p.tasks[0].due.UnixNano()
	}
	p.due.Store(due)
}

// delayFirst makes the task that is due first wait longer.
func (p *parking) delayFirst(due time.Time) {
	p.change(func(tasks *taskHeap) {
		(*tasks)[0].due = due
		heap.Fix(tasks, 0)
	})
}

// park holds a task until its next attempt is due.
func (r *run) park(t *task, wait time.Duration) {
	t.due = time.Now().Add(wait)
	r.Counters.Parked.Add(1)
	r.parking.change(func(tasks *taskHeap) { heap.Push(tasks, t) })
	r.workers.wakeUp()
}

// unpark takes the task that is due first.
func (r *run) unpark() (t *task) {
	r.Counters.Parked.Add(-1)
	r.parking.change(func(tasks *taskHeap) { t = heap.Pop(tasks).(*task) })
	return t
}

// parkFailed parks a task whose attempt failed: until the next attempt, or, if none is left, until it is
// known whether the failure counts.
func (r *run) parkFailed(t *task, e *client.Error) {
	t.err, t.failed = e, time.Now()
	r.lastError.Store(e)
	r.Log.Debug("attempt failed", "record", t.record.Number, "attempt", t.attempts, "error", e)
	if e.Refused() {
		t.refusals++
	}
	wait, again := r.options.Retry.Next(t.attempts-t.forgiven, t.refusals, e)
	t.spent = !again
	r.park(t, wait)
}

// parkForQuota parks a task until there is quota again, or stops the run.
func (r *run) parkForQuota(t *task, e *client.Error) {
	if r.waitForQuota(e) {
		t.attempts--
		t.err = e
		r.park(t, 0)
	}
}

// newsDelay is how long a task without attempts left waits for news of the service.
const newsDelay = 50 * time.Millisecond

// settleFailure decides whether the last failure of a task that is due counts, and says whether the task
// is to be asked again. A task without attempts left fails once an answer has shown that the service
// works.
func (r *run) settleFailure(now time.Time, t *task, q limits.Queue) bool {
	if t.failed.IsZero() {
		return true
	}
	meaning := r.Limits.CauseOf(now, t.failed, q, t.spent)
	switch {
	case meaning == limits.CauseOutage:
		t.forgiven++
		t.spent = false
		if e, ok := errors.AsType[*client.Error](t.err); ok && e.Refused() {
			t.refusals--
		}
	case t.spent && meaning == limits.CauseUnknown:
		r.parking.delayFirst(now.Add(newsDelay))
		return false
	case t.spent:
		r.unpark()
		t.err = &AttemptsError{Attempts: t.attempts - t.forgiven, Err: t.err}
		r.complete(t)
		r.taskEnded()
		return false
	}
	t.failed = time.Time{}
	return true
}

// taskHeap is a heap of tasks, the next due first.
type taskHeap []*task

func (h taskHeap) Len() int           { return len(h) }
func (h taskHeap) Less(i, j int) bool { return h[i].due.Before(h[j].due) }
func (h taskHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *taskHeap) Push(t any)        { *h = append(*h, t.(*task)) }
func (h *taskHeap) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return t
}
