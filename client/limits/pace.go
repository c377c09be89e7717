package limits

import (
	"math"
	"time"
)

// pace is the rate, and the time of the next request.
type pace struct {
	rate    float64 // requests a second; infinite for no limit
	ceiling float64 // where pressure was met last; 0 while none was
	stated  float64 // by the service; 0 if it states none
	cap     float64 // of the rate, by the caller; infinite without

	burst  int
	next   time.Time     // of the next request, at the earliest
	waited time.Time     // when a request last had to wait for the rate
	cut    time.Time     // when the rate was last lowered
	grown  time.Time     // when growth was last looked at
	hold   time.Duration // after a cut, in which the rate does not grow beyond the ceiling, at least
	calm   float64       // units of the same; more while the ceiling is found where it was

	meter meter // of requests sent
}

const (
	firstRate = 50.0  // requests a second: a service with a low limit refuses few of them in one round trip
	leastRate = 0.02  // one in 50 seconds
	mostRate  = 1e6   // beyond it a rate bounds nothing
	underCap  = 0.985 // of the allowed rate, so that requests which are late on the network do not crowd a second

	nearCeiling  = 0.98                 // of the ceiling, to wait at
	underCeiling = 0.95                 // of the ceiling, to go on at: lets a bucket fill again
	sameCeiling  = 0.1                  // of the ceiling: a smaller change is none
	mostCalm     = 3                    // units: a limit that was raised is found soon
	growth       = 0.03                 // of the rate, in the first unit beyond
	mostGrowth   = 2.0                  // of the rate, in a unit
	catchUp      = 2 * time.Millisecond // a late timer's requests may follow at once
	lookAt       = 5 * time.Millisecond // how often growth is looked at
)

func newPace(o Options, now time.Time) pace {
	p := pace{cap: math.Inf(1), burst: max(1, o.Burst), next: now, cut: now, grown: now, meter: meter{at: now}}
	p.rate = firstRate
	if o.Rate > 0 {
		p.cap = o.Rate * underCap
		p.rate = p.cap
	}
	if o.Learned > 0 {
		p.ceiling = o.Learned
		p.rate = min(p.cap, o.Learned*underCeiling)
	}
	return p
}

// wait is how long until the next request may be sent.
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

// binds says whether the rate is what holds requests back.
func (p *pace) binds(now time.Time) bool {
	return now.Sub(p.waited) <= max(20*time.Millisecond, 2*p.interval())
}

func (p *pace) interval() time.Duration { return seconds(1 / p.rate) }

// begin takes the next request's time. A request that waited and was sent late does not delay the
// requests after it. After a pause only the burst is sent at once.
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

// slack is how much of a late timer a request may make up for. Timers are late by up to a
// millisecond. At low rates that is little of an interval, and a service may refuse what comes
// earlier than its rate allows.
func (p *pace) slack(interval time.Duration) time.Duration {
	if interval >= 10*time.Millisecond {
		return interval * 3 / 200
	}
	return max(interval*9/10, catchUp)
}

// grow raises the rate. It is called while the rate holds requests back.
func (p *pace) grow(now time.Time, unit, latency time.Duration) {
	elapsed := now.Sub(p.grown)
	if elapsed < lookAt {
		return
	}
	p.grown = now
	if latency == 0 { // nothing was answered so far
		latency = now.Sub(p.cut)
	}
	switch since := now.Sub(p.cut); {
	case p.ceiling == 0: // twofold in two round trips
		p.double(elapsed, max(2*latency, 40*time.Millisecond))
	case p.rate < p.ceiling*underCeiling: // the service has served that before
		p.double(elapsed, max(250*time.Millisecond, 4*latency))
		p.set(min(p.ceiling*underCeiling, p.rate))
	default:
		hold := max(p.hold, time.Duration(p.calm*float64(unit)))
		units := (since - hold).Seconds() / unit.Seconds()
		gain := min(growth*math.Exp2(units), mostGrowth)
		if units < 0 {
			if p.rate >= p.ceiling*nearCeiling {
				return
			}
			gain = growth
		}
		p.set(p.rate * (1 + gain*min(elapsed, unit/4).Seconds()/unit.Seconds()))
	}
}

func (p *pace) double(elapsed, doubling time.Duration) {
	p.set(p.rate * math.Exp2(min(elapsed.Seconds(), 0.1)/doubling.Seconds()))
}

// lower cuts the rate to just under what the service serves.
func (p *pace) lower(now time.Time, served float64) {
	if p.ceiling > 0 && math.Abs(served-p.ceiling) < sameCeiling*p.ceiling {
		p.calm = min(p.calm+1, mostCalm)
	} else {
		p.calm = 1
	}
	p.ceiling = max(served, leastRate)
	p.set(p.ceiling * underCeiling)
	p.cut, p.grown = now, now
}

// halve cuts the rate and leaves the ceiling: nothing has shown what the service serves.
func (p *pace) halve(now time.Time) {
	present := p.present(now)
	if p.ceiling == 0 { // or the rate would double again at once
		p.ceiling = present
	}
	p.set(present / 2)
	p.cut, p.grown = now, now
}

// restore takes cuts back.
func (p *pace) restore(now time.Time, rate, ceiling float64) {
	p.ceiling, p.cut, p.grown = ceiling, now, now
	p.set(rate)
}

// resume starts gently after a doubt. A ceiling that was met before the first answer says
// nothing.
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

// state records a limit that the service states.
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
	most := p.cap
	if p.stated > 0 {
		most = min(most, p.stated*underCap)
	}
	p.rate = min(max(rate, leastRate), most)
	if p.rate > mostRate && math.IsInf(p.cap, 1) {
		p.rate = mostRate
	}
}

// present is the rate at which requests are sent: the rate, if that is what holds them back.
func (p *pace) present(now time.Time) float64 {
	if p.binds(now) {
		return p.rate
	}
	return min(p.rate, max(p.meter.perSecond(now), leastRate))
}

// meter measures a rate over about the last second.
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

// perSecond is 0 while nothing is known.
func (m *meter) perSecond(now time.Time) float64 {
	m.decay(now)
	if m.weight == 0 {
		return 0
	}
	return m.count / m.weight
}
