package limits

import (
	"math"
	"time"
)

// flight bounds the number of attempts in flight.
type flight struct {
	limit       int         // the caller's bound
	most        int         // the bound that refusals have shown, and that grows since
	concurrency concurrency // finds the bound that refusals show
	queue       queue

	cutAt time.Time     // when the bound was last lowered
	hold  time.Duration // the least time from a cut until the bound grows
	grown time.Time     // when grow last ran
	full  time.Time     // when the bound last held a request back
}

const (
	flightGrowth = 0.02 // share of the bound by which it grows in the first unit: one request in 50
	flightHold   = 2    // units from a cut until the bound grows: the requests in flight end in this time
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

// concurrency counts admitted and refused requests by the number in flight. If the service limits the number in flight, all
// admitted requests lie below a number, and all refused requests above it, except for a few, because the service notices late
// that a request has ended. At any other limit they are mixed.
type concurrency struct {
	admitted, refused [512]float64
	counted           int // attempts
}

const (
	concurrencyFades  = 50   // attempts until the counts fade
	concurrencyKept   = 0.75 // share of the counts that stays
	concurrencyErrors = 0.3  // attempts that may lie on the wrong side of the limit
	concurrencyLate   = 0.05 // share of the attempts on one side of the limit that may be like those of the other side: the ends of requests are noticed late
	concurrencyRare   = 10   // the least ratio of the refusals above the limit to those below: late ends are rare
)

func (w *concurrency) count(p Permit, counts *[512]float64) {
	counts[min(p.inFlight, len(counts)-1)]++
	if w.counted++; w.counted%concurrencyFades == 0 {
		for i := range w.refused {
			w.admitted[i] *= concurrencyKept
			w.refused[i] *= concurrencyKept
		}
	}
}

// limit returns the number of requests in flight that the service admits, or 0 if the counts show no such limit. least is the
// mean number in flight: a limit is not much lower.
func (w *concurrency) limit(least float64) int {
	over, refused := 0.0, 0.0 // admitted and refused with more than n in flight
	for i := range w.refused {
		over, refused = over+w.admitted[i], refused+w.refused[i]
	}
	below, under := 0.0, 0.0 // admitted and refused with at most n in flight
	for n := range w.refused {
		over, refused = over-w.admitted[n], refused-w.refused[n]
		below, under = below+w.admitted[n], under+w.refused[n]
		if refused < enough || under >= max(concurrencyErrors, min(concurrencyLate*below, refused/concurrencyRare)) {
			return 0
		}
		between := 0.0
		for i := n + 1; i <= min(n+n/8, len(w.refused)-1); i++ { // a request may end before the service sees the next request
			between += w.admitted[i]
		}
		if over-between < max(concurrencyErrors, concurrencyLate*refused) && over <= refused && below >= enough && float64(n) > least*0.8-1 {
			return n
		}
	}
	return 0
}

// queue bounds the number in flight when requests wait in the service: the latency is then a multiple of the idle latency, and
// falls with the number in flight. If it does not fall, the service has become slow, and that is its idle latency. A second bound
// begins low and grows with the answers, because some services break under a burst.
type queue struct {
	most  int // the number in flight that the answers have shown to be harmless
	bound int // the bound while requests wait in the service; 0 for none

	mean  time.Duration // moving average of the latency; 0 before the first answer
	idle  time.Duration // the lowest mean latency of a period
	least time.Duration // the lowest latency

	trial     int       // the bound before the first answer
	held      time.Time // when the bound first held a request back since an attempt has ended; zero for never
	began     time.Time // the start of the period: requests that were sent earlier do not count
	first     time.Time // the time of the first answer in the period
	working   int       // the sum of the numbers in flight when the requests of the period were sent
	sum       time.Duration
	count     int
	blockedAt time.Time // when the bound last held a request back

	// Since the bound was set, until the first period with it has shown whether the latency falls:
	fair   int           // the bound if it falls; 0 at other times
	before time.Duration // the mean latency before
	long   int           // periods since then whose latency was long: the test is repeated after queueAgain

	slow bool // the service has become slow: more in flight may still show a queue, so most grows by less
}

const (
	queueFirst   = 16              // requests in flight before the first answer, and after a doubt
	queueGrowth  = 4               // requests in flight that each answer adds, unless it waited in the service
	queueAnswers = 16              // answers in a period: one slow answer changes the mean little
	queueLong    = 4               // times the idle latency: an idle service varies by less
	queueHang    = 2 * time.Second // time without any answer after which one more request is sent
	queueFalls   = 75              // percent of the latency that may stay with half as many requests in flight if requests wait in the service
	queueAgain   = 8               // periods with a long latency until the test is repeated: the latencies of two periods may differ by chance
	queueSeconds = 5               // seconds of work that may wait in the service, for up to queueFair requests
	queueFair    = 64              // requests: enough for any service with so long a latency
)

func newQueue(trial int, now time.Time) queue {
	if trial <= 0 {
		trial = queueFirst
	}
	return queue{most: trial, trial: trial, began: now}
}

// long is the latency above which requests wait in a service that has the given idle latency.
func long(idle time.Duration) time.Duration { return max(queueLong*idle, idle+time.Second) }

// restart lowers the number in flight again: the service was out, and may break under a burst.
func (q *queue) restart(now time.Time) {
	q.most, q.began, q.sum, q.count = queueFirst, now, 0, 0
	if q.fair > 0 {
		q.bound, q.fair = q.fair, 0
	}
}

// onTrial reports whether no request has been answered, and another one may be sent after queueHang: the first inputs may hang.
func (q *queue) onTrial() bool { return q.mean == 0 && q.most < queueFirst }

func (q *queue) blocks(now time.Time, inFlight int) bool {
	if q.onTrial() && inFlight >= q.most {
		if q.held.IsZero() {
			q.held = now
		}
		q.most = max(q.most, min(queueFirst, q.trial+int(now.Sub(q.held)/queueHang)))
	}
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
		if !q.slow {
			q.most += queueGrowth
		} else if p.inFlight >= q.most/2 {
			q.most++
		}
	}
	q.mean += (took - q.mean) / 16
	if p.sent.Before(q.began) {
		return
	}
	if q.count == 0 {
		q.first, q.working = now, 0
	}
	q.working += p.inFlight
	q.sum += took
	q.count++
	answers := queueAnswers
	if q.fair > 0 { // few in flight make a test long
		answers = min(answers, max(4, 4*q.bound))
	}
	if q.count >= answers {
		q.measure(now, q.sum/time.Duration(q.count), float64(q.count-1)/max(now.Sub(q.first), time.Millisecond).Seconds())
	}
}

// measure ends a period. served is its answers a second.
func (q *queue) measure(now time.Time, latency time.Duration, served float64) {
	if q.idle == 0 || latency < q.idle {
		q.slow = q.slow && latency > q.idle/4
		q.idle = latency
	}
	half := max(1, q.working/q.count/2)
	switch {
	case q.fair > 0 && latency > q.before*queueFalls/100: // the latency is the same with half as many requests: they do not wait
		q.idle, q.least, q.most, q.slow = latency, latency, max(queueFirst, q.bound), true
		q.bound, q.fair = 0, 0
	case q.fair > 0:
		q.bound, q.fair = q.fair, 0
	case latency > long(q.idle):
		fair := min(max(2, int(queueSeconds*served)), queueFair)
		bound := max(fair, int(2*served*q.idle.Seconds()))
		if q.long++; q.bound == 0 || bound < q.bound/4 { // else the bound itself may be the reason for the low rate
			q.bound, q.fair, q.before, q.long = half, bound, latency, 0
		} else if q.long >= queueAgain {
			q.bound, q.fair, q.before, q.long = min(q.bound, half), q.bound, latency, 0
		}
	case q.bound > 0 && now.Sub(q.blockedAt) < 2*q.mean:
		q.bound += (q.bound + 7) / 8
	}
	q.began, q.sum, q.count = now, 0, 0
}
