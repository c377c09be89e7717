package flow

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/limits"
)

// claims are the tasks between their lookup and their first attempt. Processes with the same store ask equal requests once: a
// run claims a request before it sends the request, and other processes wait for the outcome. So a run claims only what it sends
// soon: about as many requests as are in flight. While the run pauses, because there is no quota, the service does not answer or
// the rate is low, and between two attempts, no request is claimed: whoever sends a task without a claim, or stores its
// rejection, claims it first.
type claims struct {
	ready chan *task    // to be asked next: claimed, but for one while the run pauses
	wake  chan struct{} // of capacity 1: holds a token if the stage is to look again

	making chan struct{} // of capacity 1: holds a token while the stage moves tasks into ready, or out of it
	next   []*task       // to be claimed before those of run.work; only the stage uses it, and the fields below
	looked time.Time     // when the held tasks were looked up
	tried  time.Time     // when the stage last tried to claim a held task

	told atomic.Bool // the log says that the run waits for another process

	mu   sync.Mutex
	held []*task // other processes have claimed the requests; the first have waited longest since their lookup
}

const (
	// mostReady bounds the tasks that are claimed ahead: more than are sent during a commit.
	mostReady = 1024

	// heldPoll is the interval between lookups while other processes ask: short in relation to the time that a service takes.
	heldPoll = 50 * time.Millisecond

	// claimPoll is the interval between attempts to claim a held task, which find out whether the other process is gone and
	// lock the store, and between looks whether the run pauses.
	claimPoll = time.Second

	// leastReady is the least number of tasks that are claimed ahead, if they are sent within a second: each call of
	// Store.Claim locks the store.
	leastReady = 16
)

func newClaims() claims {
	return claims{ready: make(chan *task, mostReady), wake: make(chan struct{}, 1), making: make(chan struct{}, 1)}
}

// look has the stage look again.
func (c *claims) look() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// hold has tasks wait for other processes.
func (c *claims) hold(tasks ...*task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = append(c.held, tasks...)
}

// takeHeld takes the tasks that have waited longest since they were looked up.
func (c *claims) takeHeld() []*task {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.held), lookupBatch)
	taken := c.held[:n:n]
	c.held = c.held[n:]
	return taken
}

// waiting is the number of tasks that wait for other processes.
func (c *claims) waiting() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(len(c.held))
}

// isReady reports whether a task is to be asked next. It waits for claims that are being made.
func (c *claims) isReady() bool {
	if len(c.ready) > 0 {
		return true
	}
	c.making <- struct{}{}
	defer func() { <-c.making }()
	return len(c.ready) > 0
}

// take takes the task that is asked next; nil if there is none. It waits for claims that are being made.
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

// nextReady takes the task that is asked next; false if there is none any more.
func (r *run) nextReady() (t *task, ok bool) {
	if t = r.claims.take(); t == nil {
		return nil, false
	}
	if n, most := len(r.claims.ready), r.mostReady(); 2*n <= most || n > 2*most {
		r.claims.look()
	}
	return t, true
}

// mostReady is the number of tasks that may be ready now.
func (r *run) mostReady() int {
	if r.pauses() {
		return 1
	}
	within := int(min(r.Limits.Status().Rate, leastReady)) // a second
	return min(max(1, within, int(r.Counters.InFlight.Load())), mostReady)
}

// pauses reports whether there is no quota, the service does not answer, or less than a request a second is allowed.
func (r *run) pauses() bool {
	s := r.Limits.Status()
	return s.Empty || s.Unknown || s.State == limits.Out || s.State == limits.Limited || s.Rate < 1
}

// claim is the stage that claims tasks shortly before they are asked, and gives claims back when the run pauses. It looks again
// for tasks that wait for other processes, and takes over requests that these have given back, or leave because they are gone.
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
			r.takeBack() // requests in flight may go on for long
			return nil
		}
	}
}

// claimNext claims as many tasks as may be ready, and reports whether there may be more. When too many are ready, or the run
// pauses, it gives their claims back.
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
		r.rejections.unconfirmed.Each(func(t *task) { // they may be confirmed in a day
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
			c.ready <- t // has room for mostReady
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

// claimAll claims the requests of tasks, and returns the tasks that are to be asked. The others have ended, or wait for other
// processes. The stored answer of a renewal counts instead.
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
			r.sayHolder(t, q.Holder)
			t.held = true
			r.claims.hold(t)
			r.claims.look()
			r.dispatcher.Wake() // unconfirmed rejections may be all that is left here
		}
	}
	return claimed, nil
}

// lookUpAgain looks tasks up, claims nothing, and returns those that are to be asked.
func (r *run) lookUpAgain(tasks []*task) (unanswered []*task, err error) {
	if r.Store == nil {
		return tasks, nil
	}
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

// isClaimed reports whether a task that has a permit may be sent. It claims a task without a claim, and a task whose claim was
// lost because this process was stopped for long.
func (r *run) isClaimed(t *task) (bool, error) {
	lapses, err := r.Store.Lapses()
	if err != nil || t.known || t.claim == 1+lapses {
		return err == nil, err
	}
	claimed, err := r.claimAll([]*task{t})
	return len(claimed) > 0, err
}

// giveBack gives the claim of a task back: other processes may ask.
func (r *run) giveBack(t *task) {
	r.Store.Release(t.Request)
	t.claim = 0
}

// lookUpHeld looks up tasks that wait for other processes, and returns when to do so next. It has the stage claim those whose
// claims are free, and at times one more.
func (r *run) lookUpHeld() (next time.Time, err error) {
	c, now := &r.claims, time.Now()
	if next = c.looked.Add(heldPoll); next.After(now) {
		return next, nil
	}
	tasks := c.takeHeld()
	queries := queriesOf(tasks)
	err = r.Store.LookupAll(queries)
	if err == nil {
		err = r.Store.Holders(queries)
	}
	if err != nil {
		return next, err
	}
	var waiting, free []*task
	for i, t := range tasks {
		q := &queries[i]
		t.seen = q.Seen
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
	r.wakeAtLast(r.open.Load()) // while these were looked up, they seemed to be asked here
	if len(tasks) == len(waiting) {
		c.looked = now
	} // else other tasks may wait no more either: they are looked up at once
	return c.looked.Add(heldPoll), nil
}

// sayHolder logs once that a task still waits for another process.
func (r *run) sayHolder(t *task, process int) {
	if t.held && !r.claims.told.Swap(true) {
		r.Log.Info("another process with the same store asks for some of the inputs: waiting for its answers", "process", process, "input", t.record.Input)
	}
}

func queriesOf(tasks []*task) []answers.Query {
	queries := make([]answers.Query, len(tasks))
	for i, t := range tasks {
		queries[i] = answers.Query{Request: t.Request, After: t.renewal.asked(), Seen: t.seen}
	}
	return queries
}

// endByOthers ends a task with an outcome that another process has asked during this run.
func (r *run) endByOthers(t *task, outcome answers.Outcome) {
	t.renewal = nil
	if !outcome.AskedAt().Before(r.started) {
		r.recall(t)
	}
	r.completeStored(t, outcome)
	r.taskEnded()
}

// endUnstored ends a task whose outcome is not stored: another process may ask.
func (r *run) endUnstored(t *task) {
	r.Store.Release(t.Request)
	r.end(t)
}
