package flow

import (
	"context"
	"time"

	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/limits"
)

// A run is the front of its dispatcher: see [ask.Front].

// ask runs the dispatcher until no task is open.
func (r *run) ask() error {
	defer close(r.sends)
	if err := r.dispatcher.Run(r.asked); err != nil {
		r.stop(r.stopError(err))
	}
	return nil
}

// Waiting says whether a task is ready for its first attempt, and whether an answered request can be repeated.
func (r *run) Waiting() limits.Queue {
	r.awaitCommit()
	r.endSeries()
	pause := r.rejections.judge.Pause(time.Now())
	if pause > 0 && r.rejections.paused.CompareAndSwap(false, true) {
		time.AfterFunc(pause, func() {
			r.rejections.paused.Store(false)
			r.dispatcher.Wake()
		})
	}
	known := r.standing.Known() != nil && r.Counters.Shared.Load() == 0 // a gateway would answer a repeated request itself
	return limits.Queue{First: pause == 0 && r.claims.isReady(), Proof: true, Known: known}
}

// Next takes the task of an action.
func (r *run) Next(action limits.Action) (t *task, ok bool) {
	switch action {
	case limits.SendFirst:
		return r.nextReady()
	case limits.SendRetry:
		r.Counters.Parked.Add(-1)
		t, _ = r.dispatcher.Take()
	default:
		t = &task{Attempts: ask.Attempts{Request: *r.standing.Known()}, known: true}
	}
	return t, true
}

// send is a task with the permit for its attempt.
type send struct {
	task   *task
	permit limits.Permit
}

// Send passes a task to a worker of the stage ask. It prefers an idle worker: a new goroutine has to grow its stack.
func (r *run) Send(t *task, permit limits.Permit) {
	s := send{t, permit}
	select {
	case r.sends <- s:
	default:
		r.asking.live.Add(1)
		r.start(r.asking, func() error { return r.attempts(s) })
	}
}

// attempts makes the attempt s, and then the attempts from r.sends.
func (r *run) attempts(s send) error {
	for more := true; more; s, more = <-r.sends {
		if err := r.attempt(s.task, s.permit); err != nil {
			return err
		}
	}
	return nil
}

// GiveUp ends a task whose attempts are used up. The dispatcher has taken the task from the parked tasks.
func (r *run) GiveUp(t *task) {
	r.Counters.Parked.Add(-1)
	t.err = &AttemptsError{Attempts: t.Counted(), Err: t.Last}
	r.endUnstored(t)
}

// severalFail is the least number of parked tasks from which the service is probably the cause of the failures, although the
// service tells its quota: another server may tell the quota.
const severalFail = 3

// AskQuota asks the service how much quota is left, for the limits.
func (r *run) AskQuota(ctx context.Context) limits.Quota {
	quota := ask.QuotaOf(r.Usage(ctx))
	ever, err := r.everAnswered()
	if err != nil {
		r.stop(err)
	}
	quota.NoProof = !ever || r.dispatcher.Len() >= severalFail
	return quota
}
