package limits

import (
	"math"
	"time"
)

// pressure counts the admitted and the refused attempts that were sent since the last cut, and cuts the rate, or the
// number in flight, if too many are refused.
type pressure struct {
	since time.Time // the time of the last cut: attempts that were sent earlier do not count
	at    time.Time // when the counts last faded

	recent attempts      // over about a unit of time: see Controller.unit
	cost   float64       // refusals since the last cut
	rate   float64       // the rate at which the last refused attempt was sent
	took   time.Duration // the mean time until a refusal

	steady     steady
	background float64   // the share of attempts that are refused at any rate
	until      time.Time // when the background is set to 0 again
}

// steady is a series of cuts that did not change the share of refusals. Then the rate is not their cause: perhaps one of
// several backends refuses everything.
type steady struct {
	cuts          int
	share         float64 // of refusals before the first cut
	rate, refused float64 // before the first cut
	last          float64 // the rate before the last cut
	began         time.Time
}

const (
	enough        = 3                // refusals or cuts in a row: fewer may be chance
	tolerance     = 0.02             // share of the attempts that may be refused: fewer refusals cost less than a lower rate
	doubtful      = 5                // attempts that are added to the recent attempts when the excess is estimated: few attempts say little
	steadyShare   = 0.7              // the least part of the share before the cuts that must remain: if the rate were the cause, half the rate would leave less
	steadyRate    = 0.5              // the part of the rate before the cuts below which the share is judged: half the rate shows whether the rate matters
	steadyTime    = 20               // the background lasts for this multiple of the series: to find it again costs a twentieth
	steadyLeast   = 30 * time.Second // the least time that the background lasts: about the restart of a backend
	inFlightShare = 0.003            // share of the requests that growth of the number in flight may cost
	refusedShare  = 0.01             // share of the requests that growth of the rate may cost: a third of its gain
)

// begin clears the counts.
func (e *pressure) begin(now time.Time) {
	e.since, e.at = now, now
	e.recent, e.cost = attempts{}, 0
}

// fade reduces the weight of older attempts.
func (e *pressure) fade(now time.Time, unit time.Duration) {
	elapsed := now.Sub(e.at)
	if elapsed < updateEvery {
		return
	}
	e.at = now
	e.recent.scale(math.Exp(-elapsed.Seconds() / unit.Seconds()))
}

func (e *pressure) count(good, bad float64) {
	e.recent.add(good, bad, math.Inf(1))
	e.cost += bad
}

// accept counts an admitted request: an answered request or, if answers are slow, a sent request.
func (c *Controller) accept(now time.Time, p Permit) {
	e := &c.pressure
	e.fade(now, c.unit())
	e.count(1, 0)
	c.flight.concurrency.count(p, &c.flight.concurrency.admitted)
	if now.After(e.until) {
		e.background = 0
	}
}

// isRefusal reports whether a result counts as a refusal.
func (c *Controller) isRefusal(p Permit, r Result) bool {
	return !r.Broken && r.Signal == Refused || c.faults.limits && p.first // the input of a retry may be the cause
}

func (e *pressure) countRefused(now time.Time, p Permit, unit time.Duration, w *concurrency) {
	if p.sent.Before(e.since) {
		return
	}
	e.fade(now, unit)
	if p.accepted {
		e.count(-1, 0)
		i := min(p.inFlight, len(w.admitted)-1)
		w.admitted[i] = max(0, w.admitted[i]-1)
	}
	if took := now.Sub(p.sent); e.took == 0 {
		e.took = took
	} else {
		e.took += (took - e.took) / 8
	}
	e.count(0, 1)
	e.rate = p.rate
	w.count(p, &w.refused)
}

// exceeds reports whether at least least more attempts are refused than the background explains.
func (e *pressure) exceeds(t attempts, least float64) bool {
	expected := (t.good + t.bad) * e.background
	return t.bad-expected >= least+2*math.Sqrt(expected) && t.share() > e.background+max(tolerance, e.background/2)
}

// pressed makes a cut if too many attempts are refused.
func (c *Controller) pressed(now time.Time) {
	e := &c.pressure
	if !e.exceeds(e.recent, enough) {
		return
	}
	if e.isSteady(now, &c.pace) { // the rate is not the cause
		e.background = e.recent.share()
		e.until = now.Add(max(steadyTime*now.Sub(e.steady.began), steadyLeast))
		c.pace.restore(now, e.steady.rate, e.steady.refused)
		e.steady = steady{}
		e.begin(now)
		return
	}
	e.background = 0 // more are refused than another cause explains
	c.lower(now)
}

// isSteady counts the cuts that did not change the share of refusals, and reports whether these cuts show that the rate is not
// the cause. A cut does not count if few requests were admitted before it.
func (e *pressure) isSteady(now time.Time, p *pace) bool {
	t, share := &e.steady, e.recent.share()
	if t.cuts == 0 || share < steadyShare*t.share || p.rate >= t.last {
		*t = steady{share: share, rate: p.rate, refused: p.refused, began: now}
	}
	if e.recent.good < enough { // too few to judge
		return false
	}
	t.cuts, t.last = t.cuts+1, p.rate
	return t.cuts > enough && p.rate < steadyRate*t.rate
}

// lower cuts the number in flight if the service limits it, else the rate.
func (c *Controller) lower(now time.Time) {
	e := &c.pressure
	defer e.begin(now)
	if c.lowerInFlight(now) {
		return
	}
	// The present rate may be 0 while refused attempts hang, so the rate at which they were sent counts too.
	rate := max(c.present(now), min(e.rate, c.pace.rate))
	if e.recent.good < 1 { // nothing is admitted: this may be the start of a trip, and does not show the limit
		if now.Sub(c.pace.cut) > c.answersAfter() {
			c.pace.halve(now, rate)
		}
		return
	}
	excess := max(0, e.recent.bad/(e.recent.good+e.recent.bad+doubtful)-e.background)
	admitted := max(rate*(1-excess), min(rate, c.admitted.perSecond(now, now.Sub(c.pace.cut))))
	c.pace.lower(now, rate, admitted, c.hold(now, e.cost/admitted, refusedShare))
}

// lowerInFlight lowers the number in flight to the limit that the counts show, and reports whether it did.
func (c *Controller) lowerInFlight(now time.Time) bool {
	n := c.flight.concurrency.limit(c.admitted.perSecond(now, 5*time.Second) * c.flight.latency().Seconds())
	if n == 0 || n >= c.flight.most {
		return false
	}
	rate := max(1, c.admitted.perSecond(now, now.Sub(c.flight.cutAt)))
	c.flight.cut(now, n)
	c.flight.hold = c.hold(now, c.pressure.cost/rate, inFlightShare)
	return true
}
