package limits

import (
	"math"
	"time"
)

// pressure is what became of the attempts that were sent since the last cut.
type pressure struct {
	since time.Time // of the cut: attempts that were sent earlier say nothing
	at    time.Time // when the counts were last brought up to date

	recent tally         // over about a unit of time
	latest tally         // over a moment
	full   float64       // of recent.bad: as many were in flight as may be
	crowd  float64       // of recent.bad: how many were in flight, in sum
	took   time.Duration // until a failure, on average
	broke  time.Time     // when a connection last failed

	trial      trial
	background float64 // the share of first attempts that fails at any rate
}

// tally counts attempts.
type tally struct{ good, bad float64 }

// share is the share of failures; 1 before anything is known.
func (t tally) share() float64 {
	if t.good+t.bad == 0 {
		return 1
	}
	return t.bad / (t.good + t.bad)
}

func (t *tally) scale(by float64) { t.good, t.bad = t.good*by, t.bad*by }

// trial is a row of cuts that have not helped so far.
type trial struct {
	cuts   int
	deep   bool    // the last cut has halved the rate
	share  float64 // of failures before the last cut
	served float64 // requests a second before a deep cut
	last   tally   // since the last cut

	rate, ceiling float64 // before the first cut
	most          int
}

const (
	tolerance  = 0.02 // of the attempts may fail beside the background
	slackShare = 0.5  // of the background may fail beside the background, which is an estimate
	enough     = 3    // failures, or more, are no chance
	doubtful   = 5    // attempts that a share is thought to lack: few attempts say little
	leastPeak  = 3    // in flight: fewer are no sign of a limit of connections

	tolerableFor  = 100 // attempts, for a trial to end though some fail
	verdictAfter  = 8   // failures that a trial has seen, or would have seen without relief
	noneAfter     = 5   // the same where it has seen none
	relief        = 0.3 // of those failures, or fewer: the cut has helped
	firstShare    = 0.6 // of the share that led to the first cut: that was a high one by chance
	halved        = 0.5 // of the attempts, or fewer, fail at a limit that half of the rate keeps to
	backgroundFor = 20  // expected failures, or more, correct the background

	slowFailure = 4   // times the latency of answers: no limit refuses so late
	slowWeight  = 0.2 // of such a failure: a few requests that hang say little about the others
)

// begin starts the counts anew.
func (e *pressure) begin(now time.Time) {
	e.since, e.at = now, now
	e.recent, e.latest, e.trial.last = tally{}, tally{}, tally{}
	e.full, e.crowd = 0, 0
}

// decay lets older attempts count less.
func (e *pressure) decay(now time.Time, s span) {
	elapsed := now.Sub(e.at)
	if elapsed < lookAt {
		return
	}
	e.at = now
	kept := math.Exp(-elapsed.Seconds() / s.unit.Seconds())
	e.recent.scale(kept)
	e.full, e.crowd = e.full*kept, e.crowd*kept
	e.latest.scale(math.Exp(-elapsed.Seconds() / s.moment.Seconds()))
}

func (e *pressure) count(good, bad float64) {
	for _, t := range []*tally{&e.recent, &e.latest, &e.trial.last} {
		t.good, t.bad = max(0, t.good+good), max(0, t.bad+bad)
	}
}

// accept counts an attempt for good: an answer has come, or the service is so slow that a
// refusal would come long before the answer.
func (c *Controller) accept(now time.Time, s span) {
	e := &c.pressure
	e.decay(now, s)
	e.count(1, 0)
	if !e.settled(now) {
		return
	}
	if t := &e.trial; t.cuts == 0 {
		e.correct()
	} else if e.relieved() {
		if t.deep { // deeper than needed
			c.pace.ceiling = t.served
		}
		t.cuts = 0
		if n := t.last.good + t.last.bad; n >= tolerableFor { // what is left is not due to the rate, in part
			e.background = max(e.background, min(t.last.share(), tolerance)/2)
			if t.ceiling == 0 && t.last.share() > relief*t.share { // no limit has shown yet
				c.pace.restore(now, t.rate, 0)
			}
		}
	}
}

// failed counts a failure that may be due to pressure: a refusal, or a first attempt's.
func (e *pressure) failed(now time.Time, p Permit, r Result, s span, latency time.Duration) {
	if p.sent.Before(e.since) || !p.first && r.Outcome != Refused {
		return
	}
	if p.accepted {
		e.count(-1, 0)
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
	case took > time.Second && took > slowFailure*latency:
		weight = slowWeight
	case e.took == 0:
		e.took = took
	default:
		e.took += (took - e.took) / 8
	}
	e.count(0, weight)
	e.crowd += weight * float64(p.inFlight)
	if p.full {
		e.full += weight
	}
}

// settled says whether failures of attempts that were sent right after the cut would be known.
func (e *pressure) settled(now time.Time) bool { return now.Sub(e.since) > e.took*5/4 }

// relieved says whether a trial's last cut has helped: fewer fail than before, or no more than
// may.
func (e *pressure) relieved() bool {
	t := &e.trial
	n := t.last.good + t.last.bad
	expected := n * t.share
	return expected >= noneAfter && t.last.bad < 1 ||
		expected >= verdictAfter && t.last.bad <= relief*expected ||
		n >= tolerableFor && t.last.share() <= e.tolerable()
}

// tolerable is the share of attempts that may fail.
func (e *pressure) tolerable() float64 {
	return e.background + max(tolerance, slackShare*e.background)
}

// correct lowers a background that was too high.
func (e *pressure) correct() {
	t := &e.trial
	if (t.last.good+t.last.bad)*e.background >= backgroundFor {
		e.background = min(e.background, max(t.last.share(), e.background/2))
		t.last = tally{}
	}
}

// exceeded says whether more attempts have failed of late than the background explains.
func (e *pressure) exceeded() bool {
	expected := (e.recent.good + e.recent.bad) * e.background
	return e.recent.bad-expected >= enough+2*math.Sqrt(expected) &&
		e.recent.share() > e.tolerable()
}

// unrelieved says whether a trial's last cut has not helped.
func (e *pressure) unrelieved(now time.Time) bool {
	last := e.trial.last
	return e.settled(now) && last.bad >= verdictAfter && last.share() > e.tolerable()
}

// pressed lowers the rate or the number in flight if enough attempts have failed.
func (c *Controller) pressed(now time.Time) {
	e, t := &c.pressure, &c.pressure.trial
	switch {
	case t.cuts == 0 && !e.exceeded() || t.cuts > 0 && !e.unrelieved(now):
	case e.recent.good < 1: // nothing works: that says nothing about the limit
		c.pace.halve(now)
		e.begin(now)
	case t.cuts == 0:
		*t = trial{cuts: 1, share: firstShare * e.recent.share(), rate: c.pace.rate, ceiling: c.pace.ceiling, most: c.flight.most}
		c.lower(now, c.pace.ceiling == 0) // the rate was half of this a moment ago
	default:
		if t.deep && t.share <= halved { // a limit would have left no failure
			c.ignore(now)
			return
		}
		t.cuts++
		t.deep, t.share = t.cuts > 2, t.last.share()
		t.served = c.pace.present(now) * (1 - t.share)
		c.lower(now, t.deep)
	}
}

// lower makes a cut: of the number in flight if that was full when attempts failed, else of
// the rate. A deep cut halves the rate.
func (c *Controller) lower(now time.Time, deep bool) {
	e := &c.pressure
	excess := max(0, e.latest.bad/(e.latest.good+e.latest.bad+doubtful)-e.background)
	full := e.full > e.recent.bad/2
	peak := c.flight.peak()
	switch {
	case full:
		c.flight.cut(now, min(c.flight.most-1, int(float64(c.flight.most)*(1-excess))))
	case e.crowd/e.recent.bad > 0.9*float64(peak): // more were in flight than when answers came
		c.flight.cut(now, max(peak, leastPeak))
	}
	if !full || deep {
		present := c.pace.present(now)
		served := present * (1 - excess)
		if deep {
			served = min(served, present/2)
		}
		c.pace.lower(now, served)
	}
	e.begin(now)
}

// ignore takes the share of failures for the background, and takes the cuts back.
func (c *Controller) ignore(now time.Time) {
	t := c.pressure.trial
	c.pressure.background = t.last.share()
	c.pressure.trial = trial{}
	c.pace.restore(now, t.rate, t.ceiling)
	c.flight.most = t.most
	c.pressure.begin(now)
}
