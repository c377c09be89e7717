package pipeline

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// window bounds the bytes of records between reading and writing. A small part is always open: that is
// enough while the writer or the lookups are busy, and the garbage collector has less to walk through
// (15% of a run over answered inputs). The reserve opens while the writer is blocked by a record that
// waits for its retry, so that the run goes on with later records: at 300 requests a second for a quarter
// of an hour.
type window struct {
	sem     *semaphore.Weighted
	reserve int64 // bytes

	mu     sync.Mutex
	opened int64 // bytes of the reserve
}

// basePart is the part of the window that is always open: one in so many.
const basePart = 32

func newWindow(size int64) *window {
	w := &window{sem: semaphore.NewWeighted(size), reserve: size - size/basePart}
	w.sem.TryAcquire(w.reserve) // never fails: nothing is taken yet
	return w
}

// acquire waits for room. The error is the context's.
func (w *window) acquire(ctx context.Context, size int64) error { return w.sem.Acquire(ctx, size) }

// open opens the whole reserve.
func (w *window) open() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sem.Release(w.reserve - w.opened)
	w.opened = w.reserve
}

// release gives room back. The reserve is closed first.
func (w *window) release(size int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	closed := min(size, w.opened)
	w.opened -= closed
	w.sem.Release(size - closed)
}
