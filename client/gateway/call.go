package gateway

import (
	"maps"
	"math"
	"net/http"
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
	came         time.Time
	lapses       int64 // answers.Store.Lapses before the claim

	outcome answers.Outcome // to be committed
	unsure  bool            // the outcome is a rejection that is not stored: see ask.Judge.IsSure

	done chan struct{} // closed when the call has ended; then body or err is set
	body []byte
	err  error

	// late is closed while the next attempt, which is due at again, is further away than waitable. Gateway.mu guards both.
	late  chan struct{}
	again time.Time
}

// join returns the call of a request, and whether the call existed before. It does not put a new call into the queue. The error
// is a refusal.
func (g *Gateway) join(key *embedded.Key, request client.Request) (c *call, joined bool, err error) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	upstream := g.refresh(now)
	if c, ok := g.calls[request]; ok {
		if upstream.refusal != nil {
			return nil, false, upstream.refusal
		}
		return c, true, nil
	}
	if err := g.admit(now, upstream, key, request); err != nil {
		return nil, false, err
	}
	c = &call{Attempts: ask.Attempts{Request: request}, key: key, came: now, done: make(chan struct{}), late: make(chan struct{})}
	g.calls[request] = c
	return c, false, nil
}

// admit reserves an answer of the key's quota for a new call, or refuses the call.
func (g *Gateway) admit(now time.Time, upstream condition, key *embedded.Key, request client.Request) error {
	if e := g.failed.of(now, request); e != nil {
		return e
	}
	switch {
	case !upstream.takes(len(g.calls)):
		return upstream.refusal
	case g.isFull(key, g.rate()):
		return tooFast(time.Second)
	}
	if wait, ok := key.Admit(http.Header{}); !ok {
		return tooFast(wait)
	}
	if !key.Reserve() {
		return noQuota("the quota of this API key", key.Refill())
	}
	return nil
}

// rate is the rate that the upstream is known to serve. The present rate may be lower for a moment, as after an outage: if the
// gateway then refused requests, clients would take the low rate for their limit.
func (g *Gateway) rate() float64 {
	s, known := g.limits.Status(), g.limits.Learned().Rate
	if known == 0 && !math.IsInf(s.Most, 1) { // the upstream has shown no limit below the operator's
		known = s.Most
	}
	return max(s.Rate, min(known, s.Most)) // an earlier gateway may have had a higher limit
}

// enqueue puts a new call into the queue. If the upstream has begun to refuse since the call was admitted, enqueue ends the call.
// The error is a refusal. An only call is queued even if the upstream is Out or Limited, but its request gets the refusal.
func (g *Gateway) enqueue(c *call) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	upstream := g.refresh(time.Now())
	if !upstream.takes(len(g.calls) - 1) {
		g.endLocked(c, false, nil, upstream.refusal)
		return upstream.refusal
	}
	g.queue.Push(c.key, c)
	g.dispatcher.Wake()
	if upstream.refusal != nil {
		return upstream.refusal
	}
	return nil
}

// end ends a call with a body or an error. Without a charge, it gives back the key's reserved answer and the claim.
func (g *Gateway) end(c *call, charged bool, body []byte, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.endLocked(c, charged, body, err)
}

func (g *Gateway) endLocked(c *call, charged bool, body []byte, err error) {
	delete(g.calls, c.Request)
	if !charged {
		c.key.Release()
		g.options.Store.Release(c.Request)
	}
	c.body, c.err = body, err
	close(c.done)
}

// endWaiting ends all calls that wait for an attempt. The caller holds mu.
func (g *Gateway) endWaiting(err error) {
	for c, ok := g.queue.Pop(); ok; c, ok = g.queue.Pop() {
		g.endLocked(c, false, nil, err)
	}
	for c, ok := g.dispatcher.Take(); ok; c, ok = g.dispatcher.Take() {
		g.endLocked(c, false, nil, err)
	}
}

// park holds a call until its next attempt is due, unless the upstream refuses: the call then ends.
func (g *Gateway) park(c *call) {
	now := time.Now()
	g.mu.Lock()
	defer g.mu.Unlock()
	if upstream := g.refresh(now); upstream.refusal != nil {
		g.endLocked(c, false, nil, upstream.refusal)
		return
	}
	if c.again = c.Due(); c.again.Sub(now) > waitable {
		close(c.late)
	}
	g.dispatcher.Park(c)
}

// failures are the requests whose calls ended without an answer, each for failedFor.
type failures map[client.Request]failure

type failure struct {
	until time.Time
	err   *client.Error
}

const (
	// failedFor is longer than the time in which a run repeats a request (half a minute by default).
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
