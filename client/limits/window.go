package limits

import "time"

// A window is a number of requests that the service allows in a period. It is stated with each answer, or learned from two
// trips in a row. The run uses the whole window, and is silent until its end.
type window struct {
	number int           // requests in a learned window; 0 if none is known
	length time.Duration // of a learned window, from its first request: the shortest time after which the service answered again
	least  time.Duration // the longest time after a window's first request at which the service still refused
	round  int           // windows since the number was last tested

	left int       // requests left in a stated window, including the requests in flight; valid if ends is not zero
	ends time.Time // the end of the stated window

	uses   bool // a stated window has been long enough to be used as a window
	slides bool // the window slides, or is none: the limit is a rate
	empty  int  // answers in the stated window, while all state that nothing is left; -1 once one has stated more
}

const (
	windowError = 0.03            // error of the length, as a share, at which the search ends: each halving costs a refusal
	shortWindow = 4 * time.Second // a shorter window is a rate: its end, stated in whole seconds, may be told two seconds late
	mostEmpty   = 3               // answers that state that nothing is left: only the last request of a window has such an answer, or the last requests of several machines
	testNumber  = 20              // windows until the run tests whether the number has grown: the test costs a twentieth
)

// learn learns a window from a trip after the given number of requests. tripped is the time from the first request of the phase
// until the first refused request, and length the time until the end of the silence. The silence may have been longer than the
// window, so the true length lies between the two.
func (w *window) learn(number int, tripped, length time.Duration) {
	if w.number == 0 || length < w.least {
		w.length, w.least = length, tripped
	}
	w.number, w.round = number, 0
}

// full reports whether the present window is used up. used is its admitted requests.
func (w *window) full(used, inFlight int) bool {
	return w.number > 0 && used >= w.number && w.round < testNumber || !w.ends.IsZero() && w.left <= inFlight
}

// opens is the time from the first request of a window until the first probe: half way between the latest refusal and the
// earliest answer.
func (w *window) opens() time.Duration {
	if w.length-w.least > time.Duration(windowError*float64(w.length)) {
		return (w.length + w.least) / 2
	}
	return w.length
}

// close makes the run silent until the end of a window that is used up.
func (c *Controller) close(now time.Time) {
	w, h := &c.window, &c.health
	until := c.trip.phase.began.Add(w.opens())
	if !w.ends.IsZero() {
		until = w.ends
		if latest := now.Add(c.options.MaxWait); until.After(latest) {
			until = latest
		}
	}
	c.trip.phase.number = c.trip.phase.used(c.sent + 1)
	h.beginDoubt(until)
	h.since, h.refusing, h.closed, h.state = now.Add(1), true, true, Limited
	c.trip.at, c.trip.lost, c.trip.rate, c.trip.stated = now, 0, 0, time.Time{}
}

// refusedAt records that the window has not ended: the service refused a probe at the time elapsed since its first request.
func (w *window) refusedAt(elapsed time.Duration) {
	w.least = max(w.least, elapsed)
	if w.least >= w.length {
		w.length = w.least + w.least/10
	}
}

// open begins a window with its first request.
func (c *Controller) open(p Permit) {
	t := &c.trip
	t.prior = t.phase
	t.phase = phase{began: p.sent, serial: p.serial, prior: t.phase.rate}
	c.window.ends = time.Time{}
	c.window.round++
}

// reopened records that a probe was answered: the used-up window has ended.
func (c *Controller) reopened(now time.Time, p Permit) {
	w := &c.window
	if elapsed := p.sent.Sub(c.trip.phase.began); w.number > 0 && w.ends.IsZero() {
		w.length = min(w.length, elapsed)
	}
	c.endSilence(now, p, true)
}

// slide bounds the rate by the rate of a sliding window: a higher rate would be refused once the window is full, and then for as
// long as the window.
func (c *Controller) slide(now time.Time, rate float64) {
	c.window.slides = true
	c.pace.setStated(rate, now)
}

// setStated records the window that an answer states. Answers come in any order, so the smallest number left counts. The
// service may have counted requests in flight, so the number is exact only when all are answered.
func (c *Controller) setStated(now time.Time, p Permit, r Result) {
	w, h := &c.window, &c.health
	least := shortWindow
	if w.uses { // the rest of a window of five seconds, which the run uses at a high rate
		least = shortWait
	}
	useful := least + 2*c.flight.latency() // a window that ends before its answers come is a rate
	if r.Ends <= 0 || r.Ends <= useful && w.ends.IsZero() || p.sent.Before(c.trip.phase.began) || h.state != Up && !h.closed {
		return
	}
	if prior := &c.trip.prior; p.serial == c.trip.phase.serial && r.Left+1 < prior.number/2 &&
		p.sent.Sub(prior.began) < 2*r.Ends { // else an outage lay between the two phases
		c.slide(now, float64(prior.number)/p.sent.Sub(prior.began).Seconds())
	}
	ends := now.Add(r.Ends)
	isLater := p.sent.Add(r.Ends).Sub(w.ends) > shortWait // even if the service counted the request as soon as it was sent
	if now.Before(w.ends) && isLater && r.Left < w.left { // the end moves, while the number left only falls: the window slides
		used := float64(c.trip.phase.used(p.serial + 1))
		used *= min(1, r.Ends.Seconds()/p.sent.Sub(c.trip.phase.began).Seconds()) // in the window
		c.slide(now, (used+float64(r.Left))/(r.Ends-time.Second).Seconds())       // the service states the end late
	}
	if w.ends.IsZero() || isLater { // another window has begun
		w.empty = 0
	}
	switch {
	case r.Left > 0:
		w.empty = -1
	case w.empty >= 0:
		w.empty++
	}
	if w.empty >= mostEmpty { // the field does not count requests
		w.slides = true
		if h.closed {
			h.state, h.refusing, h.closed = Up, false, false
		}
	}
	if w.slides {
		w.ends = time.Time{}
		return
	}
	if w.ends.IsZero() || isLater {
		w.left, w.ends, w.uses = r.Left, ends, true
	}
	w.left = min(w.left, r.Left)
	if ends.Before(w.ends) { // the time left is rounded
		w.ends = ends
	}
	c.pace.stated = 0 // the window is used at a higher rate
	if h.closed && w.left > c.inFlight {
		h.state, h.refusing, h.closed = Up, false, false
	}
}
