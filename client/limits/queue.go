package limits

import "time"

// queue keeps the number in flight to about twice what the service works on at once, by the
// latency: where that is twice the latency of a service that is not busy, half of the requests
// wait in a queue. The latency of a service that is not busy is the lowest seen, measured again
// in short dips: halves of the number in flight.
type queue struct {
	bound int
	mean  time.Duration // latency of late; 0 before the first answer
	idle  time.Duration // latency of a service that is not busy
	held  time.Time     // when the bound last held a request back

	began time.Time // of the period; what was sent earlier is not of it
	sum   time.Duration
	count int
	peak  int // in flight

	dip    bool // the period is a dip
	dipped time.Time
}

const (
	leastQueue    = 64   // however fast the service answers: such latencies say more about this machine
	beforeAnswers = 1024 // before the first answer: 100 requests a second at 10 s an answer

	allowedQueue = 1.8 // times what the service works on; below 2, or a dip would find no queue in a service that is overloaded
	queueAnswers = 16  // make a mean
	dipEvery     = 10 * time.Second
	dipAnswers   = 20 // latencies between dips, at least
)

func newQueue(now time.Time) queue {
	return queue{bound: beforeAnswers, began: now, dipped: now}
}

func (q *queue) blocks(now time.Time, inFlight int) bool {
	if inFlight < q.bound {
		return false
	}
	q.held = now
	return true
}

func (q *queue) answered(now time.Time, p Permit) {
	took := now.Sub(p.sent)
	if q.mean == 0 {
		q.mean = took
		q.bound = max(leastQueue, q.peak)
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

// measure ends a period, with its mean latency.
func (q *queue) measure(now time.Time, latency time.Duration) {
	if q.idle == 0 || latency < q.idle || q.dip {
		q.idle = latency
	}
	busy := now.Sub(q.held) < 2*q.mean
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
		q.began = now.Add(q.mean) // when the queue has shrunk, or is as long as before
	}
}
