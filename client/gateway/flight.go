package gateway

import (
	"maps"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/embedded"
)

// flight is a request that is being asked.
type flight struct {
	ask.Attempts               // at the upstream
	key          *embedded.Key // pays for the answer

	outcome answers.Outcome // to be committed

	done chan struct{} // closed when the flight has ended; then body or err is set
	body []byte
	err  error
}

// join returns the flight of a request, and whether the flight was there before. A new flight is not in
// the queue. The error is a refusal.
func (g *Gateway) join(key *embedded.Key, request client.Request) (f *flight, joined bool, err error) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if f, ok := g.flights[request]; ok {
		return f, true, nil
	}
	if err := g.admit(now, key, request); err != nil {
		return nil, false, err
	}
	f = &flight{Attempts: ask.Attempts{Request: request}, key: key, done: make(chan struct{})}
	g.flights[request] = f
	return f, false, nil
}

// admit reserves an answer of the key's quota for a new flight, or refuses the flight.
func (g *Gateway) admit(now time.Time, key *embedded.Key, request client.Request) error {
	if e := g.failed.of(now, request); e != nil {
		return e
	}
	switch {
	case g.Exhausted():
		return noUpstreamQuota()
	case g.isUnusable():
		return unusable()
	case g.isDown() && len(g.flights) > 0: // without flights a new one shows when the outage ends
		return outage()
	case g.queue.full(key, g.limits.Rate()):
		return tooFast(time.Second)
	}
	if wait, ok := key.Admit(); !ok {
		return tooFast(wait)
	}
	if !key.Reserve() {
		return noQuota()
	}
	return nil
}

// isDown reports whether there is an outage. The caller holds mu.
func (g *Gateway) isDown() bool {
	select {
	case <-g.down:
		return true
	default:
		return false
	}
}

// outages returns the channel that is closed during an outage.
func (g *Gateway) outages() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.down
}

// enqueue has a new flight asked.
func (g *Gateway) enqueue(f *flight) {
	g.mu.Lock()
	g.queue.push(f)
	g.mu.Unlock()
	g.waker.Wake()
}

// end ends a flight with a body or an error. An answer that was not charged is released.
func (g *Gateway) end(f *flight, charged bool, body []byte, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.endLocked(f, charged, body, err)
}

func (g *Gateway) endLocked(f *flight, charged bool, body []byte, err error) {
	delete(g.flights, f.Request)
	if !charged {
		f.key.Release()
	}
	f.body, f.err = body, err
	close(f.done)
}

// endAll ends all flights that wait for an attempt.
func (g *Gateway) endAll(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for f := g.queue.pop(); f != nil; f = g.queue.pop() {
		g.endLocked(f, false, nil, err)
	}
	for f, ok := g.parked.Take(); ok; f, ok = g.parked.Take() {
		g.endLocked(f, false, nil, err)
	}
}

// park holds a flight until its next attempt is due.
func (g *Gateway) park(f *flight) {
	g.mu.Lock()
	g.parked.Park(f)
	g.mu.Unlock()
	g.waker.Wake()
}

// failures are requests whose flights ended without an answer, for a while.
type failures map[client.Request]failure

type failure struct {
	until time.Time
	err   *client.Error
}

const (
	// failedFor is longer than a run repeats a request (half a minute by default).
	failedFor = time.Minute

	// mostFailures bounds the memory: failures are pruned when there are more.
	mostFailures = 10000
)

func (f failures) add(now time.Time, r client.Request, err *client.Error) {
	if len(f) >= mostFailures {
		maps.DeleteFunc(f, func(_ client.Request, e failure) bool { return now.After(e.until) })
	}
	if len(f) >= mostFailures {
		clear(f)
	}
	f[r] = failure{now.Add(failedFor), err}
}

// of returns the failure of a request that still holds; nil for none.
func (f failures) of(now time.Time, r client.Request) *client.Error {
	e, ok := f[r]
	if ok && now.After(e.until) {
		delete(f, r)
		return nil
	}
	return e.err
}
