package pipeline

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Attempts counts a run's attempts by how they ended: "answered", "canceled", or the Outcome of a
// *client.Error.
type Attempts map[string]int64

// attempts counts. Most attempts are answered, and take no lock.
type attempts struct {
	answered atomic.Int64
	mu       sync.Mutex
	failed   Attempts
}

func (a *attempts) add(failure string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed == nil {
		a.failed = make(Attempts)
	}
	a.failed[failure]++
}

func (a *attempts) count() Attempts {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := Attempts{}
	maps.Copy(all, a.failed)
	if n := a.answered.Load(); n > 0 {
		all["answered"] = n
	}
	return all
}
