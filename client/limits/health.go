package limits

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// ServiceState is the state of the service.
type ServiceState uint8

// The states.
const (
	Up      ServiceState = iota + 1
	Doubt                // nothing has succeeded for a while: one request is sent at a time
	Out                  // the requests of a doubt fail, too
	Limited              // the service refuses the requests of a doubt
)

// health distinguishes an outage from pressure and from inputs that fail.
type health struct {
	state    ServiceState
	suspect  bool      // only a request that was answered before can end the doubt
	refusing bool      // the service refuses the requests of the doubt
	closed   bool      // the doubt is the rest of a window that is used up
	start    time.Time // of the run
	lastOK   time.Time // when the service last answered; the start before any answer
	okSent   time.Time // the latest sending time of all requests that were answered
	since    time.Time // the start of the doubt: the last answer before it
	probing  bool      // a probe is in flight
	probed   Permit    // the last probe
	next     time.Time // when the next probe may be sent
	probes   int       // failed probes of this doubt
	tested   bool      // a repeated request was answered in this doubt, and other requests wait: see probe
	test     int64     // the serial of that request
	vain     int       // doubts in a row that repeated requests have ended, while no other request was answered
	mute     bool      // in this doubt, an answer about the quota proves nothing
	inputs   bool      // the inputs that failed may be the cause of the doubt, and no other request waits that could show whether they are

	troubled  bool      // an attempt has failed since lastOK
	failures  int       // failures since lastOK that count
	lastFail  time.Time // when the last failure that counts came
	unreached time.Time // when a connection could first not be made since lastOK; zero for none
	broken    int       // connections that broke together: see countBroken
	brokeAt   time.Time // when the first of the broken connections broke
	fatal     int       // the least number of broken connections that shows the death of the service

	absences []absence // the last outages, deaths, and doubts that a probe ended
}

// absence is a time between two answers in which the service was out.
type absence struct{ from, to time.Time }

// mostAbsences is the number of absences that are remembered, for failed records that wait for their retry.
const mostAbsences = 64

func (h *health) addAbsence(from, to time.Time) {
	if len(h.absences) >= mostAbsences {
		h.absences = h.absences[1:]
	}
	h.absences = append(h.absences, absence{from, to})
}

func (h *health) wasAbsent(at time.Time) bool {
	return h.died() && !at.Before(h.lastOK) ||
		slices.ContainsFunc(h.absences, func(a absence) bool { return !at.Before(a.from) && !at.After(a.to) })
}

const (
	doubtFailures = 8                      // failures in a row until a doubt: a service that fails every third request fails 8 in a row once in 6,000 times
	doubtAfter    = 500 * time.Millisecond // time without an answer until a doubt
	oneEvent      = 5 * time.Millisecond   // a broken connection fails many requests at once
	leastBroken   = 3                      // broken connections: an input breaks only its own connection
	oneDeath      = 100 * time.Millisecond // a service that dies breaks all connections at once, and a busy machine notices them one by one

	mostVain    = 6                      // then only first attempts are probes: a service may answer repeated requests from a store while it is out
	outProbes   = 3                      // failed probes until an outage
	outAfter    = time.Second            // time without an answer until an outage: about the time of a restart
	probeFirst  = 100 * time.Millisecond // between the first probes
	probeLast   = 2 * time.Minute        // the longest time between probes
	probeGrowth = 8                      // the time between probes is this part of the time since the last answer
)

func newHealth(now time.Time) health {
	return health{state: Up, start: now, lastOK: now}
}

// answered records an answer and reports whether the answer ends a doubt.
func (h *health) answered(now time.Time, p Permit) bool {
	if p.sent.Before(h.unreached) { // a server that shuts down answers its last requests, and takes no connections
		return false
	}
	if h.state == Up && h.died() {
		h.addAbsence(h.lastOK, now)
	}
	h.lastOK, h.troubled, h.failures, h.unreached, h.broken = now, false, 0, time.Time{}, 0
	if p.sent.After(h.okSent) {
		h.okSent = p.sent
	}
	if h.state == Up || p.sent.Before(h.since) {
		return false
	}
	cleared := p.test || h.inputs && h.probes == 0 && !h.refusing // this answer shows that the inputs that failed are the cause
	if h.state == Out || (h.state == Limited || p.probe) && !cleared {
		h.addAbsence(h.since, now)
	}
	h.state, h.suspect, h.refusing, h.closed = Up, false, false, false
	return true
}

// failed records a failure. If counts is true, and this is failure number row in a row, a doubt begins, unless the last answer
// came less than doubtAfter or longest ago: the attempts in flight may still be answered within longest.
func (h *health) failed(now time.Time, p Permit, row int, counts bool, longest time.Duration) {
	switch {
	case h.state != Up && p.probe:
		h.probeFailed(now)
	case h.state == Up && counts && !p.sent.Before(h.lastOK) && now.Sub(h.lastFail) >= oneEvent:
		h.failures++
		h.lastFail = now
		if h.failures >= row && now.Sub(h.lastOK) >= max(doubtAfter, longest) {
			h.beginDoubt(now)
		}
	}
}

// countBroken counts connections that break together since lastOK: within oneDeath of the first, with requests that were in
// flight at that time. Inputs that break their connections do so at different times. fatal is the number that neither chance
// nor inputs explain.
func (h *health) countBroken(now time.Time, p Permit, fatal int) {
	if h.broken == 0 || !h.died() && now.Sub(h.brokeAt) > oneDeath {
		h.brokeAt, h.fatal, h.broken = now, fatal, 0
	}
	if !p.sent.After(h.brokeAt) {
		h.broken++
	}
}

// died reports whether the service has died since lastOK: most connections in use have broken, and no answer has come.
func (h *health) died() bool { return h.broken > 0 && h.broken >= h.fatal }

// isDown reports whether the service has died or could not be reached since lastOK: no input causes that.
func (h *health) isDown() bool { return !h.unreached.IsZero() || h.died() }

// beginDoubt begins a doubt whose first probe may be sent at the time probe.
func (h *health) beginDoubt(probe time.Time) {
	h.state, h.since, h.next, h.probes, h.failures = Doubt, h.lastOK, probe, 0, 0
	h.refusing, h.closed, h.mute, h.inputs, h.tested, h.test = false, false, false, false, false, 0
}

func (h *health) probeFailed(now time.Time) {
	h.probes++
	h.refusing, h.closed = false, false
	if h.state == Limited {
		h.state, h.probes = Doubt, 1
	}
	if h.state == Doubt && h.probes >= outProbes && now.Sub(h.since) >= outAfter {
		h.state = Out
	}
	h.next = now.Add(min(max(now.Sub(h.since)/probeGrowth, probeFirst), probeLast))
}

// probe decides while the service is in doubt: one request is sent at a time, if possible a first attempt.
func (c *Controller) probe(now time.Time, q Queue) Decision {
	h := &c.health
	end := time.Duration(math.MaxInt64)
	if h.state == Out || h.state == Limited && !h.closed {
		if end = h.since.Add(c.options.MaxOutage).Sub(now); end <= 0 {
			return Decision{Action: Stop, Err: &OutageError{Longest: c.options.MaxOutage}}
		}
	}
	switch {
	case h.probing && h.refusing && !h.suspect:
		wait := h.probed.sent.Add(c.patience()).Sub(now)
		if wait > 0 {
			return Decision{For: min(wait, end)}
		}
		h.probing = false
		ok := h.lastOK
		c.heal(now, h.probed) // a refusal would have come by now
		h.lastOK = ok         // heal has set lastOK, but no answer has come
		d, _ := c.decide(now, q)
		return d
	case h.probing && end == math.MaxInt64:
		return Decision{}
	case h.probing:
		return Decision{For: end}
	case now.Before(h.next):
		return Decision{For: min(h.next.Sub(now), end)}
	case c.pace.capWait(now) > 0:
		return Decision{For: min(c.pace.capWait(now), end)}
	case h.suspect, h.testsInputs(q):
		return Decision{Action: SendKnown}
	case q.First && !h.triesRetry(q):
		return Decision{Action: SendFirst}
	case q.First:
		return Decision{Action: SendRetry}
	case c.tellsQuota() && !h.closed && !(h.refusing && c.trip.certain): // the limiter may not cover the usage operation, whose answer then says nothing about the limiter
		return Decision{Action: AskQuota}
	case q.Known && (q.Spent || q.Retry && (h.state == Doubt && !h.refusing || h.probes%2 == 1 && (h.state == Out || h.state == Limited && !c.trip.certain))): // else inputs that always fail would cause or prolong an outage
		return Decision{Action: SendKnown}
	case q.Retry:
		return Decision{Action: SendRetry}
	}
	return Decision{}
}

// testsInputs reports whether a request that was answered before is sent next, because the inputs of the others may be the cause:
// all refused requests are retries, or a first attempt has failed in the doubt. That the repeated request is answered shows too
// little: it may be admitted because it is alone, or the service is up again. The inputs are the cause if another request then
// fails, and a repeated request is answered again.
func (h *health) testsInputs(q Queue) bool {
	before := 0 // failed probes
	if h.tested {
		before++
	}
	switch {
	case !q.Known || h.closed:
		return false
	case h.refusing:
		return !q.First && h.probes == before
	}
	return q.First && h.state == Doubt && h.probes == before+1 && h.vain < mostVain
}

// triesRetry reports whether a retry is sent next in place of a first attempt: a service may fail the first attempt for each input,
// and have the answer a moment later. It is sent rarely, because inputs that always fail would prolong the doubt.
func (h *health) triesRetry(q Queue) bool {
	const every = 4 // probes
	return q.Retry && h.probes%every == every-1
}

// FailureCause is the cause of a failure.
type FailureCause uint8

// The causes.
const (
	CauseRequest FailureCause = iota + 1 // the request: the service has answered since, and the failure counts against the record
	CauseOutage                          // the service was out or in doubt: the failure does not count
	CauseUnknown                         // the service has not answered since
	CauseInput                           // the request, although the service has refused it: another request was admitted
)

// CauseOf returns the cause of a failure at the time failed. last says that the record has no attempt left. If the cause is
// unknown then, the next decision is a request that shows whether the service is out.
func (c *Controller) CauseOf(now, failed time.Time, q Queue, last bool) FailureCause {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := &c.health
	switch {
	case !failed.Before(c.trip.blamed.from) && !failed.After(c.trip.blamed.to):
		return CauseInput
	case (h.state == Out || h.state == Limited) && !failed.Before(h.since):
		return CauseOutage
	case h.wasAbsent(failed):
		return CauseOutage
	case h.lastOK.After(failed):
		return CauseRequest
	case !last || q.First || c.inFlight > 0: // an answer may come
		return CauseUnknown
	case h.state == Up && !q.Proof && !c.options.CanAsk:
		return CauseRequest
	case h.state == Up:
		h.beginDoubt(now)
		h.inputs = true
	}
	if q.Known || c.tellsQuota() {
		return CauseUnknown
	}
	return CauseOutage // nothing but a retry can show whether the service answers
}

// AnsweredSince reports whether the service has answered a request that was sent after a time.
func (c *Controller) AnsweredSince(t time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.health.okSent.After(t)
}

// tellsQuota reports whether asking for the quota shows that the service is up.
func (c *Controller) tellsQuota() bool { return c.options.CanAsk && !c.health.mute }

// OutageError says that the service has been out for too long.
type OutageError struct{ Longest time.Duration }

func (e *OutageError) Error() string {
	return fmt.Sprintf("the service has been out for %v", e.Longest)
}

// OptionName returns "limits.MaxOutage", the option that bounds an outage.
func (e *OutageError) OptionName() string { return "limits.MaxOutage" }
