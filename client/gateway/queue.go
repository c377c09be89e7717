package gateway

import (
	"time"

	"github.com/bulkcat/bulkcat/client/embedded"
)

const (
	// queued is how long the queue of a key may be: shorter than patience. A client that adapts to the
	// latency meets no refusals, which come seconds before the answers and would mislead the client.
	queued = 10 * time.Second

	leastQueued = 8     // calls of a key, at low rates
	mostQueued  = 10000 // calls of a key, at high rates
)

// Waiting implements [embedded.Backend].
func (g *Gateway) Waiting(key *embedded.Key) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.queue.Waiting(key)
}

// isFull reports whether a key has as many calls waiting as it may have at a rate in requests a second. The caller holds mu.
func (g *Gateway) isFull(key *embedded.Key, rate float64) bool {
	share := rate * g.queue.Share(key)
	return g.queue.Waiting(key) >= int(min(max(share*queued.Seconds(), leastQueued), mostQueued))
}
