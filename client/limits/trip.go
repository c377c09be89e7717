package limits

import "time"

// A trip is a total refusal: the service answers no request that is sent after the first refused one. Fixed and
// sliding windows trip when their number is used up, and blocks when a rate is exceeded. A bucket refuses the
// excess and serves the rest, which is no trip: the pressure then finds the rate that the bucket serves.
//
// After a trip the run is silent and sends single requests (probes) at growing distances, so that a block that each
// request prolongs ends as well. What follows the silence depends on two trips in a row: see endTrip.
type trip struct {
	row   int    // refusals in a row, of requests that were sent after all requests that were answered
	first Permit // the earliest of them
	lost  int    // the refused requests since the first one

	retries bool                         // all of them are retries: their inputs may be the cause
	blamed  struct{ from, to time.Time } // the last trip of retries in which a request that was answered before was answered again
	certain bool                         // a refusal says that the caller asks too much; without it the service may be out

	at      time.Time     // when the trip was seen; zero if the service does not refuse everything
	stated  time.Time     // when the service says that it accepts requests again; zero if it does not say
	rate    float64       // requests that were admitted in the second before the trip
	silence time.Duration // that ended the last trip
	ended   time.Time     // when an attempt that was in flight at the trip last ended

	phase, prior phase // the present one, and the one before the last silence
}

// A phase is the time from a silence to the next one. Which requests the service admits is known from its refusals, which
// come earlier than the answers.
type phase struct {
	began   time.Time // the sending time of its first request
	serial  int64     // of this request
	refused int       // of its requests
	number  int       // of its requests that were admitted until the trip
	rate    float64   // before the trip
	prior   float64   // the same in the phase before
}

// used is the number of requests that were admitted before the request with the serial number.
func (p *phase) used(serial int64) int { return int(serial-p.serial) - p.refused }

const (
	tellsNothing = 10                   // requests of a phase that is so short for another reason than the rate
	otherRate    = 1.3                  // times the rate of the phase before, more than its measure errs: a number that both have in common is that of a window
	reordered    = 2 * time.Millisecond // requests that are sent so close together may arrive in another order
	tripPrice    = 0.02                 // share of the run that may be lost to trips: blocks are long, and a better rate pays for them late
	retryAge     = 5                    // times the age of the run until it tries a higher rate again: it knows little at first
	short        = 2 * time.Second      // a shorter wait that is stated may mean a fraction of a second
	longSilence  = time.Minute          // the longest usual window of a limiter: what lasts longer is worth a warning
	blameEvery   = 20 * time.Second     // between tests whether the inputs of retries are the cause of their refusals
	passing      = time.Second          // a shorter silence is that of a limiter that serves a rate: windows and blocks last a second at least
	mostPatience = 15 * time.Second     // a request that hangs holds up the run no longer
)

// silences are the times of the probes after a trip, in seconds. Services choose round lengths, and whole
// seconds may be truncated. Distances double on the whole, so that a block of any length ends though each
// request prolongs it.
var silences = [...]float64{0.1, 0.2, 0.5, 1, 2.1, 5.2, 10.5, 21, 31, 62, 75, 136, 310, 620, 930, 1830, 3660}

// refuse records a refusal and reports whether it makes a trip. The latest of the requests that were answered
// was sent at okSent.
func (t *trip) refuse(p Permit, isCertain bool, okSent time.Time, rate float64, least int) bool {
	if p.serial >= t.phase.serial {
		t.phase.refused++
	}
	if p.sent.Before(okSent) || t.row == 0 && !p.first && !isCertain {
		return false
	}
	t.certain = t.row > 0 && t.certain || isCertain
	t.retries = (t.row == 0 || t.retries) && !p.first
	if t.row == 0 || p.serial < t.first.serial {
		t.first = p
	}
	t.lost++
	if p.first || isCertain { // else the input of a retry may be the cause
		t.row++
	}
	inTransit := int64(min(rate, mostRate) * reordered.Seconds())
	return t.row >= least && p.serial-t.first.serial < int64(t.lost)+inTransit
}

// answer records an answer. The answer to a request that was sent after the first refused one ends the row.
func (t *trip) answer(p Permit) {
	if t.row > 0 && !p.sent.After(t.first.sent.Add(reordered)) {
		return
	}
	t.row = 0
	if t.at.IsZero() {
		t.lost, t.stated = 0, time.Time{}
	}
}

// wantsFirst reports whether first attempts are to show if everything is refused: the inputs of retries may be the cause.
func (t *trip) wantsFirst() bool { return t.certain && t.lost > 1 }

// hasBecomeLong reports once in a trip that the silence has become long, though the service does not state its end.
func (c *Controller) hasBecomeLong(now time.Time) bool {
	t, h := &c.trip, &c.health
	if c.lasted || h.state != Limited || h.closed || t.stated.After(now) || now.Sub(t.at) < longSilence {
		return false
	}
	c.lasted = true
	return true
}

// next is the time of the probe that follows those until now.
func (t *trip) next(now time.Time) time.Time {
	if t.stated.After(now) {
		return t.stated
	}
	elapsed := now.Sub(t.at)
	if !t.certain && elapsed >= longSilence && elapsed > t.silence { // it may be an outage
		return now.Add(elapsed / 4)
	}
	least := t.silence * 9 / 20
	if !t.certain { // likewise, and a short one
		least = 0
	}
	for _, s := range silences {
		if s := seconds(s); s > elapsed+elapsed/20 && s >= least {
			return t.at.Add(s)
		}
	}
	return now.Add(max(elapsed, seconds(silences[len(silences)-1])))
}

// inARow is the number of refusals in a row that make a trip: more than chance explains. What is not certain to be a
// refusal may be a usual failure.
func (c *Controller) inARow(isCertain bool) int {
	share := c.pressure.background
	if !isCertain {
		share += c.faults.usual.share()
	}
	return row(share, enough)
}

// answersAfter is how long most answers take: without one, no request was admitted.
func (c *Controller) answersAfter() time.Duration { return c.flight.latency() * 5 / 4 }

// refused handles a refusal.
func (c *Controller) refused(now time.Time, p Permit, r Result) {
	t, h := &c.trip, &c.health
	c.admitted.add(p.sent, -1)
	isCertain := r.Signal == Refused
	total := t.refuse(p, isCertain, h.okSent, c.pace.rate, c.inARow(isCertain))
	if r.Wait > short && t.row > 0 {
		if stated := now.Add(r.Wait + time.Second); stated.After(t.stated) {
			t.stated = stated
		}
	}
	switch {
	case h.state == Up && total && !p.first && now.Sub(t.blamed.to) < blameEvery:
	case h.state == Up && total && (!t.first.full || now.Sub(t.first.sent) > c.answersAfter()) && !(c.unbroken.broken && c.unbroken.at.After(h.okSent)): // limiters do not break connections
		c.beginTrip(now)
	case p.probe && h.state == Out && r.Signal == Refused && now.Sub(h.since) > longSilence: // perhaps a block that probes prolong
		t.at, t.phase.number, h.refusing, c.lasted = h.since, 0, true, true
		c.probeRefused(now, p)
	case p.probe && h.refusing:
		c.probeRefused(now, p)
	case h.refusing && !h.closed:
		c.measure()
	}
}

// probeRefused goes on with the silence.
func (c *Controller) probeRefused(now time.Time, p Permit) {
	t, h, w := &c.trip, &c.health, &c.window
	h.probes++
	switch {
	case h.closed && w.ends.IsZero() && h.probes <= 3 && p.sent.Sub(t.phase.began) < 2*w.length:
		w.refusedAt(p.sent.Sub(t.phase.began))
		h.next = t.phase.began.Add(w.length)
		if !h.next.After(now) {
			h.next = now.Add(w.length / 10)
		}
		return
	case h.closed && h.probes <= 3 && !w.ends.IsZero():
		h.next = now.Add(time.Second)
		if t.stated.After(now) {
			h.next = t.stated
		}
		return
	case h.closed: // more than the end of a window: a block
		*w, h.closed, h.since, t.at = window{}, false, now, now
	}
	h.next = t.next(now)
	if limit := now.Add(longSilence); t.retries && !t.stated.After(now) && h.next.After(limit) {
		h.next = limit
	}
	if now.Sub(t.at) >= passing || h.next.Sub(now) >= passing {
		h.state = Limited
	}
}

// beginTrip puts the service in doubt after a total refusal. The first probe follows when it is known that no request in
// flight was accepted.
func (c *Controller) beginTrip(now time.Time) {
	t, h := &c.trip, &c.health
	t.at = now
	c.measure()
	h.beginDoubt(now.Add(c.patience()))
	h.since, h.refusing = t.first.sent.Add(reordered), true
}

// measure measures the phase that the trip has ended.
func (c *Controller) measure() {
	t := &c.trip
	t.phase.number = t.phase.used(t.first.serial) + t.lost
	lasted := t.first.sent.Sub(t.phase.began)
	t.rate = max(c.admitted.perSecond(t.first.sent, time.Second), float64(t.phase.number)/max(1, lasted.Seconds()))
}

// mean is the rate of the requests that were admitted in the last two phases, silences included.
func (t *trip) mean(now time.Time) float64 {
	return float64(t.prior.number+t.phase.number) / now.Sub(t.prior.began).Seconds()
}

// patience is how long it takes to know that a request is not refused. Refusals of requests that hung may have taken longer.
func (c *Controller) patience() time.Duration {
	return min(max(4*c.pressure.took, 50*time.Millisecond), mostPatience)
}

// endTrip sets the pace after a trip: a probe was admitted.
//
//   - If the trip has come after as many requests as the trip before, at another rate, the limiter counts in windows. Each
//     window is used at the rate before the trip.
//   - Otherwise the rate was too high.
func (c *Controller) endTrip(now time.Time, p Permit) {
	t, w := &c.trip, &c.window
	silence := p.sent.Sub(t.at)
	seen := now
	if silence > now.Sub(c.health.start)/2 { // the run has known the service for the time before
		seen = t.at
	}
	hold := c.price(seen, silence.Seconds()+float64(t.lost)/max(t.rate, leastRate), tripPrice)
	differ := max(t.rate, t.phase.prior) > otherRate*min(t.rate, t.phase.prior)
	t.phase.rate = t.rate
	switch {
	case t.phase.number == 0: // the service had not served any rate
		c.resume(now)
	case silence < passing:
		c.slowed(now, p)
	case t.ended.After(t.at) && c.thin(now): // one of the requests at once was held up
	case t.rate > 0 && isSame(t.phase.number, t.prior.number) && (differ || w.number > 0):
		w.learn(t.phase.number, t.first.sent.Sub(t.phase.began), p.sent.Sub(t.phase.began))
		c.pace.restore(now, t.rate, t.rate)
		c.pace.hold = hold
	case t.rate == 0, // a block that began while a window was used up
		t.phase.number < tellsNothing && t.prior.number > t.phase.number: // the silence before was too short
		c.pace.again(now, hold, silence)
	default:
		if w.number <= t.phase.number || t.prior.number > 0 { // else the window of an earlier run, of which others have used a part
			*w = window{}
		}
		c.pace.trip(now, t.rate, t.mean(p.sent), t.first.sent.Sub(t.phase.began), silence, hold)
	}
	if silence >= passing && t.certain {
		t.silence = silence
	}
	c.endSilence(now, p, silence >= passing)
}

// price is how long the rate must not grow after an event that has cost some seconds, so that they are a small share of
// the run. A young run knows little, and tries again sooner.
func (c *Controller) price(now time.Time, cost, share float64) time.Duration {
	return min(seconds(cost/share), retryAge*now.Sub(c.health.start))
}

// slowed sets the pace after a short silence: the limiter serves a rate, or a number at once.
func (c *Controller) slowed(now time.Time, p Permit) {
	t := &c.trip
	if t.first.sent.Sub(t.phase.began) < time.Second { // too early for a rate
		c.pace.hush(now, float64(t.phase.number)/p.sent.Sub(t.phase.began).Seconds())
		if !t.certain { // a service that is busy refuses what is too much at once
			c.flight.cut(now, t.first.inFlight-1)
		}
		return
	}
	refused := c.price(now, float64(t.lost)/max(t.rate, leastRate), refusedPrice)
	c.pace.lower(now, t.rate, t.rate, max(refused, c.price(now, p.sent.Sub(t.at).Seconds(), tripPrice)))
}

// endSilence ends a silence with a probe that was admitted, the first request of a new phase.
func (c *Controller) endSilence(now time.Time, p Permit, isNew bool) {
	c.pace.next = p.sent.Add(c.pace.interval())
	c.pressure.begin(now)
	if isNew {
		c.open(p)
	}
	c.trip.end()
}

func (t *trip) end() {
	t.row, t.lost, t.at, t.stated = 0, 0, time.Time{}, time.Time{}
}

// isSame reports whether two trips came after the same number of requests. Small numbers are the same by chance.
func isSame(a, b int) bool {
	return min(a, b) >= enough && max(a-b, b-a) <= max(1, b*3/100)
}

// counter counts events in slots of time. It knows the last few seconds.
type counter struct {
	slots [128]float64
	slot  int64 // the latest
}

const perSlot = 50 * time.Millisecond

// add adds events to the slot of a time.
func (c *counter) add(at time.Time, n float64) {
	slot, size := at.UnixNano()/int64(perSlot), int64(len(c.slots))
	for i := max(c.slot+1, slot-size+1); i <= slot; i++ {
		c.slots[i%size] = 0
	}
	c.slot = max(c.slot, slot)
	if slot > c.slot-size {
		c.slots[slot%size] += n
	}
}

// perSecond returns the rate of the events before a time, over a period of one to five seconds.
func (c *counter) perSecond(at time.Time, over time.Duration) float64 {
	over = min(max(over, time.Second), 5*time.Second)
	sum, last := 0.0, at.UnixNano()/int64(perSlot)
	for slot := last - int64(over/perSlot) + 1; slot <= min(last, c.slot); slot++ {
		if slot > c.slot-int64(len(c.slots)) {
			sum += c.slots[slot%int64(len(c.slots))]
		}
	}
	return sum / over.Seconds()
}
