package ask

import (
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
)

// Attempts is the history of one request. A pointer to a type that embeds it is [Asked]. Only the goroutine that holds the
// request uses it.
type Attempts struct {
	Request client.Request
	Sent    time.Time     // when the last attempt began; zero before the first
	Last    *client.Error // the last failure that may pass

	made     int
	forgiven int       // attempts that do not count: they met an outage, or no connection
	refusals int       // of the other attempts
	failed   time.Time // when the last attempt failed; zero once it is known whether the failure counts
	spent    bool      // no attempt is left if the last failure counts
	due      time.Time // when the request may be asked again
	soon     time.Time // likewise, if the service answers requests that are sent after the failure; zero for never before due
	place    int       // in the heap of the parked requests
}

// Asked is a pointer to a type that embeds Attempts.
type Asked interface{ history() *Attempts }

func (a *Attempts) history() *Attempts { return a }

// mostForgiven is the number of attempts from which on only those count that meet an outage that goes on: an input
// may be the reason that the service dies.
const mostForgiven = 64

// Begin counts an attempt that begins.
func (a *Attempts) Begin(now time.Time) {
	a.made++
	a.Sent = now
}

// Fail records that the last attempt met a failure that may pass. The request is to be parked.
func (a *Attempts) Fail(now time.Time, e *client.Error, policy client.RetryPolicy) {
	a.Last, a.failed = e, now
	switch {
	case e.Unreached() && a.forgiven < mostForgiven:
		a.forgiven++
		a.failed = time.Time{} // it does not count
	case e.Refused():
		a.refusals++
	}
	wait, more := policy.Next(a.Counted(), a.refusals, e)
	a.spent = !more
	a.due, a.soon = now.Add(wait), time.Time{}
	if (e.Refused() || e.Unavailable()) && e.RetryAfter > 0 { // else the service needs the time for the answer
		unnamed := *e
		unnamed.RetryAfter = 0
		backoff, _ := policy.Next(a.Counted(), a.refusals, &unnamed)
		a.soon = now.Add(backoff)
	}
}

// Repeat takes back the last attempt, which says nothing about the request. The request is to be parked, and is due at
// once.
func (a *Attempts) Repeat(now time.Time) {
	a.made--
	a.due, a.soon = now, time.Time{}
}

// Due returns when the parked request may be asked again.
func (a *Attempts) Due() time.Time { return a.due }

// Made returns how many attempts were made.
func (a *Attempts) Made() int { return a.made }

// Counted returns how many attempts count.
func (a *Attempts) Counted() int { return a.made - a.forgiven }

// verdict is what becomes of a parked request that is due.
type verdict uint8

const (
	repeat   verdict = iota + 1 // it is asked again
	postpone                    // it is not known yet whether its last failure counts
	giveUp                      // its attempts are used up
)

// decide decides whether the last failure counts, when the request is due. A request without attempts left ends once
// an answer has shown that the service works.
func (a *Attempts) decide(now time.Time, c *limits.Controller, q limits.Queue) verdict {
	if a.failed.IsZero() {
		return repeat
	}
	switch cause := c.CauseOf(now, a.failed, q, a.spent); {
	case cause == limits.CauseOutage && (a.forgiven < mostForgiven || c.Status().State != limits.Up):
		a.forgiven++
		a.spent = false
		if a.Last.Refused() {
			a.refusals--
		}
	case cause == limits.CauseInput && a.Last.Refused():
		a.refusals--
	case a.spent && cause == limits.CauseUnknown:
		return postpone
	case a.spent:
		return giveUp
	}
	a.failed = time.Time{}
	return repeat
}
