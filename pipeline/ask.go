package pipeline

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
)

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

// attempt asks once and sends the task where the outcome says: to be committed, to
// wait for a retry, or to its end. A quota or service error stops the run and leaves
// the task unfinished.
func (r *run) attempt(t *task, permit limits.Permit) error {
	if t.known {
		return r.recheck(t, permit)
	}
	answer, err := r.exchange(t)
	err = r.tolerate(err)
	r.report(r.Limits.End(time.Now(), permit, resultOf(answer, err)))
	var e *client.Error
	switch {
	case err == nil:
		r.Counters.countAnswer(answer)
		t.answer, t.err = answer, nil
		r.trust(t)
		r.keep(t)
		return nil
	case errors.As(err, &e):
	case r.asks.Err() != nil:
		r.Counters.outcomes.add("canceled")
		return nil
	default:
		return fmt.Errorf("ask for %s: %w", t.request.Input, err)
	}
	r.Counters.countError(e)
	switch e.Class {
	case client.Rejected:
		t.err, t.answer.AnsweredAt = e, time.Now().UTC().Truncate(time.Microsecond)
		return r.hold(t, e)
	case client.Transient:
		r.troubled(t, e)
		return nil
	case client.Unsent:
		r.Log.Debug("request not sent", "record", t.record.Number, "error", e)
		t.attempts--
		r.park(t, 0)
		return nil
	case client.Quota:
		r.outOfQuota(t, e)
		return nil
	}
	return &ServiceError{Input: t.request.Input, Err: e}
}

func (r *run) exchange(t *task) (client.Answer, error) {
	r.Counters.Requests.Add(1)
	if t.attempts > 0 {
		r.Counters.Retries.Add(1)
	}
	t.attempts++
	t.sent = time.Now()
	r.Counters.InFlight.Add(1)
	defer r.Counters.InFlight.Add(-1)
	return r.Categorizer.Categorize(r.asks, t.request)
}

// resultOf is what the limits are to know of an attempt. An answer that is still being
// calculated and a rejection of the input are the service at work.
func resultOf(answer client.Answer, err error) limits.Result {
	if err == nil {
		result := limits.Result{Signal: limits.Answered, Rate: answer.Limit.PerSecond}
		if answer.Limit.Remaining == 0 {
			result.Wait = answer.Limit.Reset
		}
		return result
	}
	e, ok := errors.AsType[*client.Error](err)
	if !ok {
		return limits.Result{Signal: limits.Canceled}
	}
	result := limits.Result{Rate: e.Limit.PerSecond, Wait: e.RetryAfter}
	switch e.Class {
	case client.Rejected:
		result.Signal = limits.Answered
	case client.Transient:
		result.Signal = limits.Failed
		result.Broken = e.Status == 0 && !e.Timeout()
		if e.Status == http.StatusTooManyRequests || e.RetryAfter > 0 {
			result.Signal = limits.Refused
		}
	case client.Unsent:
		result.Signal = limits.Unsent
	case client.Quota:
		result.Signal = limits.OutOfQuota
	default:
		result.Signal = limits.Canceled // the run ends
	}
	if e.Status == http.StatusAccepted {
		result = limits.Result{Signal: limits.Answered}
	}
	return result
}

// keep sends an outcome to be committed, if it must last. It is paid for: whatever else
// has failed, it is given up only when nothing is committed any more.
func (r *run) keep(t *task) {
	if r.Store == nil || t.err == nil && t.answer.Free {
		r.land(t)
		r.leave()
		return
	}
	select {
	case r.commits <- t:
	case <-r.quiet:
	}
}

// troubled parks a task until its next attempt, or until its last failure is judged.
func (r *run) troubled(t *task, e *client.Error) {
	t.err, t.failed = e, time.Now()
	r.trouble.Store(e)
	r.Log.Debug("attempt failed", "record", t.record.Number, "attempt", t.attempts, "error", e)
	wait, again := r.options.Retry.Next(t.attempts-t.forgiven, e)
	t.spent = !again
	r.park(t, wait)
}

// fail ends a task after its last attempt.
func (r *run) fail(t *task) {
	t.err = &AttemptsError{Attempts: t.attempts - t.forgiven, Err: t.err}
	r.land(t)
	r.leave()
}

// outOfQuota stops the run, or has it wait for the account to be filled.
func (r *run) outOfQuota(t *task, e *client.Error) {
	if r.waitForQuota(e) {
		t.attempts--
		t.err = e
		r.park(t, 0)
	}
}

// waitForQuota says whether the run waits for the account to be filled; else the run stops.
func (r *run) waitForQuota(e *client.Error) bool {
	if !r.options.WaitForQuota {
		r.stop(&StopError{Cause: QuotaExhausted, Err: e})
		return false
	}
	if r.Limits.Exhausted(time.Now()) {
		r.Log.Warn("nothing is left of the account: waiting until there is", "error", e)
	}
	return true
}

// stopError is why the limits end the run.
func (r *run) stopError(err error) error {
	if _, ok := errors.AsType[*limits.OutageError](err); !ok {
		return &StopError{Cause: Budget, Err: err}
	}
	if trouble := r.trouble.Load(); trouble != nil {
		err = fmt.Errorf("%w, most lately with: %w", err, trouble)
	}
	return &StopError{Cause: OutageTooLong, Err: err}
}
