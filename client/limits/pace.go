package limits

import (
	"math"
	"time"
)

// pace is the rate, and the time of the next request. The rate lies between the served rate and the refused rate, and halves
// its distance to the refused rate again and again.
type pace struct {
	rate    float64 // requests a second; +Inf for no limit
	served  float64 // the highest rate that was kept for a while without a cut, reduced by each later cut; 0 for none
	refused float64 // the rate at the last cut; 0 for none
	stated  float64 // the limit that the service states; 0 for none
	cap     float64 // the caller's limit; +Inf for none
	block   Learned // a block that an earlier start has met a short time ago; zero for none
	back    float64 // the rate to which the run returns at once after a doubt at its start, until a rate is refused; 0 for none

	next   time.Time     // the earliest time of the next request
	sent   time.Time     // when the last request was sent
	waited time.Time     // when a request last had to wait for the rate
	cut    time.Time     // when the rate was last lowered
	grown  time.Time     // when grow last ran
	hold   time.Duration // the time from a cut until the rate may pass the refused rate
	lost   time.Duration // the silence after the last trip, which a higher rate may cost again; 0 without trips

	tried   float64   // the lowest rate since triedAt; 0 before the trial begins
	triedAt time.Time // when the trial of the rate began, plus the idle time since
	kept    float64   // the lowest rate of a trial that has lasted for a unit; 0 for none
}

const (
	firstRate = 50.0  // requests a second: few are refused in one round trip, even at a low limit
	leastRate = 0.02  // a request in 50 seconds: enough to notice when the limit rises
	mostRate  = 1e6   // a higher rate limits nothing
	underCap  = 0.985 // share of the allowed rate: a second with delayed requests then stays within the limit

	nearRefused = 0.99  // share of the refused rate up to which the rate grows without a hold: the rest is not worth a refusal
	almost      = 0.995 // share of nearRefused at which the growth ends: the distance would be halved without end
	approach    = 0.7   // share of the distance to nearRefused that the rate gains in a unit: 97% in three units
	growth      = 0.03  // share by which the rate grows in the first unit above the refused rate: few refusals if the limit is just above
	provenUnits = 3     // units until a rate counts as served: a full bucket serves more than its rate at first
	yielded     = 0.95  // share of the admitted rate and of the served rate that a cut leaves: a bucket fills again, and runs that share a limit come to equal rates
	afterBlock  = 0.7   // share of the rate that a trip leaves if its silence was longer than the phase before: two such trips halve the rate

	catchUp     = 2 * time.Millisecond // delay of a timer that requests make up for at once
	updateEvery = 5 * time.Millisecond // the interval between updates
)

func newPace(o Options, now time.Time) pace {
	p := pace{cap: math.Inf(1), next: now, cut: now, grown: now, triedAt: now}
	p.rate = firstRate
	if o.Rate > 0 {
		p.cap = o.Rate * underCap
		p.rate = p.cap
	}
	if l := o.Learned; l.Rate > 0 {
		p.rate, p.refused = min(p.cap, l.Rate), l.Refused
		if l.Refused > 0 && l.Silence > 0 {
			p.lost, p.hold = l.Silence, retryAge*l.Silence // the earlier run may have been young, and the limit may have risen since
			if l.isFresh(now) {
				p.block = l
			}
		}
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

// capWait returns the time until the caller's limit allows a request, whatever the rate.
func (p *pace) capWait(now time.Time) time.Duration {
	if math.IsInf(p.cap, 1) || p.sent.IsZero() {
		return 0
	}
	return p.sent.Add(seconds(1 / p.cap)).Sub(now)
}

// binds reports whether the rate holds requests back.
func (p *pace) binds(now time.Time) bool {
	return now.Sub(p.waited) <= max(20*time.Millisecond, 2*p.interval())
}

func (p *pace) interval() time.Duration { return seconds(1 / p.rate) }

// begin sets the time of the next request after a request that is sent now. If a late timer delayed this request, later requests
// make up for the delay.
func (p *pace) begin(now time.Time) {
	p.sent = now
	if math.IsInf(p.rate, 1) {
		return
	}
	interval := p.interval()
	saved := time.Duration(0)
	if late := now.Sub(p.next); now.Sub(p.waited) <= interval+catchUp {
		saved = max(0, min(late, p.slack(interval)))
	}
	if earliest := now.Add(-saved); p.next.Before(earliest) {
		p.next = earliest
	}
	p.next = p.next.Add(interval)
}

// slack is the most delay of a timer that later requests make up for. Timers are late by up to a millisecond. At low rates a
// millisecond is a small part of the interval, and a service may refuse a request that comes too early.
func (p *pace) slack(interval time.Duration) time.Duration {
	if interval >= 10*time.Millisecond {
		return interval * 3 / 200
	}
	return max(interval*9/10, catchUp)
}

// grow raises the rate. The caller has found that the rate holds requests back.
func (p *pace) grow(now time.Time, unit, latency time.Duration) {
	elapsed := now.Sub(p.grown)
	if elapsed < updateEvery {
		return
	}
	p.grown = now
	p.prove(now, elapsed, unit)
	since := now.Sub(p.cut)
	if latency == 0 { // before the first answer
		latency = since
	}
	switch target := p.refused * nearRefused; {
	case p.refused == 0:
		doubling := max(2*latency, 40*time.Millisecond) // two round trips
		p.set(p.rate * math.Exp2(min(elapsed.Seconds(), 0.1)/doubling.Seconds()))
	case p.rate < min(p.back, target)*almost:
		p.approach(min(p.back, target), elapsed, unit)
	case p.rate < target*almost && p.lost > 0:
		if step := (target - p.rate) / 2; since > p.hold || since.Seconds()*step > p.lost.Seconds()*p.rate {
			p.set(p.rate + step)
			p.cut = now
		}
	case p.rate < target*almost:
		p.approach(target, elapsed, unit)
	case since > p.hold:
		gain := min(growth*math.Exp2((since-p.hold).Seconds()/unit.Seconds()), 1)
		p.set(p.rate * (1 + gain*min(elapsed, unit/4).Seconds()/unit.Seconds()))
	}
}

// prove sets the served rate to a rate that was kept for provenUnits. Idle time does not count.
func (p *pace) prove(now time.Time, elapsed, unit time.Duration) {
	if idle := elapsed - max(unit/8, 3*p.interval()); idle > 0 {
		p.triedAt = p.triedAt.Add(idle)
	}
	p.tried = min(p.tried, p.rate)
	switch lasted := now.Sub(p.triedAt); {
	case p.tried == 0:
		p.tried, p.triedAt = p.rate, now
	case lasted > provenUnits*unit:
		p.served = max(p.served, p.tried)
		p.tried, p.triedAt = p.rate, now
	case lasted > unit:
		p.kept = p.tried
	}
}

func (p *pace) approach(target float64, elapsed, unit time.Duration) {
	p.set(p.rate + (target-p.rate)*min(1, approach*elapsed.Seconds()/unit.Seconds()))
}

// lower records the present rate as refused, and cuts the rate to just under the admitted rate. After the hold the rate may
// pass the refused rate.
func (p *pace) lower(now time.Time, present, admitted float64, hold time.Duration) {
	p.refuse(now, present)
	p.set(min(admitted*yielded, present*nearRefused))
	p.hold, p.lost = hold, 0
}

// trip cuts the rate after a trip. rate is the rate before the trip. mean is the rate of admitted requests over the last phases
// and their silences.
func (p *pace) trip(now time.Time, rate, mean float64, phase, silence, hold time.Duration) {
	p.refuse(now, rate)
	share := yielded
	if phase < silence {
		share = afterBlock
	}
	p.set(min(max(share*rate, mean), rate*nearRefused))
	if phase < silence { // a burst may have served the rate before
		p.served = min(p.served, p.rate)
	}
	p.hold, p.lost = hold, silence
}

// keep sets a rate, which stays under the refused rate, after a trip that says nothing about the rate.
func (p *pace) keep(now time.Time, rate float64, hold, silence time.Duration) {
	if p.refused > 0 {
		p.set(min(rate, p.refused*yielded))
		p.hold, p.lost = hold, silence
	}
	p.try(now)
}

// nearlyRefused is the rate just under the refused rate, or that of a block which an earlier start has met, if no rate has been
// refused since.
func (p *pace) nearlyRefused() float64 {
	if p.refused == p.block.Refused {
		return min(p.refused*yielded, p.block.Rate)
	}
	return p.refused * yielded
}

func (p *pace) refuse(now time.Time, rate float64) {
	p.refused = max(rate, leastRate)
	if p.served *= yielded; p.refused < p.served*1.05 { // the limit has fallen
		p.served = 0
	}
	p.back = 0
	p.try(now)
}

// try begins the trial of the present rate.
func (p *pace) try(now time.Time) { p.cut, p.grown, p.tried, p.triedAt, p.kept = now, now, 0, now, 0 }

// halve records the present rate as refused, and halves it, because the admitted rate is not known.
func (p *pace) halve(now time.Time, present float64) {
	p.refuse(now, present)
	p.set(present / 2)
	p.hold, p.lost = 0, 0
}

// slow sets a low rate for a test.
func (p *pace) slow(now time.Time, rate float64) {
	p.set(rate)
	p.try(now)
}

// restore undoes cuts.
func (p *pace) restore(now time.Time, rate, refused float64) {
	p.refused, p.hold, p.lost = refused, 0, 0
	p.set(rate)
	p.try(now)
}

// resume starts at a low rate after a doubt. Before the first answer of the run, it also drops the served and the refused rate,
// but not the rates of a block that an earlier start has met: the run may have begun in that block.
func (p *pace) resume(now time.Time, answered bool) {
	if !answered {
		p.served, p.refused, p.back = 0, p.block.Refused, p.block.Rate
		p.lost, p.hold = p.block.Silence, retryAge*p.block.Silence
	}
	if !math.IsInf(p.rate, 1) {
		switch {
		case p.served > 0:
			p.set(min(firstRate, p.served))
		case p.refused > 0:
			p.set(min(firstRate, p.refused*yielded))
		default:
			p.set(firstRate)
		}
	}
	p.next = now.Add(max(0, p.capWait(now)))
	p.try(now)
}

// undo undoes cuts that inputs have caused.
func (p *pace) undo(now time.Time) {
	if p.served == 0 {
		p.refused = 0
	}
	p.resume(now, true)
}

// setStated sets the limit that the service states, in requests a second. 0 changes nothing.
func (p *pace) setStated(perSecond float64, now time.Time) {
	if perSecond <= 0 || perSecond == p.stated {
		return
	}
	p.stated = perSecond
	if p.rate > perSecond*underCap {
		p.refuse(now, perSecond)
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
