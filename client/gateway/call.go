package gateway

import (
	"maps"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/embedded"
)

// call is a request that is being asked.
type call struct {
	ask.Attempts               // at the upstream
	key          *embedded.Key // pays for the answer

	outcome answers.Outcome // to be committed

	done chan struct{} // closed when the call has ended; then body or err is set
	body []byte
	err  error
}

// join returns the call of a request, and whether the call was there before. A new call is not in
// the queue. The error is a refusal.
func (g *Gateway) join(key *embedded.Key, request client.Request) (c *call, joined bool, err error) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if c, ok := g.calls[request]; ok {
		return c, true, nil
	}
	if err := g.admit(now, key, request); err != nil {
		return nil, false, err
	}
	c = &call{Attempts: ask.Attempts{Request: request}, key: key, done: make(chan struct{})}
	g.calls[request] = c
	return c, false, nil
}

// admit reserves an answer of the key's quota for a new call, or refuses the call.
func (g *Gateway) admit(now time.Time, key *embedded.Key, request client.Request) error {
	if e := g.failed.of(now, request); e != nil {
		return e
	}
	switch {
	case g.Exhausted():
		return noUpstreamQuota()
	case g.isUnusable():
		return unusable()
	case g.isDown() && len(g.calls) > 0: // without calls a new one shows when the outage ends
		return outage()
	case g.queue.full(key, g.limits.Rate()):
		return tooFast(time.Second)
	}
	if wait, ok := key.Admit(); !ok {
		return tooFast(wait)
	}
	if !key.Reserve() {
		return noQuota(key.Refill())
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

// enqueue has a new call asked.
func (g *Gateway) enqueue(c *call) {
	g.mu.Lock()
	g.queue.push(c)
	g.mu.Unlock()
	g.waker.Wake()
}

// end ends a call with a body or an error. An answer that was not charged is released.
func (g *Gateway) end(c *call, charged bool, body []byte, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.endLocked(c, charged, body, err)
}

func (g *Gateway) endLocked(c *call, charged bool, body []byte, err error) {
	delete(g.calls, c.Request)
	if !charged {
		c.key.Release()
	}
	c.body, c.err = body, err
	close(c.done)
}

// endAll ends all calls that wait for an attempt.
func (g *Gateway) endAll(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for c := g.queue.pop(); c != nil; c = g.queue.pop() {
		g.endLocked(c, false, nil, err)
	}
	for c, ok := g.parked.Take(); ok; c, ok = g.parked.Take() {
		g.endLocked(c, false, nil, err)
	}
}

// park holds a call until its next attempt is due.
func (g *Gateway) park(c *call) {
	g.mu.Lock()
	g.parked.Park(c)
	g.mu.Unlock()
	g.waker.Wake()
}

// failures are requests whose calls ended without an answer, for a while.
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

func (c failures) add(now time.Time, r client.Request, err *client.Error) {
	if len(c) >= mostFailures {
		maps.DeleteFunc(c, func(_ client.Request, e failure) bool { return now.After(e.until) })
	}
	if len(c) >= mostFailures {
		clear(c)
	}
	c[r] = failure{now.Add(failedFor), err}
}

// of returns the failure of a request that still holds; nil for none.
func (c failures) of(now time.Time, r client.Request) *client.Error {
	e, ok := c[r]
	if ok && now.After(e.until) {
		delete(c, r)
		return nil
	}
	return e.err
}
