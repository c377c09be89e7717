package limits

import "time"

// queue limits the number in flight to about twice the number that the service works on at once.
// If the latency is twice the idle latency, half of the requests wait in the service's queue. The
// idle latency, that of a service without a queue, is the lowest latency seen. It is measured
// again in dips: short periods with half the number in flight.
type queue struct {
	bound     int
	trial     int           // the bound before the first answer
	mean      time.Duration // moving average of the latency; 0 before the first answer
	idle      time.Duration // idle latency
	blockedAt time.Time     // when the bound last held a request back

	began time.Time // the start of the period; requests that were sent earlier do not count
	sum   time.Duration
	count int
	peak  int // the largest number in flight

	dip    bool // the period is a dip
	dipped time.Time
}

const (
	leastQueue    = 64   // the lowest bound: very low latencies say more about this machine than about the service
	beforeAnswers = 1024 // the bound before the first answer: 100 requests a second at 10 s an answer

	allowedQueue = 1.8 // times the number that the service works on; below 2, so that a dip leaves no queue
	queueAnswers = 16  // answers in a period
	dipEvery     = 10 * time.Second
	dipAnswers   = 20 // latencies between dips, at least
)

func newQueue(trial int, now time.Time) queue {
	if trial <= 0 {
		trial = beforeAnswers
	}
	return queue{bound: beforeAnswers, trial: trial, began: now, dipped: now}
}

func (q *queue) blocks(now time.Time, inFlight int) bool {
	bound := q.bound
	if q.mean == 0 {
		bound = min(bound, q.trial)
	}
	if inFlight < bound {
		return false
	}
	q.blockedAt = now
	return true
}

func (q *queue) answered(now time.Time, p Permit) {
	took := now.Sub(p.sent)
	if q.mean == 0 {
		q.mean = took
		if q.trial == beforeAnswers {
			q.bound = max(leastQueue, q.peak)
		}
	}
	q.mean += (took - q.mean) / 16
	if p.sent.Before(q.began) {
		return
	}
	q.sum += took
	q.count++
	if q.count >= queueAnswers {
		q.measure(now, q.sum/time.Duration(q.count))
	}
}

// measure ends a period; latency is the mean of the period.
func (q *queue) measure(now time.Time, latency time.Duration) {
	if q.idle == 0 || latency < q.idle || q.dip {
		q.idle = latency
	}
	busy := now.Sub(q.blockedAt) < 2*q.mean
	wasDip := q.dip
	switch {
	case q.dip:
		q.dip = false
		q.bound *= 2
	case busy && now.Sub(q.dipped) > max(dipEvery, dipAnswers*q.mean):
		q.dip, q.dipped = true, now
		q.bound /= 2
	case busy:
		q.bound = max(leastQueue, int(allowedQueue*float64(q.peak)*q.idle.Seconds()/latency.Seconds()))
	}
	q.began, q.sum, q.count, q.peak = now, 0, 0, 0
	if q.dip || wasDip {
		q.began = now.Add(q.mean) // when the queue has shrunk, or has grown back
	}
}
