package limits

import (
	"fmt"
	"time"
)

// State is how the service is.
type State uint8

// The states.
const (
	Up    State = iota + 1
	Doubt       // nothing has succeeded for a while: one request at a time is sent
	Out         // these fail, too
)

// health tells an outage from pressure and from inputs that fail.
type health struct {
	state   State
	suspect bool      // the doubt is a suspicion: only a known request can end the doubt
	start   time.Time // of the run
	lastOK  time.Time // when the service last answered; at first the start
	okSent  time.Time // when the latest request that was answered was sent
	since   time.Time // of the doubt: when the service last answered before it
	probing bool      // a probe is in flight
	next    time.Time // when the next probe may be sent
	probes  int       // that have failed in this doubt

	failures int       // since lastOK
	lastFail time.Time // of these

	from, to time.Time // of the last doubt that became an outage
}

const (
	doubtFailures = 8                      // without an answer between them make a doubt
	doubtAfter    = 500 * time.Millisecond // without an answer
	mostFail      = 0.8                    // of the attempts, if the service is up
	oneEvent      = 5 * time.Millisecond   // a broken connection fails many requests at once

	outProbes   = 3 // that fail make an outage
	outAfter    = time.Second
	probeFirst  = 100 * time.Millisecond
	probeOut    = time.Second     // between probes in an outage, at first
	probeLast   = 2 * time.Minute // at most
	probeGrowth = 8               // the part of an outage's time that passes between probes
)

func newHealth(now time.Time) health {
	return health{state: Up, start: now, lastOK: now}
}

// answered takes note of an answer and says whether it ends a doubt.
func (h *health) answered(now time.Time, p Permit) bool {
	h.lastOK, h.failures = now, 0
	if p.sent.After(h.okSent) {
		h.okSent = p.sent
	}
	if h.state == Up || p.sent.Before(h.since) {
		return false
	}
	if h.state == Out {
		h.from, h.to = h.since, now
	}
	h.state, h.suspect = Up, false
	return true
}

// failed takes note of a failure, beside the share of attempts that have failed of late.
func (h *health) failed(now time.Time, p Permit, share float64, latency time.Duration) {
	switch {
	case h.state != Up && p.probe:
		h.probeFailed(now)
	case h.state == Up && share > mostFail && !p.sent.Before(h.lastOK) && now.Sub(h.lastFail) >= oneEvent:
		h.failures++
		h.lastFail = now
		if h.failures >= doubtFailures && now.Sub(h.lastOK) >= max(doubtAfter, 4*latency) {
			h.doubt(now, now)
		}
	}
}

// doubt begins a doubt, whose first probe is due at a time.
func (h *health) doubt(now, probe time.Time) {
	h.state, h.since, h.next, h.probes, h.failures = Doubt, h.lastOK, probe, 0, 0
}

func (h *health) probeFailed(now time.Time) {
	h.probes++
	if h.state == Doubt && h.probes >= outProbes && now.Sub(h.since) >= outAfter {
		h.state = Out
	}
	pause := probeFirst << min(h.probes, 4)
	if h.state == Out {
		pause = min(max(now.Sub(h.since)/probeGrowth, probeOut), probeLast)
	}
	h.next = now.Add(pause)
}

// probe says what to do while the service is in doubt: send one request at a time, preferably
// for an input that has not failed before.
func (c *Controller) probe(now time.Time, q Queue) Decision {
	h := &c.health
	end := h.since.Add(c.options.MaxOutage)
	if h.state == Out && !now.Before(end) {
		return Decision{Action: Stop, Err: &OutageError{Longest: c.options.MaxOutage}}
	}
	switch {
	case h.probing:
		if h.state == Out {
			return Decision{For: end.Sub(now)}
		}
		return Decision{}
	case now.Before(h.next):
		wait := h.next.Sub(now)
		if h.state == Out {
			wait = min(wait, end.Sub(now))
		}
		return Decision{For: wait}
	case h.suspect:
		return Decision{Action: SendKnown}
	case q.First:
		return Decision{Action: SendFirst}
	case c.options.CanAsk:
		return Decision{Action: AskAccount}
	case q.Retry:
		return Decision{Action: SendRetry}
	}
	return Decision{}
}

// A refusal that costs a long wait is worth avoiding: the rate falls further, and grows after
// a time in which the wait does not matter.
const (
	costlyCut  = 0.7
	costlyHold = 20
)

// heed does what a response asks for: nothing is sent until the time that it names. A wait
// of up to two seconds is ignored here, where the lower rate is enough: Retry-After has whole
// seconds, and a service that means less says 1.
func (c *Controller) heed(now time.Time, p Permit, r Result) {
	const short = 2 * time.Second
	wait := min(r.Wait, c.options.MaxWait)
	if wait <= short || c.health.okSent.After(p.sent) { // others may go on, as an answer shows
		return
	}
	if c.health.state == Up {
		if !p.sent.Before(c.pressure.since) {
			c.pace.lower(now, c.pace.present(now)*costlyCut)
			c.pressure.begin(now)
		}
		c.pace.hold = costlyHold * wait
		c.health.doubt(now, now.Add(wait))
		c.health.since = p.sent
		return
	}
	if until := now.Add(wait); until.After(c.health.next) {
		c.health.next = until
	}
}

// Verdict is what a failure means for its record.
type Verdict uint8

// The verdicts.
const (
	Counts   Verdict = iota + 1 // the service has answered since: the failure uses up an attempt
	Forgiven                    // the service was out
	Unknown                     // nothing was answered since
)

// Judge says what a failure means that was met at a time. If the service has not answered
// since and the failure is the record's last, a request that settles the matter goes next, if
// there is a way to make one.
func (c *Controller) Judge(now, failed time.Time, q Queue, last bool) Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := &c.health
	switch {
	case h.state == Out && !failed.Before(h.since):
		return Forgiven
	case !failed.Before(h.from) && !failed.After(h.to):
		return Forgiven
	case h.lastOK.After(failed):
		return Counts
	case !last || q.First || c.inFlight > 0: // an answer may come
		return Unknown
	case h.state == Up && c.options.CanAsk:
		h.doubt(now, now)
		return Unknown
	case h.state == Up:
		return Counts
	case c.options.CanAsk:
		return Unknown
	}
	return Forgiven // only the record itself can show whether the service answers
}

// OutageError says that the service has been out for too long.
type OutageError struct{ Longest time.Duration }

func (e *OutageError) Error() string {
	return fmt.Sprintf("the service has been out for %v (--max-outage)", e.Longest)
}
