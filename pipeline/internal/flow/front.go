package flow

import (
	"context"

	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/limits"
)

// A run is the front of its dispatcher: see [ask.Front].

// ask sends the tasks until none is open.
func (r *run) ask() error {
	defer close(r.sends)
	if err := r.dispatcher.Run(r.asked); err != nil {
		r.stop(r.stopError(err))
	}
	return nil
}

// Waiting returns whether a task waits for its first attempt.
func (r *run) Waiting() limits.Queue {
	r.awaitCommit()
	r.endSeries()
	known := r.standing.Known() != nil && r.Counters.Shared.Load() == 0 // a gateway has what was answered before
	return limits.Queue{First: r.claims.isReady(), Proof: true, Known: known}
}

// Next takes a task that is to be asked.
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

// send is a task with the permit to ask.
type send struct {
	task   *task
	permit limits.Permit
}

// Send has a worker of the stage make an attempt: one that is idle, for a new one has to grow its stack.
func (r *run) Send(t *task, permit limits.Permit) {
	s := send{t, permit}
	select {
	case r.sends <- s:
	default:
		r.asking.live.Add(1)
		r.start(r.asking, func() error { return r.attempts(s) })
	}
}

// attempts makes one attempt after another.
func (r *run) attempts(s send) error {
	for more := true; more; s, more = <-r.sends {
		if err := r.attempt(s.task, s.permit); err != nil {
			return err
		}
	}
	return nil
}

// GiveUp ends a task whose attempts are used up, and which is parked no more.
func (r *run) GiveUp(t *task) {
	r.Counters.Parked.Add(-1)
	t.err = &AttemptsError{Attempts: t.Counted(), Err: t.Last}
	r.endUnstored(t)
}

// severalFail is how many inputs fail at the same time at least if the service is probably the cause, though it tells its
// quota. It may have another server for that.
const severalFail = 3

// AskQuota asks how much quota is left, for the limits.
func (r *run) AskQuota(ctx context.Context) limits.Quota {
	quota := ask.QuotaOf(r.Usage(ctx))
	ever, err := r.everAnswered()
	if err != nil {
		r.stop(err)
	}
	quota.NoProof = !ever || r.dispatcher.Len() >= severalFail
	return quota
}

// handOn has a task claimed and asked for the first time; false if the run is to stop.
func (r *run) handOn(t *task) bool {
	select {
	case r.work <- t:
		return true
	case <-r.soft.Done():
		return false
	}
}
