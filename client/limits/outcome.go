package limits

import (
	"math"
	"time"
)

// snapshot is the state at the first failure after an answer. If the failures become a doubt, as when a service dies, the cuts
// since then say nothing about the limits of the service, and are undone.
type snapshot struct {
	at     time.Time
	broken bool // a connection failed
	pace   pace
	flight flight
}

// End returns a permit with the result of its attempt. Each permit is returned once.
func (c *Controller) End(now time.Time, p Permit, r Result) Effect {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFlight--
	c.flight.queue.held = time.Time{}
	c.budget.end(r)
	if p.probe {
		c.health.probing = false
		if soon := now.Add(probeFirst); r.Signal >= Unsent && c.health.next.Before(soon) { // the probe says nothing of the service
			c.health.next = soon
		}
	} else if c.health.refusing {
		c.trip.ended = now
	}
	before := c.reported
	r.Wait = min(r.Wait, c.options.MaxWait)
	switch r.Signal {
	case Answered:
		c.answered(now, p)
		c.setStated(now, p, r)
	case Refused, Failed, Unavailable:
		c.failed(now, p, r)
	case Unsent:
		c.flight.cut(now, c.inFlight)
	case Stored:
		if c.health.suspect || c.health.state == Up && !c.health.troubled { // else a stored answer does not show that the service answers other requests
			c.answered(now, p)
		}
	}
	if c.window.ends.IsZero() {
		c.pace.setStated(r.Rate, now)
	}
	return c.effect(now, before)
}

// effect returns the changes since the state before.
func (c *Controller) effect(now time.Time, before health) Effect {
	if c.paced && c.health.state == Up { // the caller waits, and does not call Next now
		c.grow(now)
	}
	change := Effect{Wake: !c.paced, Lasting: c.hasBecomeLong(now)}
	c.reported = c.health
	switch {
	case c.health.state != before.state && (c.health.state == Out || c.health.state == Limited):
		change.State = c.health.state
	case c.health.state == Up && (before.state == Out || c.lasted):
		c.lasted = false
		change.State, change.After = Up, now.Sub(before.since)
	}
	return change
}

func (c *Controller) answered(now time.Time, p Permit) {
	c.flight.queue.answered(now, p)
	c.trip.answer(p)
	if !p.test {
		c.health.vain = 0
	}
	c.served.add(now, 1)
	if !p.accepted && !p.sent.Before(c.pressure.since) {
		c.accept(now, p)
	}
	if p.first {
		c.countFault(now, p, 1, 0)
	}
	c.flight.grow(now, c.unit())
	c.heal(now, p)
}

// isSlow reports whether answers take so long that a refusal would come well before an answer.
func (c *Controller) isSlow(now time.Time) bool {
	const early = 200 * time.Millisecond
	latency := c.flight.latency()
	return latency > early || latency == 0 && now.Sub(c.health.start) > early
}

// heal ends a doubt if the answer to a request shows that the service serves again.
func (c *Controller) heal(now time.Time, p Permit) {
	before := c.health
	switch h := &c.health; {
	case p.test && p.serial == h.test: // it was taken as admitted, and its answer comes now
		return
	case p.test && p.others && !h.tested && !h.suspect && !h.closed && (h.refusing && h.probes == 0 || !h.refusing && h.state == Doubt):
		h.tested, h.test, h.next = true, p.serial, now.Add(min(4*c.patience(), mostTest)) // longer than until the next test
		return
	}
	switch {
	case !c.health.answered(now, p):
		if before.died() { // the failures were not about the rate
			c.endTest(now)
		}
		return
	case before.refusing && !before.closed && p.test && (before.tested || !p.others):
		c.trip.blamed.from, c.trip.blamed.to = c.trip.first.sent, now
		c.trip.end()
		c.pace.undo(now)
		c.pressure.begin(now)
	case before.closed:
		c.reopened(now, p)
	case before.refusing:
		c.endTrip(now, p)
	default:
		most, isTrip := c.flight.queue.most, !c.trip.at.IsZero()
		c.resume(now)
		if before.state == Doubt && !before.suspect && (p.test || !before.isDown()) { // the cause was the inputs, or chance
			c.faults.falseDoubts = min(c.faults.falseDoubts+1, mostFalse)
			if p.test {
				c.health.vain++
				c.keepPace(before, most, isTrip)
			}
		}
	}
}

// keepPace undoes a part of resume, because repeated requests have shown that the inputs were the cause of a doubt. most is the
// number in flight before. Unless they have shown it twice, the service may break again under as many requests.
func (c *Controller) keepPace(before health, most int, isTrip bool) {
	kept := most / 2
	if before.tested {
		kept = 2 * most
	}
	c.flight.queue.most = max(c.flight.queue.most, kept)
	if isFresh := !c.snapshot.at.Before(before.since); isFresh && !isTrip && !math.IsInf(c.pace.cap, 1) {
		c.pace.set(c.snapshot.pace.rate)
	}
}

// resume sets the pace after a doubt in which the service did not respond.
func (c *Controller) resume(now time.Time) {
	if u := c.snapshot; !u.at.Before(c.health.since) {
		c.pace.served, c.pace.refused, c.pace.hold, c.pace.lost = u.pace.served, u.pace.refused, u.pace.hold, u.pace.lost
		c.flight.most = u.flight.most
	}
	c.trip.end()
	c.trip.resumed = now
	c.flight.queue.restart(now)
	c.faults.test = test{}
	if !c.faults.refused { // else one doubt after another must show that most attempts fail
		c.faults.recent = attempts{}
	}
	c.pace.resume(now, c.flight.latency() > 0)
	c.pressure.begin(now)
}

func (c *Controller) failed(now time.Time, p Permit, r Result) {
	if c.snapshot.at.Before(c.health.lastOK) {
		c.snapshot = snapshot{now, r.Broken, c.pace, c.flight}
	}
	c.health.troubled = true
	refused := c.isRefusal(p, r)
	if refused {
		if c.faults.refuses = c.faults.refuses || !c.faults.limits; c.faults.refuses && c.faults.test.stage != noTest {
			c.endTest(now)
		}
		if p.first || now.Sub(c.trip.blamed.to) > longSilence {
			c.pressure.countRefused(now, p, c.unit(), &c.flight.concurrency)
		}
	} else if c.faults.counts(now, p, r) {
		c.countFault(now, p, 0, 1)
	}
	if (r.Signal == Refused || r.Signal == Unavailable) && !r.Broken {
		c.refused(now, p, r)
		if c.health.refusing {
			return // refused has set the next probe
		}
	}
	if c.health.state == Up {
		c.pressed(now)
	}
	var longest time.Duration
	if c.inFlight > 0 {
		longest = 4 * c.flight.latency()
	}
	usual := c.faults.usual.share()
	if r.Broken {
		if r.Unreached && c.health.unreached.IsZero() {
			c.health.unreached = now
		}
		used := c.inFlight + 1
		c.health.countBroken(now, p, max(leastBroken, min(unlikelyRow(usual, leastBroken), used), used/2))
	}
	row, counts := unlikelyRow(usual, doubtFailures), true
	if !c.health.isDown() { // the inputs may be the cause
		row, counts = row<<c.faults.falseDoubts, p.first || c.options.CanAsk
	}
	c.health.failed(now, p, row, counts, longest)
	if p.probe && r.Wait > shortWait {
		c.health.next = now.Add(r.Wait)
	}
}
