package ask

import (
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
)

// Judge decides what an attempt without an answer says about its request and about the service, from what other attempts have
// shown. There are two questions:
//
//   - Has the service rejected the input, or has another server rejected the request? See [astray].
//   - Does a refusal limit the rate, or is the service computing the answer? See [deferrals].
//
// The zero value has no evidence. It is safe for concurrent use.
type Judge struct {
	mu        sync.Mutex
	astray    astray
	deferrals deferrals
}

// Answered records that a request was answered.
func (j *Judge) Answered(a *Attempts) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.astray.answered(a.Sent)
	if a.WentAstray() {
		j.astray.ended()
		j.astray.pass()
	}
	j.deferrals.answered(a)
}

// Pause returns the time for which a run should send no first attempts; 0 if the run should go on. In that time, requests that
// another server may have rejected are repeated, which shows whether the service rejects inputs in this way.
func (j *Judge) Pause(now time.Time) time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.astray.pause(now)
}

// Works records that a repeated request, which was answered before, is answered again.
func (j *Judge) Works(sent time.Time) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.astray.answered(sent)
}

// Pass records that a rejection which another server may have sent is not about its input.
func (j *Judge) Pass() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.astray.pass()
}

// Failed returns the error of an attempt, and the result of the attempt, as the evidence has it. A rejection that it returns as a
// failure is repeated.
func (j *Judge) Failed(a *Attempts, e *client.Error, policy client.RetryPolicy) (*client.Error, limits.Result) {
	j.mu.Lock()
	defer j.mu.Unlock()
	result := ResultOf(client.Answer{}, e)
	switch {
	case e.Class == client.Rejected && e.Astray() && j.astray.works.IsZero():
		a.early = true
	case e.Class == client.Rejected && e.Astray():
		return j.astray.rejected(a, e, result, policy)
	case e.Refused() && j.deferrals.refused(a, e):
		return e.Deferred(), limits.Result{Signal: limits.Answered}
	}
	return e, result
}

// Late returns a rejection that Failed has returned, as Failed returns it now, if it came before the first answer.
func (j *Judge) Late(a *Attempts, e *client.Error, policy client.RetryPolicy) *client.Error {
	if !a.early {
		return e
	}
	a.early = false
	e, _ = j.Failed(a, e, policy)
	return e
}

// IsSure reports whether other requests confirm a rejection that Failed has returned. If another server may have rejected the request
// each time, and the service has answered no request since the first time, perhaps every request is rejected.
func (j *Judge) IsSure(a *Attempts, e *client.Error) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return !e.Astray() || j.astray.works.After(a.strayed)
}
