package flow

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/limits"
)

// claims are the tasks between their lookup and their first attempt. Processes with the same store ask equal requests once: a
// run claims a request before it sends the request, and other processes wait for the outcome. So a run claims only requests that
// it sends soon: about as many as are in flight. No request is claimed between two of its attempts, and while the run pauses
// because there is no quota, the service does not answer or the rate is low. The run claims a task without a claim right before
// it sends the task or stores its rejection.
type claims struct {
	ready chan *task    // to be asked next; claimed, except for one task while the run pauses
	wake  chan struct{} // of capacity 1: a token makes the stage look again

	making chan struct{} // of capacity 1: has a token while the stage moves tasks into ready or out of ready
	next   []*task       // to be claimed before the tasks of run.work; only the stage uses next, looked and tried
	looked time.Time     // when the held tasks were looked up
	tried  time.Time     // when the stage last tried to claim a held task

	told atomic.Bool // the log has the notice that the run waits for another process

	mu   sync.Mutex
	held []*task // tasks that other processes have claimed; the first have waited longest since their lookup
}

const (
	// mostReady is the maximum number of tasks that are claimed ahead: more than are sent during a commit.
	mostReady = 1024

	// heldPoll is the interval between lookups while other processes ask: short compared with the time of an answer.
	heldPoll = 50 * time.Millisecond

	// claimPoll is the interval between attempts to claim a held task, which show whether the other process is gone and lock the
	// store. It is also the interval between checks whether the run pauses.
	claimPoll = time.Second

	// leastReady is the minimum number of tasks that are claimed ahead, if they are sent within a second: each call of
	// Store.Claim locks the store.
	leastReady = 16
)

func newClaims() claims {
	return claims{ready: make(chan *task, mostReady), wake: make(chan struct{}, 1), making: make(chan struct{}, 1)}
}

// look makes the stage look again.
func (c *claims) look() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// hold adds tasks that wait for other processes.
func (c *claims) hold(tasks ...*task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = append(c.held, tasks...)
}

// takeHeld takes the tasks that have waited longest since their lookup.
func (c *claims) takeHeld() []*task {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.held), lookupBatch)
	taken := c.held[:n:n]
	c.held = c.held[n:]
	return taken
}

// waiting returns the number of tasks that wait for other processes.
func (c *claims) waiting() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(len(c.held))
}

// isReady reports whether a task is ready. It waits while claims are being made.
func (c *claims) isReady() bool {
	if len(c.ready) > 0 {
		return true
	}
	c.making <- struct{}{}
	defer func() { <-c.making }()
	return len(c.ready) > 0
}

// take takes a ready task; nil if there is none. It waits while claims are being made.
func (c *claims) take() (t *task) {
	select {
	case t = <-c.ready:
		return t
	case c.making <- struct{}{}:
	}
	defer func() { <-c.making }()
	select {
	case t = <-c.ready:
	default:
	}
	return t
}

// nextReady takes a ready task; false if there is none. It wakes the stage when too few or too many tasks are ready.
func (r *run) nextReady() (t *task, ok bool) {
	if t = r.claims.take(); t == nil {
		return nil, false
	}
	if n, most := len(r.claims.ready), r.mostReady(); 2*n <= most || n > 2*most {
		r.claims.look()
	}
	return t, true
}

// mostReady returns the number of tasks that may be ready now.
func (r *run) mostReady() int {
	if r.pauses() {
		return 1
	}
	inSecond := int(min(r.Limits.Status().Rate, leastReady))
	return min(max(1, inSecond, int(r.Counters.InFlight.Load())), mostReady)
}

// pauses reports whether there is no quota, the service does not answer, or less than one request per second is allowed.
func (r *run) pauses() bool {
	s := r.Limits.Status()
	return s.Empty || s.Unknown || s.State == limits.Out || s.State == limits.Limited || s.Rate < 1
}

// claim is the stage that claims tasks shortly before they are asked, and gives claims back when the run pauses. It looks up the
// tasks that wait for other processes, and claims a task when the other process has given the claim back or is gone.
func (r *run) claim() error {
	timer := time.NewTimer(claimPoll)
	defer timer.Stop()
	for c := &r.claims; ; {
		next, err := r.lookUpHeld()
		if err != nil {
			return err
		}
		more, err := r.claimNext()
		if err != nil {
			return err
		}
		timer.Stop()
		switch {
		case c.waiting() > 0:
			timer.Reset(time.Until(next))
		case len(c.ready) > 0 || r.rejections.unconfirmed.Len() > 0:
			timer.Reset(claimPoll)
		}
		work := r.work
		if !more {
			work = nil
		}
		select {
		case t := <-work:
			c.next = append(c.next, t)
		case <-c.wake:
		case <-timer.C:
		case <-r.asked.Done():
			r.takeBack() // now, because requests in flight may take long
			return nil
		}
	}
}

// claimNext claims tasks until mostReady tasks are ready, and reports whether there is room for more. When too many tasks are
// ready, or the run pauses, it gives the claims of all ready tasks back.
func (r *run) claimNext() (more bool, err error) {
	c := &r.claims
	c.making <- struct{}{}
	defer func() { <-c.making }()
	paused := r.pauses()
	most := r.mostReady()
	if paused || len(c.ready) > 2*most {
		c.next = append(r.takeBack(), c.next...)
	}
	if paused {
		r.rejections.unconfirmed.Each(func(t *task) { // a pause may last a day
			if t.claim != 0 {
				r.giveBack(t)
			}
		})
	}
	for {
		room := max(0, most-len(c.ready))
		for len(c.next) < room && len(r.work) > 0 {
			c.next = append(c.next, <-r.work) // the only receiver
		}
		n := min(room, len(c.next))
		if n == 0 {
			return room > 0, nil
		}
		claim := r.claimAll
		if paused {
			claim = r.lookUpAgain
		}
		ready, err := claim(c.next[:n])
		if err != nil {
			return false, err
		}
		c.next = c.next[n:]
		for _, t := range ready {
			c.ready <- t // does not block: ready has room for mostReady tasks
		}
		r.dispatcher.Wake()
	}
}

// takeBack takes all ready tasks, and gives their claims back.
func (r *run) takeBack() (tasks []*task) {
	for {
		select {
		case t := <-r.claims.ready:
			r.giveBack(t)
			tasks = append(tasks, t)
		default:
			return tasks
		}
	}
}

// claimAll claims the requests of tasks, and returns the tasks to ask. The other tasks end with a stored outcome, or wait for
// other processes. A renewal that another process has claimed ends with its stored answer.
func (r *run) claimAll(tasks []*task) (claimed []*task, err error) {
	if len(tasks) == 0 {
		return nil, nil
	}
	lapses, err := r.Store.Lapses()
	if err != nil {
		return nil, err
	}
	queries := queriesOf(tasks)
	if err := r.Store.Claim(queries); err != nil {
		return nil, err
	}
	for i, t := range tasks {
		switch q := &queries[i]; {
		case q.Found:
			r.endByOthers(t, q.Outcome)
		case q.Holder == 0:
			t.claim = 1 + lapses
			claimed = append(claimed, t)
		case t.renewal != nil:
			r.end(t)
		default:
			if t.held && !r.claims.told.Swap(true) { // the task still waits
				r.Log.Info("another process with the same store asks for some of the inputs: waiting for its answers", "process", q.Holder, "input", t.record.Input)
			}
			t.held = true
			r.claims.hold(t)
			r.claims.look()
			r.dispatcher.Wake() // only unconfirmed rejections may be left: see endSeries
		}
	}
	return claimed, nil
}

// lookUpAgain looks tasks up without a claim. It ends tasks with a stored outcome, and returns the other tasks.
func (r *run) lookUpAgain(tasks []*task) (unanswered []*task, err error) {
	queries := queriesOf(tasks)
	if err := r.Store.LookupAll(queries); err != nil {
		return nil, err
	}
	for i, t := range tasks {
		if q := &queries[i]; q.Found {
			r.endByOthers(t, q.Outcome)
		} else {
			unanswered = append(unanswered, t)
		}
	}
	return unanswered, nil
}

// isClaimed reports whether a task with a permit may be sent. It claims a task without a claim, and a task whose claim has lapsed
// because this process was suspended for long.
func (r *run) isClaimed(t *task) (bool, error) {
	lapses, err := r.Store.Lapses()
	if err != nil || t.known || t.claim == 1+lapses {
		return err == nil, err
	}
	claimed, err := r.claimAll([]*task{t})
	return len(claimed) > 0, err
}

// giveBack gives the claim of a task back, so that other processes may ask.
func (r *run) giveBack(t *task) {
	r.Store.Release(t.Request)
	t.claim = 0
}

// lookUpHeld looks up tasks that wait for other processes, and returns the time of the next lookup. It moves tasks without a
// holder to next, and once in claimPoll another task.
func (r *run) lookUpHeld() (next time.Time, err error) {
	c, now := &r.claims, time.Now()
	if next = c.looked.Add(heldPoll); next.After(now) {
		return next, nil
	}
	tasks := c.takeHeld()
	queries := queriesOf(tasks)
	if err := r.Store.LookupAll(queries); err != nil {
		return next, err
	}
	var waiting, free []*task
	for i, t := range tasks {
		q := &queries[i]
		switch {
		case q.Found:
			r.endByOthers(t, q.Outcome)
		case q.Holder == 0:
			free = append(free, t)
		case now.Sub(c.tried) >= claimPoll:
			c.tried = now
			free = append(free, t)
		default:
			waiting = append(waiting, t)
		}
	}
	c.hold(waiting...)
	c.next = append(free, c.next...)
	r.wakeAtLast(r.open.Load()) // during the lookup waiting did not count the tasks
	if len(tasks) == len(waiting) {
		c.looked = now
	} // else the other held tasks may be free as well, and are looked up at once
	return c.looked.Add(heldPoll), nil
}

func queriesOf(tasks []*task) []answers.Query {
	queries := make([]answers.Query, len(tasks))
	for i, t := range tasks {
		queries[i] = answers.Query{Request: t.Request, After: t.renewal.asked()}
	}
	return queries
}

// endByOthers ends a task with an outcome from another process.
func (r *run) endByOthers(t *task, outcome answers.Outcome) {
	t.renewal = nil
	r.completeStored(t, outcome, true)
	r.taskEnded()
}

// endUnstored ends a task whose outcome is not stored, and gives its claim back.
func (r *run) endUnstored(t *task) {
	r.Store.Release(t.Request)
	r.end(t)
}
