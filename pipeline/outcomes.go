package pipeline

import (
	"maps"
	"sync"
	"sync/atomic"
)

// Outcomes counts a run's attempts by how they ended: "answered", or the outcome of a
// *client.Error.
type Outcomes map[string]int64

// outcomes gathers Outcomes. Attempts that are answered are many and take no lock.
type outcomes struct {
	answered atomic.Int64
	mu       sync.Mutex
	failed   Outcomes
}

func (o *outcomes) add(failure string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.failed == nil {
		o.failed = make(Outcomes)
	}
	o.failed[failure]++
}

func (o *outcomes) count() Outcomes {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := Outcomes{}
	maps.Copy(all, o.failed)
	if n := o.answered.Load(); n > 0 {
		all["answered"] = n
	}
	return all
}
