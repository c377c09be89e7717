package limits

import (
	"math"
	"time"
)

// flight bounds the number of attempts in flight.
type flight struct {
	limit int   // the caller's bound
	most  int   // the bound that refusals have shown, with its growth
	crowd crowd // finds that bound
	queue queue

	cutAt time.Time     // when most was lowered
	hold  time.Duration // the least time from a cut until most grows
	grown time.Time     // when grow last ran
	full  time.Time     // when most last held a request back
}

const (
	flightGrowth = 0.02 // share of the bound, in the first unit of growth: one request more of 50
	flightHold   = 2    // units after a cut until the bound grows: the requests in flight end meanwhile
)

func newFlight(o Options, now time.Time) flight {
	return flight{limit: o.InFlight, most: o.InFlight, cutAt: now, grown: now, queue: newQueue(o.Trial, now)}
}

// blocks reports whether the number in flight is at a bound.
func (f *flight) blocks(now time.Time, inFlight int) bool {
	if inFlight >= f.most {
		f.full = now
		return true
	}
	return inFlight >= f.limit || f.queue.blocks(now, inFlight)
}

func (f *flight) cut(now time.Time, most int) {
	if most < f.most {
		f.most = max(1, most)
		f.cutAt = now
	}
}

// grow raises the bound while it holds requests back: slowly after a cut, then faster.
func (f *flight) grow(now time.Time, unit time.Duration) {
	if f.most >= f.limit || now.Sub(f.full) > unit/2 || now.Sub(f.grown) < unit/4 {
		return
	}
	f.grown = now
	units := (now.Sub(f.cutAt)-f.hold).Seconds()/unit.Seconds() - flightHold
	if units >= 0 {
		gain := min(flightGrowth*math.Exp2(units), 2) / 4
		f.most = min(f.limit, f.most+max(1, int(float64(f.most)*gain)))
	}
}

func (f *flight) latency() time.Duration { return f.queue.mean }

// crowd counts admitted and refused requests by the number in flight, since the first refusal. At a limit of requests at
// once all admitted ones lie below a number, and all refused ones above it. At any other limit they are mixed.
type crowd struct {
	admitted, refused [512]float64
	counted           int  // since the counts last faded
	began             bool // a request was refused
}

const (
	crowdFades  = 50   // attempts until the counts fade
	crowdKept   = 0.75 // share of the counts that stays
	crowdErrors = 0.3  // attempts on the wrong side of a boundary
)

func (w *crowd) count(p Permit, counts *[512]float64) {
	if w.began = w.began || counts == &w.refused; !w.began {
		return
	}
	counts[min(p.inFlight, len(counts)-1)]++
	if w.counted++; w.counted%crowdFades == 0 {
		for i := range w.refused {
			w.admitted[i] *= crowdKept
			w.refused[i] *= crowdKept
		}
	}
}

// limit is the number of requests at once that the service admits, so that no more than least are at work in the mean; 0
// if it does not show such a limit.
func (w *crowd) limit(least float64) int {
	var admitted, refused float64
	for i := range w.refused {
		admitted, refused = admitted+w.admitted[i], refused+w.refused[i]
	}
	below, wrong := 0.0, 0.0 // admitted and refused with at most n in flight
	for n := range w.refused {
		below, wrong = below+w.admitted[n], wrong+w.refused[n]
		if wrong >= crowdErrors || admitted < 5 || refused < enough {
			return 0
		}
		between := 0.0
		for i := n + 1; i <= min(n+n/8, len(w.refused)-1); i++ { // requests may end in transit
			between += w.admitted[i]
		}
		if admitted-below-between < crowdErrors && below >= enough && float64(n) > least*0.8-1 {
			return n
		}
	}
	return 0
}

// queue bounds the number in flight when requests wait in the service: the latency is a multiple of that of an idle
// service. The number begins low, and grows with the answers, for some services break under a burst.
type queue struct {
	most  int // the number at once that the answers have shown to be harmless
	bound int // 0 for none

	mean  time.Duration // moving average of the latency; 0 before the first answer
	idle  time.Duration // the lowest mean of a period
	least time.Duration // the lowest latency

	began     time.Time // of the period: requests that were sent earlier do not count
	first     time.Time // its first answer: those before are of the bound before
	sum       time.Duration
	count     int
	blockedAt time.Time // when the bound last held a request back
}

const (
	queueFirst   = 16 // requests at once before the first answer, and after a doubt
	queueGrowth  = 4  // requests at once more, for each answer that did not wait in the service
	queueAnswers = 16 // answers in a period: one slow answer changes their mean little
	queueLong    = 4  // times the idle latency: less is the spread of a service that is idle
	queueSeconds = 5  // seconds of work that may wait in the service, for up to queueFair requests
	queueFair    = 64 // requests: enough for any service that takes so long
)

func newQueue(trial int, now time.Time) queue {
	if trial <= 0 {
		trial = queueFirst
	}
	return queue{most: trial, began: now}
}

// long is the latency from which on requests wait in a service that is as fast when it is idle.
func long(idle time.Duration) time.Duration { return max(queueLong*idle, idle+time.Second) }

// restart begins with a low number again: the service was out, and may break under a burst.
func (q *queue) restart(now time.Time) {
	q.most, q.began, q.sum, q.count = queueFirst, now, 0, 0
}

func (q *queue) blocks(now time.Time, inFlight int) bool {
	if inFlight < q.most && (q.bound == 0 || inFlight < q.bound) {
		return false
	}
	q.blockedAt = now
	return true
}

func (q *queue) answered(now time.Time, p Permit) {
	took := now.Sub(p.sent)
	if q.mean == 0 {
		q.mean, q.least = took, took
	}
	if q.least = min(q.least, took); took <= long(q.least) {
		q.most += queueGrowth
	}
	q.mean += (took - q.mean) / 16
	if p.sent.Before(q.began) {
		return
	}
	if q.count == 0 {
		q.first = now
	}
	q.sum += took
	q.count++
	if q.count >= queueAnswers {
		q.measure(now, q.sum/time.Duration(q.count), float64(q.count-1)/max(now.Sub(q.first), time.Millisecond).Seconds())
	}
}

// measure ends a period with its mean latency and its answers a second.
func (q *queue) measure(now time.Time, latency time.Duration, served float64) {
	if q.idle == 0 || latency < q.idle {
		q.idle = latency
	}
	switch {
	case latency > long(q.idle):
		fair := min(max(2, int(queueSeconds*served)), queueFair)
		if bound := max(fair, int(2*served*q.idle.Seconds())); q.bound == 0 || bound < q.bound/4 { // else its own bound may be why it serves fewer
			q.bound = bound
		}
	case q.bound > 0 && now.Sub(q.blockedAt) < 2*q.mean:
		q.bound += (q.bound + 7) / 8
	}
	q.began, q.sum, q.count = now, 0, 0
}
