package ask

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// Rejected holds rejected requests until it is known whether the rejections are about the inputs. The zero value is
// empty. It is safe for concurrent use.
type Rejected[T Asked] struct {
	length atomic.Int64

	mu       sync.Mutex
	requests []T // the newest last
}

// Len returns the number of held requests. It takes no lock.
func (h *Rejected[T]) Len() int { return int(h.length.Load()) }

// Hold holds a rejected request.
func (h *Rejected[T]) Hold(t T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keep(append(h.requests, t))
}

// Forget removes the held requests that are equal to r, which has a newer outcome.
func (h *Rejected[T]) Forget(r client.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keep(slices.DeleteFunc(h.requests, func(t T) bool { return t.history().Request == r }))
}

// Confirm takes the requests that were sent before an answered request: their rejections are about the inputs.
func (h *Rejected[T]) Confirm(sent time.Time) (confirmed []T) {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := h.requests[:0:0]
	for _, t := range h.requests {
		if t.history().Sent.Before(sent) {
			confirmed = append(confirmed, t)
		} else {
			kept = append(kept, t)
		}
	}
	h.keep(kept)
	return confirmed
}

// Each calls visit for all requests.
func (h *Rejected[T]) Each(visit func(T)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.requests {
		visit(t)
	}
}

// TakeAll takes all requests.
func (h *Rejected[T]) TakeAll() []T {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.requests
	h.keep(nil)
	return all
}

// GiveUp removes the oldest requests until at most most are left.
func (h *Rejected[T]) GiveUp(most int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keep(slices.Delete(h.requests, 0, max(0, len(h.requests)-most)))
}

// keep replaces the requests. The caller holds mu.
func (h *Rejected[T]) keep(requests []T) {
	h.requests = requests
	h.length.Store(int64(len(requests)))
}
