package limits

import (
	"math"
	"time"
)

// pace is the rate, and the time of the next request.
type pace struct {
	rate    float64 // requests a second; +Inf for no limit
	ceiling float64 // the rate at which pressure was met last; 0 for none
	stated  float64 // the limit that the service states; 0 for none
	cap     float64 // the caller's limit; +Inf for none

	burst  int
	next   time.Time     // the earliest time of the next request
	waited time.Time     // when a request last had to wait for the rate
	cut    time.Time     // when the rate was last lowered
	grown  time.Time     // when grow last ran
	hold   time.Duration // the least time from a cut until the rate passes the ceiling
	calm   float64       // the same, in units; it grows while cuts find the same ceiling

	meter meter // of requests sent
}

const (
	firstRate = 50.0  // requests a second: a service with a low limit refuses few of them in one round trip
	leastRate = 0.02  // a request in 50 seconds
	mostRate  = 1e6   // a higher rate limits nothing
	underCap  = 0.985 // share of the allowed rate: requests that the network delays do not crowd a second

	nearCeiling  = 0.98                 // share of the ceiling at which the rate waits for hold to end
	underCeiling = 0.95                 // share of the ceiling after a cut: a token bucket fills again
	underTrip    = 0.97                 // share of the rate before a trip: the block came before the rate was known exactly
	sameCeiling  = 0.1                  // share of the ceiling: a smaller change is ignored
	mostCalm     = 3                    // units: a raised limit is found soon
	growth       = 0.03                 // share of the rate, in the first unit above the ceiling
	holdUnits    = 10                   // units in a hold, at least: where cuts cost much, the rate grows in small steps
	aboveCeiling = 1.15                 // share of the ceiling until which the rate grows slowly
	mostGrowth   = 2.0                  // share of the rate, in a unit
	catchUp      = 2 * time.Millisecond // the requests of a late timer may follow at once
	lookAt       = 5 * time.Millisecond // the interval between updates
)

func newPace(o Options, now time.Time) pace {
	p := pace{cap: math.Inf(1), burst: max(1, o.Burst), next: now, cut: now, grown: now, meter: meter{at: now}}
	p.rate = firstRate
	if o.Rate > 0 {
		p.cap = o.Rate * underCap
		p.rate = p.cap
	}
	if learned := o.Learned.Rate; learned > 0 {
		p.ceiling, p.hold = learned, seconds(o.Learned.Silence.Seconds()/tripPrice)
		p.rate = min(p.cap, learned*underCeiling)
	}
	return p
}

// wait returns the time until the next request may be sent.
func (p *pace) wait(now time.Time) time.Duration {
	if math.IsInf(p.rate, 1) {
		return 0
	}
	wait := p.next.Sub(now)
	if wait <= 0 {
		return 0
	}
	p.waited = now
	return wait
}

// binds reports whether the rate holds requests back.
func (p *pace) binds(now time.Time) bool {
	return now.Sub(p.waited) <= max(20*time.Millisecond, 2*p.interval())
}

func (p *pace) interval() time.Duration { return seconds(1 / p.rate) }

// begin schedules the request after the one that is sent now. A request that a timer sent late
// does not delay the requests after it. After a pause only the burst is sent at once.
func (p *pace) begin(now time.Time) {
	p.meter.add(now)
	if math.IsInf(p.rate, 1) {
		return
	}
	interval := p.interval()
	saved := time.Duration(p.burst-1) * interval
	if late := now.Sub(p.next); now.Sub(p.waited) <= interval+catchUp {
		saved = max(saved, min(late, p.slack(interval)))
	}
	if earliest := now.Add(-saved); p.next.Before(earliest) {
		p.next = earliest
	}
	p.next = p.next.Add(interval)
}

// slack is the delay of a timer that later requests may make up for. Timers are late by up to a
// millisecond. At low rates a millisecond is a small part of the interval, and a service may
// refuse a request that comes earlier than its rate allows.
func (p *pace) slack(interval time.Duration) time.Duration {
	if interval >= 10*time.Millisecond {
		return interval * 3 / 200
	}
	return max(interval*9/10, catchUp)
}

// grow raises the rate. The caller makes sure that the rate holds requests back.
func (p *pace) grow(now time.Time, unit, latency time.Duration) {
	elapsed := now.Sub(p.grown)
	if elapsed < lookAt {
		return
	}
	p.grown = now
	if latency == 0 { // no answer has come so far
		latency = now.Sub(p.cut)
	}
	switch since := now.Sub(p.cut); {
	case p.ceiling == 0: // the rate doubles in two round trips
		p.double(elapsed, max(2*latency, 40*time.Millisecond))
	case p.rate < p.ceiling*underCeiling: // the service has served this rate before
		p.double(elapsed, max(250*time.Millisecond, 4*latency))
		p.set(min(p.ceiling*underCeiling, p.rate))
	default:
		hold := max(p.hold, time.Duration(p.calm*float64(unit)))
		unit = max(unit, p.hold/holdUnits)
		units := (since - hold).Seconds() / unit.Seconds()
		gain := min(growth*math.Exp2(units), mostGrowth)
		switch {
		case units < 0 && (p.rate >= p.ceiling*nearCeiling || p.calm == 0):
			return
		case units < 0:
			gain = growth
		}
		if p.rate < p.ceiling*aboveCeiling && p.hold > time.Duration(p.calm*float64(unit)) {
			gain = growth
		}
		p.set(p.rate * (1 + gain*min(elapsed, unit/4).Seconds()/unit.Seconds()))
	}
}

func (p *pace) double(elapsed, doubling time.Duration) {
	p.set(p.rate * math.Exp2(min(elapsed.Seconds(), 0.1)/doubling.Seconds()))
}

// lower cuts the rate to just under the rate that the service serves. The rate grows again when the cut, which has
// cost some time, is a small share of the run.
func (p *pace) lower(now time.Time, served float64, cost time.Duration) {
	if p.ceiling > 0 && math.Abs(served-p.ceiling) < sameCeiling*p.ceiling {
		p.calm = min(p.calm+1, mostCalm)
	} else {
		p.calm = 1
	}
	p.ceiling = max(served, leastRate)
	p.set(p.ceiling * underCeiling)
	p.hold = cost + max(0, p.hold-now.Sub(p.cut))
	p.cut, p.grown = now, now
}

// trip cuts the rate after a trip, to just under the rate before it. If the rate after the cut before was served
// for as long as that cut has cost, the rate returns there, or to the mean rate since the trip before.
func (p *pace) trip(now time.Time, rate, mean float64, cost time.Duration) {
	back, isTested := p.ceiling*underCeiling, p.ceiling > 0 && now.Sub(p.cut) > p.hold
	p.lower(now, underTrip*max(rate, mean), cost)
	if isTested && rate > back*0.8 {
		back = max(back, min(mean, p.rate))
		p.restore(now, back, back/underCeiling)
	}
	p.hold, p.calm = cost, 0
}

// halve cuts the rate and keeps the ceiling: it is not known which rate the service serves.
func (p *pace) halve(now time.Time) {
	present := p.present(now)
	if p.ceiling == 0 { // without a ceiling the rate would double again at once
		p.ceiling = present
	}
	p.set(present / 2)
	p.cut, p.grown = now, now
}

// restore undoes cuts.
func (p *pace) restore(now time.Time, rate, ceiling float64) {
	p.ceiling, p.hold, p.cut, p.grown = ceiling, 0, now, now
	p.set(rate)
}

// resume starts at a low rate after a doubt. A ceiling from before the first answer is dropped.
func (p *pace) resume(now time.Time, answered bool) {
	if !answered {
		p.ceiling = 0
	}
	if !math.IsInf(p.rate, 1) {
		p.set(firstRate)
		if p.ceiling > 0 {
			p.set(min(firstRate, p.ceiling*underCeiling))
		}
	}
	p.next, p.cut, p.grown = now, now, now
}

// state applies a limit that the service states.
func (p *pace) state(perSecond float64, now time.Time) {
	if perSecond <= 0 || perSecond == p.stated {
		return
	}
	p.stated = perSecond
	if p.rate > perSecond*underCap {
		p.ceiling, p.cut, p.grown = perSecond, now, now
	}
	p.set(p.rate)
}

// set sets the rate within its bounds.
func (p *pace) set(rate float64) {
	p.rate = min(max(rate, leastRate), p.most())
	if p.rate > mostRate && math.IsInf(p.cap, 1) {
		p.rate = mostRate
	}
}

// most is the lower of the caller's limit and the stated limit.
func (p *pace) most() float64 {
	if p.stated > 0 {
		return min(p.cap, p.stated*underCap)
	}
	return p.cap
}

// present is the rate at which requests are sent: below the allowed rate if something else holds
// requests back.
func (p *pace) present(now time.Time) float64 {
	if p.binds(now) {
		return p.rate
	}
	return min(p.rate, max(p.meter.perSecond(now), leastRate))
}

// meter measures the rate of events over about the last second.
type meter struct {
	at     time.Time
	count  float64
	weight float64 // seconds
}

func (m *meter) decay(now time.Time) {
	elapsed := now.Sub(m.at).Seconds()
	if elapsed <= 0 {
		return
	}
	kept := math.Exp(-elapsed)
	m.count *= kept
	m.weight = m.weight*kept + 1 - kept
	m.at = now
}

func (m *meter) add(now time.Time) {
	m.decay(now)
	m.count++
}

// perSecond is 0 before any time has passed.
func (m *meter) perSecond(now time.Time) float64 {
	m.decay(now)
	if m.weight == 0 {
		return 0
	}
	return m.count / m.weight
}
