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
	forgiven  int       // attempts that do not count: they met an outage, or no connection
	outages   int       // that the attempts met
	outage    time.Time // when the last of these attempts failed
	unreached int       // attempts without a connection, one after another
	refusals  int       // of the attempts that count
	failed    time.Time // when the last attempt failed; zero once it is known whether the failure counts
	spent     bool      // no attempt is left if the last failure counts
	due       time.Time // when the request may be asked again
	soon      time.Time // likewise, if the service answers requests that are sent after the failure; zero for never before due
	place     int       // in the heap of the parked requests
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

// Fail records that the last attempt met a failure that may pass. The request is to be parked. An attempt that was not sent, or
// for which there was no quota, is taken back.
func (a *Attempts) Fail(now time.Time, e *client.Error, policy client.RetryPolicy) {
	if e.Class != client.Transient {
		a.Repeat(now)
		return
	}
	a.Last, a.failed = e, now
	if !e.Unreached() {
		a.unreached = 0
	} else if a.unreached++; a.unreached <= mostForgiven {
		a.forgiven++
		a.failed = time.Time{} // it does not count
	}
	if e.Refused() {
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

// forgives notes that the last attempt met an outage, and reports whether it is one of those that are forgiven.
func (a *Attempts) forgives(c *limits.Controller) bool {
	if a.outages == 0 || c.Status().State == limits.Up || c.AnsweredSince(a.outage) { // else the last outage goes on
		a.outages++
	}
	a.outage = a.failed
	return a.outages <= mostForgiven
}
