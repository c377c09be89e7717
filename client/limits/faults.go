package limits

import (
	"math"
	"time"
)

// faults counts the failures that are not refusals, such as a 500, a reset, a timeout or an HTML page. A service has a usual
// share of failures at any rate. If the share rises, a test shows whether the rate is the cause: the failures must become fewer
// at half the rate, and more at the restored rate. Then failures count as refusals.
type faults struct {
	usual, recent attempts      // first attempts: recent counts about the last recentOver, and usual about the usualOver before the recent ones
	took          time.Duration // the mean time until a failure
	rate          float64       // the highest rate, in requests a second, at which failed attempts were sent; it fades with each failure
	broke         time.Time     // when a connection last failed
	refuses       bool          // the service has refused a request, so it has no reason to limit by failures
	refused       bool          // it refused one in an earlier run
	limits        bool          // failures are refusals
	falseDoubts   int           // doubts that ended without an outage: the inputs caused the failures

	test test
}

type attempts struct{ good, bad float64 }

// share is the share of failures; 0 without attempts.
func (t attempts) share() float64 { return t.bad / max(1, t.good+t.bad) }

func (t *attempts) scale(by float64) { t.good, t.bad = t.good*by, t.bad*by }

// add counts attempts. Earlier counts fade: the sum stays at about over attempts.
func (t *attempts) add(good, bad, over float64) {
	if t.good+t.bad > over {
		t.scale(1 - 1/over)
	}
	t.good, t.bad = max(0, t.good+good), max(0, t.bad+bad)
}

type test struct {
	stage    stage
	since    time.Time // attempts that were sent earlier do not count
	seen     attempts
	tested   int     // attempts
	share    float64 // of failures before the test
	least    float64 // of failures at half the rate
	rate     float64 // before the test
	halvings int
	settled  bool // the step was repeated after the longest usual window, which may have caused the failures
}

type stage uint8

const (
	noTest   stage = iota
	halved         // the rate is halved
	restored       // the failures became fewer, and the rate is restored
)

const (
	usualOver    = 1000 // attempts: at a share of 1%, ten of them fail
	recentOver   = 60   // attempts: a few seconds at most rates
	restoredOver = 200  // attempts, beyond the burst of a bucket that filled during the test
	priorShare   = 0.05 // the usual share of failures that is assumed at first, with the weight of priorCount attempts
	priorCount   = 50
	risen        = 0.1 // share of failures that a test needs: fewer failures cost less than the test
	mostlyFails  = 0.4 // usual share of failures, at least, if the service refused a request of an earlier run: it hardly limits by failures
	evidence     = 8.0 // log of the likelihood ratio that begins a test: high, because each attempt is a chance to begin one
	decisive     = 3.0 // log of the likelihood ratio that decides a step, 20 to 1
	halvings     = 4   // most halvings in a test: a run that has not found a rate yet may be far above the limit
	mostFalse    = 4   // most false doubts that count: each doubles the number of failures that begins the next doubt
	mostTested   = 500 // attempts until an undecided step ends
)

func newFaults() faults {
	return faults{usual: attempts{priorCount * (1 - priorShare), priorCount * priorShare}}
}

// ratio is the log of the likelihood ratio of the shares of failures a and b.
func (t attempts) ratio(a, b float64) float64 {
	const least = 0.001
	a, b = min(max(a, least), 1-least), min(max(b, least), 1-least)
	return t.bad*math.Log(a/b) + t.good*math.Log((1-a)/(1-b))
}

// hasRisen reports whether more attempts fail than usual.
func (f *faults) hasRisen() bool {
	share, usual := f.recent.share(), f.usual.share()
	if f.refused {
		usual = max(usual, mostlyFails)
	}
	return share > risen && share > usual && f.recent.good >= 1 && f.recent.ratio(share, usual) > evidence
}

// unlikelyRow is the least number of failures in a row that chance does not explain, if a share of the attempts fails.
func unlikelyRow(share float64, least int) int {
	const unlikely = -9.2 // the log of 1 in 10,000
	return max(least, int(math.Round(unlikely/math.Log(min(max(share, 1e-9), 0.95)))))
}

// counts reports whether a result counts as a failure. A broken connection counts once for all of its requests.
func (f *faults) counts(now time.Time, p Permit, r Result) bool {
	if !p.first || r.Broken && now.Sub(f.broke) < oneEvent {
		return false
	}
	if r.Broken {
		f.broke = now
	}
	return true
}

// countFault counts a success or a failure of a first attempt, and begins or continues a test.
func (c *Controller) countFault(now time.Time, p Permit, good, bad float64) {
	f := &c.faults
	if c.health.state != Up || p.sent.Before(c.pressure.since) {
		return
	}
	if bad > 0 {
		if f.took == 0 {
			f.took = now.Sub(p.sent)
		}
		f.took += (now.Sub(p.sent) - f.took) / 8
		f.rate = max(p.second, f.rate*7/8)
	}
	before := f.recent
	f.recent.add(good, bad, recentOver)
	f.usual.add(before.good+good-f.recent.good, before.bad+bad-f.recent.bad, usualOver) // attempts that are no longer recent
	if f.refuses || f.limits {
		return
	}
	t := &f.test
	switch {
	case t.stage == noTest:
		rate := c.pace.rate
		isYoung := now.Sub(c.pressure.since) < 2*time.Second+4*c.flight.latency()
		switch began := c.options.Learned.Rate; {
		case isYoung && began > 0 && c.pace.served == 0: // the allowed rate has doubled without an answer
			rate = min(rate, max(f.rate, began))
		case !isYoung && now.Sub(c.pace.waited) > time.Second: // the bound in flight holds requests back, so the allowed rate may be far above the sent one
			rate = min(rate, f.rate)
		}
		if f.hasRisen() && rate < mostRate && rate > 0.2 {
			*t = test{stage: halved, share: f.recent.share(), rate: rate}
			c.slow(now, t.rate/2)
		}
	case !p.sent.Before(t.since):
		over := math.Inf(1)
		if t.stage == restored { // a bucket that filled during the test refuses nothing at first
			over = restoredOver
		}
		t.tested++
		t.seen.add(good, bad, over)
		c.decideTest(now)
	}
}

// expected is the share of failures at half of the rate if the rate is the cause.
func (t *test) expected() float64 { return max(0.3*t.share, 1-1.6*(1-t.share)) }

// slow lowers the rate for a test.
func (c *Controller) slow(now time.Time, rate float64) {
	t := &c.faults.test
	t.since, t.seen, t.tested, t.settled = now, attempts{}, 0, false
	c.pace.slow(now, rate)
}

// decideTest moves the test to its next stage once the attempts of the present stage decide it.
func (c *Controller) decideTest(now time.Time) {
	f, t := &c.faults, &c.faults.test
	early, late := f.took.Seconds(), c.flight.latency().Seconds()
	seen, elapsed := t.seen, now.Sub(t.since).Seconds()
	if elapsed < 2*max(early, late) {
		return
	}
	seen.good *= 1 - max(0, early-late)/elapsed // failures come later than answers
	seen.bad *= 1 - max(0, late-early)/elapsed
	if t.stage == restored {
		switch share := seen.share(); {
		case share > t.least && seen.ratio(share, t.least) > evidence: // the failures rise with the rate
			f.limits = true
			rate := t.rate
			c.endTest(now)
			c.pace.lower(now, rate, max(rate*(1-share), c.served.perSecond(now, 5*time.Second)), 0)
			c.pressure.begin(now)
		case t.tested >= mostTested: // the failures became fewer by chance, or come of a higher rate
			rate := t.rate
			c.endTest(now)
			c.pace.refused = max(c.pace.refused, rate) // beyond it the rate grows slowly
		}
		return
	}
	ratio := seen.ratio(t.share, t.expected())
	same := ratio >= decisive
	switch {
	case !same && ratio > -decisive && t.tested < mostTested: // undecided
	case t.seen.share() > 3*risen && math.IsInf(c.pace.cap, 1) && c.pace.served == 0 && t.halvings < halvings-1:
		t.halvings++
		t.share = seen.share()
		c.slow(now, c.pace.rate/2)
	case same && t.share > 0.5 && !t.settled: // wait until the longest usual window has passed: it may be the cause
		t.since, t.seen, t.tested, t.settled = now.Add(longSilence), attempts{}, 0, true
	case same: // the new share is the usual one
		f.usual = attempts{priorCount * (1 - t.share), priorCount * t.share}
		c.endTest(now)
	default: // the failures have become fewer
		*t = test{stage: restored, least: max(seen.share(), priorShare), rate: t.rate / math.Exp2(float64(t.halvings)), since: now}
		c.pace.set(t.rate)
	}
}

// endTest ends the test, if a test is running, and restores the rate before the test.
func (c *Controller) endTest(now time.Time) {
	if t := &c.faults.test; t.stage != noTest {
		c.pace.set(max(c.pace.rate, t.rate))
		c.pace.try(now)
	}
	c.faults.test, c.faults.recent = test{}, attempts{}
}
