package flow

import (
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
)

// others are tasks whose requests other processes with the same store are about to ask.
type others struct {
	wake chan struct{} // of capacity 1: holds a token if tasks have come

	mu    sync.Mutex
	tasks []*task
}

const (
	// othersPoll is the interval between lookups while other processes ask: short in relation to the time that a service takes.
	othersPoll = 50 * time.Millisecond

	// claimPoll is the interval between attempts to claim a request. Each locks the store for all processes.
	claimPoll = time.Second
)

// leaveToOthers has a task wait for another process.
func (r *run) leaveToOthers(t *task) {
	r.open.Add(1)
	t.claimed = time.Now()
	r.others.put(t)
	r.dispatcher.Wake() // unconfirmed rejections may be all that is left here
}

func (o *others) put(tasks ...*task) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tasks = append(o.tasks, tasks...)
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// take takes the tasks that have waited longest since they were looked up.
func (o *others) take() []*task {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := min(len(o.tasks), lookupBatch)
	taken := o.tasks[:n:n]
	o.tasks = o.tasks[n:]
	return taken
}

func (o *others) len() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return int64(len(o.tasks))
}

// awaitOthers completes tasks when other processes have the answers, and takes over requests that these have given back, or
// leave because they are gone.
func (r *run) awaitOthers() error {
	for {
		select {
		case <-r.others.wake:
		case <-r.asked.Done():
			return nil
		}
		for poll := false; r.others.len() > 0; {
			if poll && !r.pause(othersPoll) {
				return nil
			}
			ended, err := r.lookUpOthers()
			if err != nil {
				return err
			}
			poll = ended == 0
		}
	}
}

// pause waits, and reports whether the run goes on.
func (r *run) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.soft.Done():
		return false
	}
}

// lookUpOthers looks up tasks that wait, and returns how many wait no more.
func (r *run) lookUpOthers() (ended int, err error) {
	tasks := r.others.take()
	queries := queriesOf(tasks)
	if err := r.Store.LookupAll(queries); err != nil {
		return 0, err
	}
	now := time.Now()
	var waiting, due []*task
	for i, t := range tasks {
		switch q := &queries[i]; {
		case q.Found:
			r.completeOthers(t, q.Outcome)
			r.taskEnded()
		case now.Sub(t.claimed) < claimPoll:
			waiting = append(waiting, t)
		default:
			t.claimed = now
			due = append(due, t)
		}
	}
	held, err := r.claimOthers(due)
	r.others.put(append(waiting, held...)...)
	r.wakeAtLast(r.open.Load()) // while these were looked up, they seemed to be asked here
	return len(tasks) - len(waiting) - len(held), err
}

// claimOthers claims the requests of tasks that wait, and returns the tasks that wait on.
func (r *run) claimOthers(tasks []*task) (held []*task, err error) {
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
			r.completeOthers(t, q.Outcome)
			r.taskEnded()
		case q.Held:
			held = append(held, t)
		default:
			t.lapses = lapses
			r.handOn(t)
		}
	}
	return held, nil
}

func queriesOf(tasks []*task) []answers.Query {
	queries := make([]answers.Query, len(tasks))
	for i, t := range tasks {
		queries[i].Request = t.Request
	}
	return queries
}

// lost reports whether another process may be asking for a task, because this process was stopped since the task was claimed.
func (r *run) lost(t *task) (bool, error) {
	if r.Store == nil || t.known {
		return false, nil
	}
	lapses, err := r.Store.Lapses()
	return lapses != t.lapses, err
}

// completeOthers finishes a task with an outcome that another process has asked during this run.
func (r *run) completeOthers(t *task, outcome answers.Outcome) {
	t.renewal = nil
	if !outcome.AskedAt().Before(r.started) {
		r.recall(t)
	}
	r.completeStored(t, outcome)
}

// endUnstored ends a task whose outcome is not stored: another process may ask.
func (r *run) endUnstored(t *task) {
	r.Store.Release(t.Request)
	r.end(t)
}
