package limits

import (
	"math"
	"time"
)

// pressure counts the admitted and the refused attempts that were sent since the last cut, and cuts the rate, or the
// number in flight, if too many are refused.
type pressure struct {
	since time.Time // the time of the cut: attempts that were sent earlier do not count
	at    time.Time // when the counts last faded

	recent attempts      // over about a unit of time: see unit
	cost   float64       // refusals since the last cut
	rate   float64       // at which the last refused attempt was sent
	took   time.Duration // the mean time until a refusal

	steady     steady
	background float64   // the share of attempts that is refused at any rate
	until      time.Time // the background is tried again
}

// steady is a series of cuts that have not changed the share of refusals: another cause than the rate, as when one of
// several backends refuses everything.
type steady struct {
	cuts          int
	share         float64 // at the first one
	rate, refused float64 // before the first one
	last          float64 // the rate before the last one
	began         time.Time
}

const (
	enough       = 3                // refusals in a row, or cuts: fewer may be chance
	tolerance    = 0.02             // share of the attempts that may be refused: they cost less than a lower rate
	doubtful     = 5                // attempts that are added to the recent ones in the estimate of the excess: few attempts say little
	steadyShare  = 0.7              // of the share before the cuts, at least: if the rate were the cause, half the rate would leave less
	steadyRate   = 0.5              // of the rate before the cuts, at most: a cut in half shows whether the rate matters
	steadyTime   = 20               // times the time of the series, until it is tried again: the trial costs a twentieth
	steadyLeast  = 30 * time.Second // a backend that is restarted takes as long
	crowdPrice   = 0.003            // share of the requests that may be refused because the number in flight grows
	refusedPrice = 0.01             // because the rate grows: a third of what the growth gains
)

// begin clears the counts.
func (e *pressure) begin(now time.Time) {
	e.since, e.at = now, now
	e.recent, e.cost = attempts{}, 0
}

// fade reduces the weight of older attempts.
func (e *pressure) fade(now time.Time, unit time.Duration) {
	elapsed := now.Sub(e.at)
	if elapsed < lookAt {
		return
	}
	e.at = now
	e.recent.scale(math.Exp(-elapsed.Seconds() / unit.Seconds()))
}

func (e *pressure) count(good, bad float64) {
	e.recent.add(good, bad, math.Inf(1))
	e.cost += bad
}

// accept counts an admitted request: an answer has come, or the service is so slow that a refusal would
// have come long before the answer.
func (c *Controller) accept(now time.Time, p Permit) {
	e := &c.pressure
	e.fade(now, c.unit())
	e.count(1, 0)
	c.flight.crowd.count(p, &c.flight.crowd.admitted)
	if now.After(e.until) {
		e.background = 0
	}
}

// isRefusal reports whether a result says, as far as is known, that the rate is too high.
func (c *Controller) isRefusal(p Permit, r Result) bool {
	return !r.Broken && r.Signal == Refused || c.faults.limits && p.first // the input of a retry may be the cause
}

// refusedOne counts a refused request.
func (e *pressure) refusedOne(now time.Time, p Permit, unit time.Duration, w *crowd) {
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

// exceeds reports whether more of the attempts are refused than the background explains, by at least a number.
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
	if e.isSteady(now, &c.pace) { // what the cuts have not changed has another cause
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

// isSteady counts the cuts that have not changed the share of refusals, and reports whether they are enough.
func (e *pressure) isSteady(now time.Time, p *pace) bool {
	t, share := &e.steady, e.recent.share()
	if t.cuts == 0 || share < steadyShare*t.share || p.rate >= t.last || e.recent.good < enough {
		*t = steady{share: share, rate: p.rate, refused: p.refused, began: now}
	}
	t.cuts, t.last = t.cuts+1, p.rate
	return t.cuts > enough && p.rate < steadyRate*t.rate
}

// lower makes a cut: of the number in flight if that is what the service refuses, else of the rate.
func (c *Controller) lower(now time.Time) {
	e := &c.pressure
	defer e.begin(now)
	if c.thin(now) {
		return
	}
	// While the refused attempts hang, nothing may be sent at all.
	rate := max(c.present(now), min(e.rate, c.pace.rate))
	if e.recent.good < 1 { // nothing is admitted, which says nothing about the limit, and may be the beginning of a trip
		if now.Sub(c.pace.cut) > c.answersAfter() {
			c.pace.halve(now, rate)
		}
		return
	}
	excess := max(0, e.recent.bad/(e.recent.good+e.recent.bad+doubtful)-e.background)
	admitted := max(rate*(1-excess), min(rate, c.admitted.perSecond(now, now.Sub(c.pace.cut))))
	c.pace.lower(now, rate, admitted, c.price(now, e.cost/admitted, refusedPrice))
}

// thin lowers the number in flight to that which the service admits at once, and reports whether it has done so.
func (c *Controller) thin(now time.Time) bool {
	n := c.flight.crowd.limit(c.admitted.perSecond(now, 5*time.Second) * c.flight.latency().Seconds())
	if n == 0 || n >= c.flight.most {
		return false
	}
	rate := max(1, c.admitted.perSecond(now, now.Sub(c.flight.cutAt)))
	c.flight.cut(now, n)
	c.flight.hold = c.price(now, c.pressure.cost/rate, crowdPrice)
	return true
}
