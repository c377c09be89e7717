package limits

import (
	"testing"
	"time"
)

// The service has one worker and a queue, so its latency grows with the number in flight. After a
// dip the number in flight returns to its earlier value and does not exceed it.
func TestDipLeavesTheBound(t *testing.T) {
	const work = time.Second / 300
	now := time.Unix(0, 0)
	q := newQueue(0, now)
	free := now // when the worker is free
	type request struct{ sent, done time.Time }
	var pending []request
	most := 0
	for end := now.Add(time.Minute); now.Before(end); {
		for !q.blocks(now, len(pending)) {
			q.peak = max(q.peak, len(pending)+1)
			if free.Before(now) {
				free = now
			}
			free = free.Add(work)
			pending = append(pending, request{now, free.Add(25 * time.Millisecond)})
		}
		now = pending[0].done
		q.answered(now, Permit{sent: pending[0].sent})
		pending = pending[1:]
		if now.Sub(time.Unix(0, 0)) > 5*time.Second {
			most = max(most, q.bound)
		}
	}
	if most > leastQueue {
		t.Errorf("%d may be in flight, at most %d", most, leastQueue)
	}
}
