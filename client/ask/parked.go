package ask

import (
	"container/heap"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client/limits"
)

// Parked holds the requests that wait for their next attempt. The zero value is empty. It is safe for concurrent use.
type Parked[T Asked] struct {
	mu       sync.Mutex
	requests dueHeap[T]
	early    []T       // requests whose wait may end earlier, in the order of their failures; some are no longer parked
	decided  time.Time // when Decide last ran
}

// newsDelay is the time after which Decide looks again at a request without attempts left, which waits until another answer shows
// whether the service is up.
const newsDelay = 50 * time.Millisecond

// Park holds a request after Fail or Repeat.
func (p *Parked[T]) Park(t T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a := t.history(); a.due.Before(p.decided) { // else Take would take t in place of the request that Decide has found
		a.due = p.decided
	}
	heap.Push(&p.requests, t)
	if !t.history().soon.IsZero() {
		p.early = append(p.early, t)
	}
}

// Len returns the number of parked requests.
func (p *Parked[T]) Len() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.requests)
}

// Decide decides about the requests that are due. It removes the requests whose attempts are used up, and returns them as failed.
// all is q and the other due requests: if all.Retry is set, [Parked.Take] takes the request to be asked again. due is when the
// first parked request is due; zero if none is parked.
func (p *Parked[T]) Decide(now time.Time, c *limits.Controller, q limits.Queue) (failed []T, all limits.Queue, due time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.decided = now
	p.hasten(now, c)
	for len(p.requests) > 0 {
		first := p.requests[0].history()
		if first.due.After(now) {
			return failed, q, first.due
		}
		switch first.decide(now, c, q) {
		case repeat:
			q.Retry = true
			return failed, q, first.due
		case postpone:
			q.Spent = true
			first.due = now.Add(newsDelay)
			heap.Fix(&p.requests, 0)
		case giveUp:
			failed = append(failed, heap.Pop(&p.requests).(T))
		}
	}
	return failed, q, time.Time{}
}

// hasten ends the waits that responses have named, if the service has answered requests that were sent later: a limit that holds
// for one request alone ends with the request's backoff.
func (p *Parked[T]) hasten(now time.Time, c *limits.Controller) {
	for len(p.early) > 0 {
		a := p.early[0].history()
		parked := a.place < len(p.requests) && p.requests[a.place].history() == a
		if parked && !a.soon.IsZero() {
			if !c.AnsweredSince(a.failed) {
				return
			}
			if a.soon.Before(now) {
				a.soon = now
			}
			if a.soon.Before(a.due) {
				a.due = a.soon
				heap.Fix(&p.requests, a.place)
			}
			a.soon = time.Time{}
		}
		clear(p.early[:1])
		p.early = p.early[1:]
	}
}

// Take takes the request that is due first; false if none is parked.
func (p *Parked[T]) Take() (t T, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.requests) == 0 {
		return t, false
	}
	return heap.Pop(&p.requests).(T), true
}

// dueHeap is a heap of requests, the next due first.
type dueHeap[T Asked] []T

func (h dueHeap[T]) Len() int           { return len(h) }
func (h dueHeap[T]) Less(i, j int) bool { return h[i].history().due.Before(h[j].history().due) }
func (h dueHeap[T]) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].history().place, h[j].history().place = i, j
}
func (h *dueHeap[T]) Push(t any) {
	t.(T).history().place = len(*h)
	*h = append(*h, t.(T))
}
func (h *dueHeap[T]) Pop() any {
	last := len(*h) - 1
	t := (*h)[last]
	clear((*h)[last:])
	*h = (*h)[:last]
	return t
}
