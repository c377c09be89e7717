package flow

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/attempts"
)

// attempt asks once. Then the task is committed, parked for a retry, or, after a rejection, held until the rejection is
// confirmed. An error of the quota or the service may stop the run and leave the task unfinished.
func (r *run) attempt(t *task, permit limits.Permit) error {
	if r.soft.Err() != nil { // the run has stopped since Send
		r.dispatcher.End(permit, ask.NotSent)
		return nil
	}
	if ok, err := r.isClaimed(t); !ok {
		r.dispatcher.End(permit, ask.NotSent)
		return err
	}
	if t.known {
		return r.recheck(t, permit)
	}
	answer, err := r.exchange(t)
	if err != nil {
		return r.unanswered(t, permit, err)
	}
	r.dispatcher.End(permit, ask.ResultOf(answer, nil))
	r.Counters.CountAnswer(answer)
	t.answer, t.err = answer, nil
	if err := r.checkBare(t); err != nil {
		return err
	}
	if r.rejections.judge.Answered(&t.Attempts); t.WentAstray() {
		r.dispatcher.Wake() // see ask.Judge.Pause
	}
	r.settle(r.rejections.confirmedBy(t.Sent))
	r.save(t)
	return nil
}

// exchange makes one attempt.
func (r *run) exchange(t *task) (client.Answer, error) {
	r.Counters.Requests.Add(1)
	if t.Made() > 0 {
		r.Counters.Retries.Add(1)
	}
	t.Begin(time.Now())
	r.Counters.InFlight.Add(1)
	r.Monitor.Begins()
	defer func() {
		r.Counters.InFlight.Add(-1)
		r.Monitor.Attempted()
	}()
	answer, err := r.Attempter.Attempt(r.asks, t.Request)
	took := time.Since(t.Sent)
	if e, ok := errors.AsType[*client.Error](err); ok && (e.Class == client.Unsent || e.Unreached()) { // nothing was sent
		r.Counters.Requests.Add(-1)
		if t.Made() > 1 {
			r.Counters.Retries.Add(-1)
		}
	}
	r.Counters.ObserveAttempt(took)
	if logErr := r.Attempts.Append(r.rowOf(t, took, answer, err)); logErr != nil {
		r.stop(logErr) // the answer still counts
	}
	return answer, err
}

// rowOf returns the row of the log of attempts for the last attempt of a task.
func (r *run) rowOf(t *task, took time.Duration, answer client.Answer, err error) attempts.Row {
	sent := true
	row := attempts.Row{
		Time: t.Sent.UTC().Truncate(time.Microsecond), Input: t.Request.Input, Classification: t.Request.Classification,
		Status: "answered", Milliseconds: float64(took.Microseconds()) / 1000, Attempt: t.Made(),
	}
	shared := answer.Shared
	if e, ok := errors.AsType[*client.Error](err); ok {
		row.Status, shared, sent = e.Label(), e.Shared, !e.Unreached()
	} else if err != nil {
		row.Status = "canceled"
	}
	if cost := r.Price; cost > 0 {
		if shared || !sent { // a gateway has answered without a request of its own, or there was no connection
			cost = 0
		}
		row.Cost = &cost
	}
	return row
}

// mayEnd reports whether an error may end the run. A used-up quota may, unless the run waits for quota; a rejection may if the
// service has not answered.
func (r *run) mayEnd(e *client.Error) bool {
	switch e.Class {
	case client.Fatal, client.Auth:
		return true
	case client.Quota:
		return !r.options.WaitForQuota
	case client.Rejected:
		return r.standing.Known() == nil
	}
	return false
}

// unanswered acts on an attempt without an answer.
func (r *run) unanswered(t *task, permit limits.Permit, err error) error {
	err = r.tolerate(t, err)
	e, ok := errors.AsType[*client.Error](err)
	if !ok {
		r.dispatcher.End(permit, ask.ResultOf(client.Answer{}, err))
		if r.asks.Err() != nil {
			r.Counters.CountCanceled()
			return nil
		}
		return fmt.Errorf("ask for %s: %w", t.Request.Input, err)
	}
	if r.options.KeepGoing && r.answers() { // no test shows whether the service works
		r.rejections.judge.Works(t.Sent)
	}
	again := t.WentAstray()
	judged, result := r.rejections.judge.Failed(&t.Attempts, e, r.options.Retry)
	if r.doubts(e) {
		result.Signal = limits.Canceled // does not raise the number of requests in flight
	}
	if e.Class == client.Rejected && judged.Class == client.Transient && !again {
		r.wentAstray(e)
	}
	e = judged
	end := func() { r.dispatcher.End(permit, result) }
	mayEnd := r.mayEnd(e)
	if !mayEnd { // an error that may end the run keeps its permit, so that no other request begins before the run has ended
		end()
	}
	if err := cmp.Or(r.checkSilence(time.Now(), e), r.checkTimeout(t, e)); err != nil {
		return err
	}
	if err := r.failed(t, e); err != nil || !mayEnd {
		return err
	}
	end()
	return nil
}

// failed holds or parks a task by the class of its error, unless the error ends the run.
func (r *run) failed(t *task, e *client.Error) error {
	r.Counters.CountError(e)
	now := time.Now()
	switch e.Class {
	case client.Rejected:
		t.err, t.answer.AnsweredAt = e, now.UTC().Truncate(time.Microsecond)
		return r.hold(t, e)
	case client.Transient:
		r.Counters.LastError.Store(e)
	case client.Quota:
		if !r.waitForQuota(e) {
			return nil
		}
	case client.Unsent:
	default:
		return &ServiceError{Input: t.Request.Input, Err: e}
	}
	r.Log.Debug("attempt failed", "record", t.record.Number, "attempt", t.Made(), "error", e)
	t.Fail(now, e, r.options.Retry)
	r.park(t)
	return nil
}

// park parks a task until its next attempt is due. A parked task holds no worker and no claim.
func (r *run) park(t *task) {
	r.giveBack(t)
	r.Counters.Parked.Add(1)
	r.dispatcher.Park(t)
}

// waitForQuota makes the run wait until there is quota again, or stops the run. It reports whether the run waits.
func (r *run) waitForQuota(e *client.Error) bool {
	if !r.options.WaitForQuota {
		r.stop(&StopError{Cause: account.QuotaExhausted, Err: e})
		return false
	}
	if wait, isNew := r.Limits.Exhausted(time.Now(), e.RetryAfter); isNew {
		r.Log.Warn("the quota is used up: waiting until there is quota again", "asked_in", wait.Round(time.Second).String(), "error", e)
	}
	return true
}

// Report logs a change of the service's state.
func (r *run) Report(change limits.Effect) {
	switch change.State {
	case limits.Out:
		r.Counters.Outages.Add(1)
		r.Log.Warn("the service is out: waiting for it", "error", r.Counters.LastError.Load())
	case limits.Limited:
		r.CloseIdle() // a limiter of connections also counts idle connections
		if !r.limited.Swap(true) {
			r.Log.Info("limited, waiting: the service refuses further requests for a while", "error", r.Counters.LastError.Load())
		}
	case limits.Up:
		r.claims.look()
		r.Log.Info("the service answers again", "after", change.After.Round(time.Second).String())
	}
	if change.Lasting {
		r.Log.Warn("limited, waiting: the service has refused all requests for a minute, and does not say for how long", "error", r.Counters.LastError.Load())
	}
	if change.Refilled {
		r.claims.look()
		r.Log.Info("there is quota again")
	}
}

// stopError returns the StopError of a run that the limits end.
func (r *run) stopError(err error) error {
	if spent, ok := errors.AsType[*limits.SpentError](err); ok {
		cause := account.Budget
		if spent.Limit == limits.Reserve { // the quota is used up except for the reserve
			cause = account.QuotaExhausted
		}
		return &StopError{Cause: cause, Err: err}
	}
	if last := r.Counters.LastError.Load(); last != nil {
		err = fmt.Errorf("%w, last error: %w", err, last)
	}
	return &StopError{Cause: account.OutageTooLong, Err: err}
}
