package limits

import "time"

// A trip is a total refusal: the service admits no request that was sent after the first refused one. Fixed and sliding windows
// trip when their number is used up, and blocks when a rate is exceeded. A bucket does not trip: it refuses the excess and serves
// the rest, and pressure finds the rate that the bucket serves.
//
// After a trip the run is silent, except for probes. Their intervals grow, because each request may prolong a block. endTrip
// sets the pace after the silence.
type trip struct {
	row   int    // refusals in a row, of requests that were sent after the last answered one
	first Permit // the earliest refused request of the row
	lost  int    // refused requests since first

	retries bool                         // all requests of the row are retries: their inputs may be the cause
	blamed  struct{ from, to time.Time } // the last trip that inputs caused: all refused requests were retries, and a repeated request was answered
	certain bool                         // a refusal was explicit (Refused); else the service may be out

	at       time.Time     // when the trip began; zero if there is none
	stated   time.Time     // when the service will accept requests, as it states; zero if it states no time
	statedAt time.Time     // since when it has stated times within Options.MaxWait: later ones are not awaited, and so are not wrong
	rate     float64       // requests a second that were admitted before the trip
	silence  time.Duration // the length of the last silence
	last     time.Time     // the end of the last silence
	latest   time.Time     // when the latest refused request was sent
	gap      time.Duration // from the latest refused request to the end of the last silence; 0 before a silence has ended
	ended    time.Time     // when an attempt that was in flight at the start of the trip last ended

	resumed time.Time // when the run last resumed its pace after a doubt in which nothing was answered

	phase, prior phase // the present phase, and the phase before the last silence
}

// A phase is the time from one silence to the next. Refusals come earlier than answers, so a request counts as admitted until
// it is refused.
type phase struct {
	began   time.Time // when the first request of the phase was sent
	serial  int64     // the number of the first request
	refused int       // requests of the phase that were refused
	number  int       // requests that were admitted until the trip
	rate    float64   // before the trip
	prior   float64   // the rate before the trip of the previous phase
}

// used is the number of requests of the phase that were admitted before the request with the serial number.
func (p *phase) used(serial int64) int { return int(serial-p.serial) - p.refused }

const (
	tellsNothing  = 10                     // requests: after a phase with fewer, the rate is not the cause of the trip
	muchMore      = 4                      // a short phase is early if the phase before had more than this multiple of its requests: windows and blocks differ less
	otherRate     = 1.3                    // two rates differ by this factor, more than the error of measurement: if both trips came after the same number of requests, that number is a window's
	reordered     = 2 * time.Millisecond   // requests that were sent within this time may arrive in another order
	tripShare     = 0.02                   // share of the run that trips may cost: blocks are long, and a better rate pays for them late
	retryAge      = 5                      // longest hold, as a multiple of the age of the run: a young run knows little
	shortWait     = 2 * time.Second        // a shorter stated wait may mean a fraction of a second
	longSilence   = time.Minute            // the longest usual window of a limiter: a longer silence is worth a warning
	blameEvery    = 20 * time.Second       // least time between two tests whether inputs are the cause of refused retries
	shortestBlock = time.Second            // windows and blocks last at least a second: after a shorter silence, the limiter serves a rate
	mostTest      = 900 * time.Millisecond // the longest time until a retry is sent after a repeated request: a longer one would be a block (shortestBlock)
	mostPatience  = 15 * time.Second       // the longest wait for a request that hangs
)

// silences are the times of the probes after a trip, in seconds. Services choose round lengths, and truncate to whole seconds.
// The intervals roughly double: a block of any length ends, even if each request prolongs it.
var silences = [...]float64{0.1, 0.2, 0.5, 1, 2.1, 5.2, 10.5, 21, 31, 62, 75, 136, 310, 620, 930, 1830, 3660}

// refuse records a refusal and reports whether it makes a trip. okSent is the latest sending time of an answered request.
func (t *trip) refuse(p Permit, isCertain bool, okSent time.Time, rate float64, least int) bool {
	if p.serial >= t.phase.serial {
		t.phase.refused++
	}
	if p.sent.After(t.latest) {
		t.latest = p.sent
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
	if p.first || isCertain { // else the retry's input may be the cause
		t.row++
	}
	inTransit := int64(min(rate, mostRate) * reordered.Seconds())
	return t.row >= least && p.serial-t.first.serial < int64(t.lost)+inTransit
}

// answer records an answer. If its request was sent after the first refused one, the answer ends the row of refusals, unless it
// is a repeated request in a trip (tested).
func (t *trip) answer(p Permit) {
	if t.row > 0 && (p.test && !t.at.IsZero() || !p.sent.After(t.first.sent.Add(reordered))) {
		return
	}
	t.row = 0
	if t.at.IsZero() {
		t.lost, t.stated, t.statedAt = 0, time.Time{}, time.Time{}
	}
}

// wantsFirst reports whether the next request should be a first attempt, which shows whether everything is refused. A retry may
// be refused for its input.
func (t *trip) wantsFirst() bool { return t.certain && t.lost > 1 }

// hasBecomeLong reports, once in a trip, whether the silence is longer than longSilence and has no stated end.
func (c *Controller) hasBecomeLong(now time.Time) bool {
	t, h := &c.trip, &c.health
	if c.lasted || h.state != Limited || h.closed || t.stated.After(now) || now.Sub(t.at) < longSilence {
		return false
	}
	c.lasted = true
	return true
}

// next is the time of the next probe after a refused one. If the service has stated times for long, they were wrong, and the probes
// become rarer, as in an outage, but wait for at most most: each request may prolong the block.
func (t *trip) next(now time.Time, most time.Duration) time.Time {
	if t.stated.After(now) {
		return now.Add(max(t.stated.Sub(now), min(now.Sub(t.statedAt)/probeGrowth, most)))
	}
	elapsed := now.Sub(t.at)
	if !t.certain { // this may be an outage
		return now.Add(max(elapsed/4, probeFirst))
	}
	least := t.silence * 9 / 20
	if t.gap > 0 {
		least = t.gap * 19 / 20
	}
	for _, s := range silences {
		if s := seconds(s); s > elapsed+elapsed/20 && s >= least {
			return t.at.Add(s)
		}
	}
	return now.Add(max(elapsed, seconds(silences[len(silences)-1])))
}

// inARow is the number of refusals in a row that make a trip: more than chance explains. A refusal that is not certain may be
// one of the usual failures.
func (c *Controller) inARow(isCertain bool) int {
	share := c.pressure.background
	if !isCertain {
		share += c.faults.usual.share()
	}
	return unlikelyRow(share, enough)
}

// answersAfter is the time within which most answers come. If none has come by then, no request was admitted.
func (c *Controller) answersAfter() time.Duration { return c.flight.latency() * 5 / 4 }

func (c *Controller) refused(now time.Time, p Permit, r Result) {
	t, h := &c.trip, &c.health
	c.admitted.add(p.sent, -1)
	isCertain := r.Signal == Refused
	total := t.refuse(p, isCertain, h.okSent, c.pace.rate, c.inARow(isCertain))
	if r.Wait > shortWait && t.row > 0 {
		if stated := now.Add(r.Wait + time.Second); stated.After(t.stated) {
			t.stated = stated
		}
		if t.statedAt.IsZero() || r.Wait >= c.options.MaxWait {
			t.statedAt = now
		}
	}
	switch {
	case h.state == Up && total && !p.first && now.Sub(t.blamed.to) < blameEvery:
	case h.state == Up && total && (!t.first.full || now.Sub(t.first.sent) > c.answersAfter()) && !(c.snapshot.broken && c.snapshot.at.After(h.okSent)): // limiters do not break connections
		c.beginTrip(now)
	case p.probe && h.state == Out && r.Signal == Refused && now.Sub(h.since) > longSilence: // this may be a block that probes prolong
		t.at, t.phase.number, h.refusing, c.lasted = h.since, 0, true, true
		c.probeRefused(now, p)
	case p.probe && h.refusing:
		c.probeRefused(now, p)
	case h.refusing && !h.closed:
		c.measure()
	}
}

// probeRefused sets the next probe after a refused one.
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
	case h.closed: // the window has ended, so this is a block
		*w, h.closed, h.since, t.at = window{}, false, now, now
	}
	h.next = t.next(now, c.options.MaxWait)
	if h.tested && h.probes == 1 { // a request that was answered before is repeated again
		h.next = now.Add(c.patience())
	}
	if limit := now.Add(longSilence); t.retries && !t.stated.After(now) && h.next.After(limit) {
		h.next = limit
	}
	if now.Sub(t.at) >= shortestBlock || h.next.Sub(now) >= shortestBlock {
		h.state = Limited
	}
}

// beginTrip puts the service in doubt after a total refusal. The first probe waits for patience, until the requests in flight
// are known to be refused.
func (c *Controller) beginTrip(now time.Time) {
	t, h := &c.trip, &c.health
	t.at = now
	c.measure()
	h.beginDoubt(now.Add(c.patience()))
	h.since, h.refusing = t.first.sent.Add(reordered), true
}

// measure sets the number of requests in the phase that the trip has ended, and their rate.
func (c *Controller) measure() {
	t := &c.trip
	t.phase.number = max(0, t.phase.used(t.first.serial)+t.lost) // used also subtracts late refusals, which lost does not count
	lasted, before, from := t.first.sent.Sub(t.phase.began), t.first.sent, t.phase.began
	if t.resumed.After(from) { // few requests were sent in the doubt
		from = t.resumed
	}
	if ok := c.health.okSent; ok.Sub(from) > time.Second && ok.Before(before) && before.Sub(ok) < counted { // late answers may have hidden earlier refusals of the trip
		before = ok
	}
	over := min(seconds(5/t.first.rate), before.Sub(from)) // at a low rate, a second has few requests
	t.rate = min(max(c.admitted.perSecond(before, over), float64(t.phase.number)/max(1, lasted.Seconds())), t.first.rate)
}

// mean is the rate of admitted requests over the last two phases and their silences.
func (t *trip) mean(now time.Time) float64 {
	return float64(t.prior.number+t.phase.number) / now.Sub(t.prior.began).Seconds()
}

// patience is the time after which a request is taken as admitted. Requests that hang before their refusal raise the mean, so the
// time has a bound.
func (c *Controller) patience() time.Duration {
	return min(max(4*c.pressure.took, 50*time.Millisecond), mostPatience)
}

// endTrip sets the pace after a trip: a probe was admitted.
//
//   - If this trip and the previous trip came after the same number of requests, at different rates, the limiter counts in
//     windows. Each window is then used at the rate before the trip.
//   - Otherwise the rate was too high.
func (c *Controller) endTrip(now time.Time, p Permit) {
	t, w := &c.trip, &c.window
	silence := p.sent.Sub(t.at)
	seen := now
	if silence > now.Sub(c.health.start)/2 { // the run knew the service only until the trip
		seen = t.at
	}
	hold := c.hold(seen, silence.Seconds()+float64(t.lost)/max(t.rate, leastRate), tripShare)
	if t.prior.number == 0 && silence > 2*shortestBlock { // the first block: a higher rate would soon cause a second one
		hold = max(hold, silence)
	}
	differ := max(t.rate, t.phase.prior) > otherRate*min(t.rate, t.phase.prior)
	t.phase.rate = t.rate
	switch {
	case t.phase.number == 0: // the service had not served any rate
		c.resume(now)
	case t.rate == 0: // a block that began during the silence of a window
		c.pace.keep(now, c.pace.nearlyRefused(), hold, silence)
	case t.ended.After(t.at) && c.lowerInFlight(now): // the service limits the number in flight
	case silence < shortestBlock:
		c.slowed(now, p)
	case t.prior.number >= tellsNothing && c.pace.refused > 0 && t.rate > 2*c.pace.refused: // a much lower rate was refused before: the rate is not the cause
		c.flight.cut(now, t.first.inFlight-2) // a limit of connections refuses everything until some are closed
		c.flight.hold = hold
	case !t.certain && t.prior.number == 0 && t.first.sent.Sub(t.phase.began) > mostPatience && (c.pace.refused == 0 || t.first.rate < otherRate*c.pace.served): // an outage is likelier than a block: a second trip would tell more
		c.resume(now)
		c.pace.set(t.first.rate)
	case isSame(t.phase.number, t.prior.number) && (differ || w.number > 0):
		w.learn(t.phase.number, t.first.sent.Sub(t.phase.began), p.sent.Sub(t.phase.began))
		c.pace.restore(now, t.rate, t.rate)
		c.pace.hold = hold
	case c.beganRefused():
		c.pace.keep(now, c.pace.nearlyRefused(), hold, silence)
	case c.isEarly(): // the trip does not tell the rate that the service allows
		c.pace.keep(now, c.pace.rate, hold, silence)
	default:
		if w.number <= t.phase.number || t.prior.number > 0 { // else the window of an earlier run is kept: other clients may have used a part of it
			*w = window{}
		}
		c.pace.trip(now, t.rate, t.mean(p.sent), t.first.sent.Sub(t.phase.began), silence, hold)
	}
	if silence >= shortestBlock && t.certain {
		t.silence, t.last, t.gap = silence, now, p.sent.Sub(t.latest)
		if c.health.probes <= 1 { // the first probe after the beginning of the trip was admitted: the block may be much shorter
			t.gap /= 2
		}
	}
	c.endSilence(now, p, silence >= shortestBlock)
}

// isEarly reports whether the last silence was too short: the trip came much earlier than the trip before. A rate above the
// refused one may be the cause itself.
func (c *Controller) isEarly() bool {
	t := &c.trip
	number, prior := t.phase.number, t.prior.number
	return number < tellsNothing && prior > number || t.isShort() && prior > muchMore*number && c.pace.rate <= c.pace.refused
}

// isShort reports whether the phase lasted less than a second.
func (t *trip) isShort() bool { return t.first.sent.Sub(t.phase.began) < shortestBlock }

// beganRefused reports whether the service refused requests as soon as a doubt ended, or refused a run that knows a much higher
// rate at once: the run began in a block, or in the rest of a window.
func (c *Controller) beganRefused() bool {
	t := &c.trip
	isResumed := c.pace.refused > 0 && t.first.sent.Sub(t.resumed) < shortestBlock
	return isResumed || t.prior.number == 0 && t.isShort() && float64(muchMore*t.phase.number) < c.options.Learned.Rate
}

// hold returns the time without growth after an event that cost some seconds: in that time, the cost becomes the given share.
// In a young run, which knows little, it is shorter.
func (c *Controller) hold(now time.Time, cost, share float64) time.Duration {
	return min(seconds(cost/share), retryAge*now.Sub(c.health.start))
}

// slowed sets the pace after a short silence. The limiter serves a rate, or bounds the number in flight.
func (c *Controller) slowed(now time.Time, p Permit) {
	t := &c.trip
	if t.first.sent.Sub(t.phase.began) < time.Second { // too early for a rate
		c.pace.slow(now, float64(t.phase.number)/p.sent.Sub(t.phase.began).Seconds())
		if !t.certain { // a busy service may bound the number in flight
			c.flight.cut(now, t.first.inFlight-1)
		}
		return
	}
	refused := c.hold(now, float64(t.lost)/max(t.rate, leastRate), refusedShare)
	c.pace.lower(now, t.rate, t.rate, max(refused, c.hold(now, p.sent.Sub(t.at).Seconds(), tripShare)))
}

// endSilence ends a silence after an admitted probe. If isNew, the probe is the first request of a new phase.
func (c *Controller) endSilence(now time.Time, p Permit, isNew bool) {
	c.pace.next = p.sent.Add(c.pace.interval())
	c.pressure.begin(now)
	if isNew {
		c.open(p)
	}
	c.trip.end()
}

func (t *trip) end() {
	t.row, t.lost, t.at, t.stated, t.statedAt = 0, 0, time.Time{}, time.Time{}, time.Time{}
}

// isSame reports whether two trips came after the same number of requests. Small numbers are the same by chance.
func isSame(a, b int) bool {
	return min(a, b) >= enough && max(a-b, b-a) <= max(1, b*3/100)
}

// counter counts events of the last 6.4 seconds in slots of perSlot.
type counter struct {
	slots [128]float64
	slot  int64 // the latest
}

const (
	perSlot = 50 * time.Millisecond
	counted = 5 * time.Second // the longest period of a rate, and the oldest end of one
)

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
	over = min(max(over, time.Second), counted)
	sum, last := 0.0, at.UnixNano()/int64(perSlot)
	for slot := last - int64(over/perSlot) + 1; slot <= min(last, c.slot); slot++ {
		if slot > c.slot-int64(len(c.slots)) {
			sum += c.slots[slot%int64(len(c.slots))]
		}
	}
	return sum / over.Seconds()
}
