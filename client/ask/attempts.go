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

	made      int
	forgiven  int       // attempts that do not count: they met an outage, had no connection, or were deferred
	outages   int       // number of outages that the attempts met
	outage    time.Time // when the last attempt that met an outage failed
	unreached int       // attempts without a connection, one after another
	refusals  int       // attempts that count and were refused
	strays    int       // attempts that another server rejected, after which the request is repeated: see astray
	strayed   time.Time // when the first of them was sent
	early     bool      // another server may have rejected the request before the first answer
	failed    time.Time // when the last attempt failed; zero once it is known whether the failure counts
	spent     bool      // no attempt is left if the last failure counts
	due       time.Time // when the request may be asked again
	soon      time.Time // earlier time, for a service that has answered a request sent after the failure; zero if there is none
	place     int       // index in the heap of the parked requests
}

// Asked is a pointer to a type that embeds Attempts.
type Asked interface{ history() *Attempts }

func (a *Attempts) history() *Attempts { return a }

// mostForgiven is the number of outages, and of attempts in a row without a connection, that are forgiven: an input may be
// the reason that the service dies.
const mostForgiven = 64

// Begin counts an attempt that begins.
func (a *Attempts) Begin(now time.Time) {
	a.made++
	a.Sent = now
}

// Fail records that the last attempt met a failure that may pass. The caller parks the request. Fail takes back an attempt that
// was not sent, or for which there was no quota.
func (a *Attempts) Fail(now time.Time, e *client.Error, policy client.RetryPolicy) {
	if e.Class != client.Transient {
		a.Repeat(now)
		return
	}
	a.Last, a.failed = e, now
	if e.Unreached() {
		a.unreached++
	} else {
		a.unreached = 0
	}
	if e.IsDeferred() || a.unreached > 0 && a.unreached <= mostForgiven {
		a.forgiven++
		a.failed = time.Time{} // the failure does not count
	}
	if e.Refused() {
		a.refusals++
	}
	wait, more := policy.Next(a.Counted(), a.refusals, e)
	a.spent = !more
	if e.Astray() {
		wait = max(wait, astrayWait)
	}
	a.due, a.soon = now.Add(wait), time.Time{}
	if (e.Refused() || e.Unavailable()) && e.RetryAfter > 0 { // after other failures, the service needs the wait to compute the answer
		unnamed := *e
		unnamed.RetryAfter = 0
		backoff, _ := policy.Next(a.Counted(), a.refusals, &unnamed)
		a.soon = now.Add(backoff)
	}
}

// Repeat takes back the last attempt, which says nothing about the request. The caller parks the request, which is due at once.
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

// verdict is the decision about a parked request that is due.
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
	case cause == limits.CauseOutage && a.forgives(c):
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

// forgives records that the last attempt met an outage, and reports whether the outage is forgiven.
func (a *Attempts) forgives(c *limits.Controller) bool {
	if a.outages == 0 || c.Status().State == limits.Up || c.AnsweredSince(a.outage) { // else the last outage goes on
		a.outages++
	}
	a.outage = a.failed
	return a.outages <= mostForgiven
}
