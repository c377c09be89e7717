package limits

import (
	"math"
	"time"
)

// pressure counts the successes and failures of attempts that were sent since the last cut.
type pressure struct {
	since time.Time // the time of the cut: attempts that were sent earlier do not count
	at    time.Time // when the counts last decayed

	recent   attempts      // over about span.unit
	latest   attempts      // over about span.moment
	full     float64       // failures in recent that occurred with the number in flight at its bound
	refused  float64       // failures in recent by which the service may refuse
	inFlight attempts      // the sum of the numbers in flight at the attempts in recent
	took     time.Duration // the mean time until a failure
	broke    time.Time     // when a connection last failed

	experiment experiment
	background float64 // the share of first attempts that fails at any rate
}

// attempts are numbers of attempts.
type attempts struct{ good, bad float64 }

// share is the share of failures; 1 without attempts.
func (t attempts) share() float64 {
	if t.good+t.bad == 0 {
		return 1
	}
	return t.bad / (t.good + t.bad)
}

func (t *attempts) scale(by float64) { t.good, t.bad = t.good*by, t.bad*by }

// experiment is a series of cuts that have not reduced the failures so far.
type experiment struct {
	cuts   int
	deep   bool     // the last cut has halved the rate
	share  float64  // the share of failures before the last cut
	served float64  // requests a second before a deep cut
	last   attempts // since the last cut

	// Before the first cut:
	rate, ceiling float64
	most          int // the bound of the number in flight
}

const (
	tolerance  = 0.02 // share of the attempts that may fail above the background
	slackShare = 0.5  // the same as a share of the background, which is an estimate
	enough     = 3    // failures: fewer may be chance
	doubtful   = 5    // attempts that are added to the latest ones: few attempts say little

	tolerableFor  = 100 // attempts until an experiment ends although some attempts fail
	decideAfter   = 8   // failures in an experiment, or expected in it, until it is decided
	noneAfter     = 5   // expected failures until an experiment without failures is decided
	relief        = 0.3 // share of the expected failures: at most so many mean that the cut has helped
	halved        = 0.5 // share of failures at most: half of the rate would leave none of them if a limit were the cause
	backgroundFor = 20  // expected failures until the background is corrected

	crowdPrice   = 0.003 // the same, because the number in flight grows: each refusal also delays answers
	refusedPrice = 0.007 // share of the requests that may be refused because the rate grows

	slowFailure = 4   // times the latency of answers: limits refuse earlier
	slowWeight  = 0.2 // the weight of such a failure: a few requests that hang say little about the others
)

// begin clears the counts.
func (e *pressure) begin(now time.Time) {
	e.since, e.at = now, now
	e.recent, e.latest, e.experiment.last = attempts{}, attempts{}, attempts{}
	e.full, e.inFlight, e.refused = 0, attempts{}, 0
}

// decay reduces the weight of older attempts.
func (e *pressure) decay(now time.Time, s span) {
	elapsed := now.Sub(e.at)
	if elapsed < lookAt {
		return
	}
	e.at = now
	kept := math.Exp(-elapsed.Seconds() / s.unit.Seconds())
	e.recent.scale(kept)
	e.full *= kept
	e.inFlight.scale(kept)
	e.refused = e.refused * kept
	e.latest.scale(math.Exp(-elapsed.Seconds() / s.moment.Seconds()))
}

func (e *pressure) count(good, bad float64) {
	for _, t := range []*attempts{&e.recent, &e.latest, &e.experiment.last} {
		t.good, t.bad = max(0, t.good+good), max(0, t.bad+bad)
	}
}

// accept counts a success: an answer has come, or the service is so slow that a refusal would
// have come long before the answer.
func (c *Controller) accept(now time.Time, p Permit, s span) {
	e := &c.pressure
	e.decay(now, s)
	e.count(1, 0)
	e.inFlight.good += float64(p.inFlight)
	if !e.isObserved(now) {
		return
	}
	if t := &e.experiment; t.cuts == 0 {
		e.correct()
	} else if e.relieved() {
		if t.deep { // the cut was deeper than needed
			c.pace.ceiling = t.served
		}
		t.cuts = 0
		if n := t.last.good + t.last.bad; n >= tolerableFor { // a part of the remaining failures is not due to the rate
			e.background = max(e.background, min(t.last.share(), tolerance)/2)
			if t.ceiling == 0 && t.last.share() > relief*t.share { // the run has met no limit so far
				c.pace.restore(now, t.rate, 0)
			}
		}
	}
}

// failed counts a failure that may be due to pressure: any refusal, and the failure of a first
// attempt.
func (e *pressure) failed(now time.Time, p Permit, r Result, s span, latency time.Duration) {
	if p.sent.Before(e.since) || !p.first && r.Signal != Refused {
		return
	}
	if p.accepted {
		e.count(-1, 0)
		e.inFlight.good = max(0, e.inFlight.good-float64(p.inFlight))
	}
	if r.Broken && now.Sub(e.broke) < oneEvent {
		return
	}
	if r.Broken {
		e.broke = now
	}
	e.decay(now, s)
	weight := 1.0
	switch took := now.Sub(p.sent); {
	case (r.Signal == Failed || r.Broken) && took > time.Second && took > slowFailure*latency:
		weight = slowWeight
	case e.took == 0:
		e.took = took
	default:
		e.took += (took - e.took) / 8
	}
	e.count(0, weight)
	e.inFlight.bad += weight * float64(p.inFlight)
	if r.Signal != Failed && !r.Broken {
		e.refused += weight
	}
	if p.full {
		e.full += weight
	}
}

// isObserved reports whether enough time has passed for the attempts right after the cut to fail.
func (e *pressure) isObserved(now time.Time) bool { return now.Sub(e.since) > e.took*5/4 }

// relieved reports whether the last cut of the experiment has helped: fewer attempts fail than
// before the cut, or no more than tolerable.
func (e *pressure) relieved() bool {
	t := &e.experiment
	n := t.last.good + t.last.bad
	expected := n * t.share
	return expected >= noneAfter && t.last.bad < 1 ||
		expected >= decideAfter && t.last.bad <= relief*expected ||
		n >= tolerableFor && t.last.share() <= e.tolerable()
}

// tolerable is the share of attempts that may fail without being pressure.
func (e *pressure) tolerable() float64 {
	return e.background + max(tolerance, slackShare*e.background)
}

// correct lowers a background that is too high.
func (e *pressure) correct() {
	t := &e.experiment
	if (t.last.good+t.last.bad)*e.background >= backgroundFor {
		e.background = min(e.background, max(t.last.share(), e.background/2))
		t.last = attempts{}
	}
}

// exceeded reports whether more recent attempts have failed than the background explains.
func (e *pressure) exceeded() bool {
	expected := (e.recent.good + e.recent.bad) * e.background
	return e.recent.bad-expected >= enough+2*math.Sqrt(expected) &&
		e.recent.share() > e.tolerable()
}

// unrelieved reports that the last cut of the experiment has not helped. Until the experiment is
// decided, both relieved and unrelieved are false.
func (e *pressure) unrelieved(now time.Time) bool {
	last := e.experiment.last
	return e.isObserved(now) && last.bad >= decideAfter && last.share() > e.tolerable()
}

// pressed lowers the rate or the number in flight if too many attempts have failed.
func (c *Controller) pressed(now time.Time) {
	e, t := &c.pressure, &c.pressure.experiment
	switch {
	case t.cuts == 0 && !e.exceeded() || t.cuts > 0 && !e.unrelieved(now):
	case e.recent.good < 1: // nothing succeeds, which says nothing about the limit
		c.pace.halve(now)
		e.begin(now)
	case t.cuts == 0:
		*t = experiment{cuts: 1, share: e.recent.share(), rate: c.pace.rate, ceiling: c.pace.ceiling, most: c.concurrency.most}
		c.lower(now, c.pace.ceiling == 0) // without a ceiling the rate has just doubled
	default:
		if t.deep && t.share <= halved { // under a limit the deep cut would have ended the failures
			c.ignore(now)
			return
		}
		t.cuts++
		t.deep, t.share = t.cuts > 2, t.last.share()
		c.lower(now, t.deep)
	}
}

// crowded reports whether more attempts were in flight at failures than at successes. While the rate doubles, and before
// the first answer, that is so at any limit.
func (c *Controller) crowded() bool {
	e := &c.pressure
	bad, good := e.inFlight.bad/e.recent.bad, e.inFlight.good/max(1, e.recent.good)
	return c.pace.ceiling > 0 && c.concurrency.latency() > 0 && e.recent.good >= decideAfter && good > 2 && bad > good+max(0.7, good/10)
}

// cutInFlight lowers the number in flight to that of the last request that did not fail because of it, and reports whether it
// has done so. As many as are admitted at once (their rate times the latency) may stay.
func (c *Controller) cutInFlight(now time.Time) bool {
	e := &c.pressure
	rate := c.admitted.perSecond(now, now.Sub(c.pace.cut))
	atOnce := int(rate*c.concurrency.latency().Seconds() + 0.9)
	if atOnce >= c.concurrency.most {
		return false
	}
	c.concurrency.cut(now, min(c.concurrency.most-1, max(int(e.inFlight.bad/e.recent.bad)-1, atOnce)))
	c.concurrency.hold = c.price(now, e.refused/max(rate, 1), crowdPrice)
	return true
}

// lower makes a cut: of the number in flight if attempts failed because of it, else of the rate. A deep cut halves the
// rate.
func (c *Controller) lower(now time.Time, deep bool) {
	e := &c.pressure
	excess := max(0, e.latest.bad/(e.latest.good+e.latest.bad+doubtful)-e.background)
	admitted := c.admitted.perSecond(now, now.Sub(c.pace.cut))
	isLimit := e.refused > e.recent.bad/2
	full, crowded := e.full > e.recent.bad/2 && !c.pace.binds(now), c.crowded()
	thinned := (full || crowded) && c.cutInFlight(now)
	if !thinned || !full && e.experiment.cuts > 1 || deep {
		present := c.pace.present(now)
		served := present * (1 - excess)
		if isLimit {
			served = max(served, min(present, admitted))
		}
		e.experiment.served = served
		if deep {
			served = min(served, present/2)
		}
		cost := time.Duration(0)
		if isLimit {
			cost = c.price(now, e.refused/served, refusedPrice)
		}
		c.pace.lower(now, served, cost)
	}
	e.begin(now)
}

// ignore makes the share of failures the background, and undoes the cuts.
func (c *Controller) ignore(now time.Time) {
	t := c.pressure.experiment
	c.pressure.background = t.last.share()
	c.pressure.experiment = experiment{}
	c.pace.restore(now, t.rate, t.ceiling)
	c.concurrency.most = t.most
	c.pressure.begin(now)
}
