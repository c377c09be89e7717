package ask

import (
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
)

// Astray decides whether a rejection that another server may have sent is about its input: see [client.Error.Astray]. One of
// several backends sends such rejections while it is replaced. Some services reject inputs with such responses, too. So the
// request is repeated once, after a while, until there is evidence: mostAgreed requests were rejected again, and none was
// answered. If one was answered, all such rejections are failures that may pass. The zero value has no evidence. It is safe for
// concurrent use.
type Astray struct {
	agreed atomic.Int64 // repeated requests that were rejected again
	passes atomic.Bool  // such a rejection has passed
}

const (
	// mostAgreed is the number of repeated requests that show that the service rejects inputs in this way. If two of three
	// backends reject everything, one in eight such numbers is wrong; all other requests are evidence, too.
	mostAgreed = 5

	// astrayWait is the time until a request is repeated: about as long as a backend takes to start.
	astrayWait = 5 * time.Second
)

// Judge returns a rejection of a service that answers other requests, and the result of the attempt: as a failure that may pass,
// unless the rejection is about the input, as that of the last of most attempts is. The caller parks a request whose attempt
// failed.
func (s *Astray) Judge(a *Attempts, e *client.Error, result limits.Result, most int) (*client.Error, limits.Result) {
	if e.Class != client.Rejected || !e.Astray() {
		return e, result
	}
	failure := *e
	failure.Class = client.Transient
	switch {
	case a.Counted() >= most:
		return e, result
	case s.passes.Load():
		return &failure, ResultOf(client.Answer{}, &failure)
	case a.WentAstray():
		s.agreed.Add(1)
		return e, result
	case s.agreed.Load() >= mostAgreed:
		return e, result
	}
	return &failure, result // which is that of a rejection: perhaps the service works
}

// Answered records that a request was answered.
func (s *Astray) Answered(a *Attempts) {
	if a.WentAstray() {
		s.Pass()
	}
}

// Pass records that such a rejection is not about its input.
func (s *Astray) Pass() { s.passes.Store(true) }

// WentAstray reports whether another server may have rejected the last attempt that failed.
func (a *Attempts) WentAstray() bool { return a.Last != nil && a.Last.Astray() }
