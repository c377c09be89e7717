package pipeline

import (
	"container/heap"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
)

// crew is the workers. A worker that finds a task and may ask at once does so. Of the others
// one leads: it waits for a task and for the permit to ask, and hands the lead on when it has
// both. A worker starts when none is idle, so that there are at most one more than requests
// were in flight at once.
type crew struct {
	group *errgroup.Group
	lead  chan struct{} // of capacity 1: holds a token while a worker leads
	idle  atomic.Int64  // workers that wait to lead
	live  atomic.Int64  // workers
	wake  chan struct{} // of capacity 1: the leader is to look again
	timer *time.Timer   // the leader's
	due   atomic.Int64  // when the next parked task is due, in Unix nanoseconds

	mu     sync.Mutex
	firsts []*task // taken from work, and not asked yet
	parked parked  // tasks that wait for a retry
}

func (c *crew) init(g *errgroup.Group) {
	c.group, c.lead, c.wake = g, make(chan struct{}, 1), make(chan struct{}, 1)
	c.timer = time.NewTimer(time.Hour)
	c.timer.Stop()
	c.due.Store(math.MaxInt64)
}

// noteDue keeps due up to date, with the lock held.
func (c *crew) noteDue() {
	due := int64(math.MaxInt64)
	if len(c.parked) > 0 {
		due = c.parked[0].due.UnixNano()
	}
	c.due.Store(due)
}

// recruit starts a worker.
func (r *run) recruit() {
	r.crew.live.Add(1)
	r.crew.group.Go(func() (err error) {
		defer func() {
			if err != nil { // stop before commits is closed, or the writer takes the end for a complete run
				r.stop(err)
			}
			if r.crew.live.Add(-1) == 0 {
				close(r.commits)
			}
		}()
		return r.ask()
	})
}

// next gives a task with a permit; false when there will be none. A worker that can go on at
// once does not lead.
func (r *run) next() (*task, limits.Permit, bool) {
	c := &r.crew
	if now := time.Now(); now.UnixNano() < c.due.Load() && r.soft.Err() == nil {
		select {
		case t := <-r.work:
			if permit, ok := r.Limits.Try(now); ok {
				r.relieve()
				return t, permit, true
			}
			c.leave(t)
		default:
		}
	}
	c.idle.Add(1)
	c.lead <- struct{}{}
	defer func() { <-c.lead }()
	c.idle.Add(-1)
	return r.wait()
}

// wait leads until there is a task with a permit; false when there will be none.
func (r *run) wait() (*task, limits.Permit, bool) {
	c := &r.crew
	for r.soft.Err() == nil {
		r.endSeries()
		now := time.Now()
		queue, due := r.queue(now)
		switch d := r.Limits.Next(now, queue); d.Action {
		case limits.SendFirst:
			r.relieve()
			return c.take(), d.Permit, true
		case limits.SendRetry:
			r.relieve()
			return r.unpark(), d.Permit, true
		case limits.SendKnown:
			r.relieve()
			return &task{request: *r.refusals.known.Load(), known: true}, d.Permit, true
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

// relieve sees to it that another worker leads.
func (r *run) relieve() {
	if c := &r.crew; c.idle.Load() == 0 && c.live.Load() < int64(r.Limits.MostInFlight()) {
		r.recruit()
	}
}

// queue says what waits to be asked, and when the next parked task is due; zero if none is.
func (r *run) queue(now time.Time) (q limits.Queue, due time.Time) {
	c := &r.crew
	if q.First = c.left(); !q.First {
		select {
		case t := <-r.work:
			c.push(t)
			q.First = true
		default:
		}
	}
	for {
		t := c.head()
		if t == nil {
			return q, time.Time{}
		}
		if t.due.After(now) {
			return q, t.due
		}
		if r.judge(now, t, q) {
			q.Retry = true
			return q, t.due
		}
	}
}

// verdictDelay is how long a task waits for news of the service before it is judged again.
const verdictDelay = 50 * time.Millisecond

// judge says what the last failure of a task that is due has been, and whether the task is to
// be asked again. A task without attempts left fails, once an answer has shown that the service
// is not to blame.
func (r *run) judge(now time.Time, t *task, q limits.Queue) bool {
	if t.failed.IsZero() {
		return true
	}
	cause := r.Limits.CauseOf(now, t.failed, q, t.spent)
	switch {
	case cause == limits.CauseOutage:
		t.forgiven++
		t.spent = false
	case t.spent && cause == limits.CauseUnknown:
		r.crew.delay(now.Add(verdictDelay))
		return false
	case t.spent:
		r.unpark()
		r.fail(t)
		return false
	}
	t.failed = time.Time{}
	return true
}

// await waits for a while, or until something happens; false when no task will come.
func (r *run) await(now time.Time, wait time.Duration, due time.Time, first bool) bool {
	c := &r.crew
	if untilDue := due.Sub(now); untilDue > 0 && (wait == 0 || untilDue < wait) {
		wait = untilDue
	}
	if wait > 0 {
		c.timer.Reset(wait)
		defer c.timer.Stop()
	}
	work := r.work
	if first {
		work = nil
	}
	select {
	case t := <-work:
		c.push(t)
	case <-c.timer.C:
	case <-c.wake:
	case <-r.settled:
		return false
	case <-r.soft.Done():
		return false
	}
	return true
}

// leave leaves a task that may not be asked yet to the leader.
func (c *crew) leave(t *task) {
	c.push(t)
	c.signal()
}

func (c *crew) push(t *task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.firsts = append(c.firsts, t)
}

// left says whether tasks are left to the leader.
func (c *crew) left() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.firsts) > 0
}

// take takes the first task that was left to the leader.
func (c *crew) take() *task {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.firsts[0]
	c.firsts = c.firsts[1:]
	return t
}

// signal has the leader look again.
func (c *crew) signal() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// park holds a task until its next attempt is due.
func (r *run) park(t *task, wait time.Duration) {
	t.due = time.Now().Add(wait)
	r.Counters.Parked.Add(1)
	r.crew.mu.Lock()
	heap.Push(&r.crew.parked, t)
	r.crew.noteDue()
	r.crew.mu.Unlock()
	r.crew.signal()
}

// unpark takes the task that is due first.
func (r *run) unpark() *task {
	r.Counters.Parked.Add(-1)
	r.crew.mu.Lock()
	defer r.crew.mu.Unlock()
	defer r.crew.noteDue()
	return heap.Pop(&r.crew.parked).(*task)
}

// head is the task that is due first; nil if none is parked.
func (c *crew) head() *task {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.parked) == 0 {
		return nil
	}
	return c.parked[0]
}

// delay puts the task that is due first off.
func (c *crew) delay(due time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.parked[0].due = due
	heap.Fix(&c.parked, 0)
	c.noteDue()
}

// parked is a heap of tasks, the next due first.
type parked []*task

func (p parked) Len() int           { return len(p) }
func (p parked) Less(i, j int) bool { return p[i].due.Before(p[j].due) }
func (p parked) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *parked) Push(t any)        { *p = append(*p, t.(*task)) }
func (p *parked) Pop() any {
	last := len(*p) - 1
	t := (*p)[last]
	(*p)[last] = nil
	*p = (*p)[:last]
	return t
}

// askQuota asks the service what is left of the quota and tells the limits.
func (r *run) askQuota() {
	usage, err := r.Usage(r.soft)
	if r.soft.Err() != nil {
		return
	}
	quota := limits.Quota{Err: err, Transient: client.ClassOf(err) == client.Transient}
	quota.Left, quota.Metered = usage.Requests()
	r.report(r.Limits.ReportQuota(time.Now(), quota))
}

// report acts on what has changed.
func (r *run) report(change limits.Change) {
	switch change.State {
	case limits.Out:
		r.Log.Warn("the service is out: waiting for it", "error", r.trouble.Load())
	case limits.Up:
		r.Log.Info("the service answers again", "after", change.After.Round(time.Second).String())
	}
	if change.Refilled {
		r.Log.Info("the account has something again")
	}
	if change.Wake {
		r.crew.signal()
	}
}
