package limits

import "time"

// queue keeps the number in flight to twice what the service works on at once, by the latency:
// where it is twice that of a service that is not busy, half of the requests wait in a queue.
// The latency of a service that is not busy is learned while the bound holds nothing back, and
// in short dips otherwise.
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

	queueAnswers = 16 // make a mean
	dipEvery     = 10 * time.Second
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
	busy := now.Sub(q.held) < 2*q.mean
	switch {
	case q.idle == 0 || latency < q.idle || q.dip:
		q.idle = latency
	case !busy:
		q.idle += (latency - q.idle) / 2
	}
	if peak := float64(q.peak); busy || q.dip {
		q.bound = max(leastQueue, int(2*peak*q.idle.Seconds()/latency.Seconds()))
	}
	if q.dip {
		q.bound *= 2 // the dip has halved the peak
	}
	q.dip = false
	if busy && q.bound > leastQueue && now.Sub(q.dipped) > dipEvery {
		q.dip, q.dipped = true, now
		q.bound = max(leastQueue, q.bound/2)
	}
	q.began, q.sum, q.count, q.peak = now, 0, 0, 0
	if q.dip {
		q.began = now.Add(q.mean) // when the queue has shrunk
	}
}
