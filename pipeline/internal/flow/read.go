package flow

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/semaphore"

	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/pipeline/internal/selection"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// read reads records, and makes a task for each classification as the window admits them.
func (r *run) read() error {
	var tasks tasks
	var digest output.Digest
	hash := xxhash.New()
	split := selection.NewSplitter(r.options.Shard, r.options.Kind, r.options.Requested)
	source := selection.Sample(r.soft, r.options.Requested, r.Source, &r.Counters.Others)
	for all := int64(0); r.options.Limit == 0 || all < r.options.Limit; all++ {
		record, err := source.Read()
		if err == io.EOF {
			break
		}
		// The caller has interrupted the run, or the run has already stopped, and stop does nothing. A sequence of records may
		// return context.Canceled before r.soft is done.
		if errors.Is(err, reader.ErrInterrupted) || errors.Is(err, context.Canceled) {
			r.stop(errInterrupted)
			return nil
		}
		if err != nil {
			return err
		}
		if f := r.options.Folder; f != nil {
			digest = digest.Next(hash, &record)
			if record.Number <= f.KeptRecords() {
				if r.soft.Err() != nil {
					return nil
				}
				r.countRead(split.Holds(&record))
				if err := f.Check(record.Number, digest); err != nil {
					return err
				}
				continue
			}
		}
		own := split.Holds(&record)
		r.countRead(own)
		if !own {
			if r.soft.Err() != nil {
				return nil
			}
			continue
		}
		for class := range r.options.Classifications {
			t := tasks.next(record, r.answerSize.Load())
			t.class, t.digest = class, digest
			if !r.admit(t) {
				return nil
			}
		}
	}
	if f := r.options.Folder; f != nil {
		if err := f.CheckEnd(r.Counters.Read.Load() + r.Counters.Others.Load()); err != nil {
			return err
		}
	}
	r.readAll.Store(true)
	return nil
}

// countRead counts a record of this shard, or of another shard.
func (r *run) countRead(own bool) {
	if own {
		r.Counters.Read.Add(1)
	} else {
		r.Counters.Others.Add(1)
	}
}

// admit lets a task into the window; false when the run has stopped.
func (r *run) admit(t *task) bool {
	if r.options.Strict {
		if err := r.check(t); err != nil && StatusOf(err) != writer.StatusBlank { // later records are not asked yet
			r.stop(err)
			return false
		}
	}
	t.size = min(t.size, r.window.part) // so that the window admits the task without its reserve
	if r.window.acquire(r.soft, t.size, r.readAhead) != nil {
		return false
	}
	r.pending <- t // neither send blocks: each channel has room for all tasks in the window
	r.lookups <- t
	return true
}

// readAhead opens a part of the window's reserve, so that the run continues with later records. It does so only if the stage
// flatten waits for a task, the queue of the stage look up is empty, and the stage read waits for the window. Each of these
// stages calls readAhead when it begins to wait.
func (r *run) readAhead() {
	if r.window.isFull.Load() && len(r.lookups) == 0 && r.completion.awaited.Load() != nil {
		r.window.open()
	}
}

// window bounds the bytes of records between reading and writing. A small part is always open. It is enough while the writer
// or the lookups are busy, and leaves less memory to the garbage collector (15% of the time of a run over answered inputs). The
// reserve opens part by part while the writer is blocked by a record that waits for its retry, so that the run continues with
// later records: for a quarter of an hour at 300 requests a second. A record that waits only for a moment, such as for the
// processor, opens little of the reserve.
type window struct {
	sem     *semaphore.Weighted
	part    int64       // bytes that are always open, and bytes that each call of open opens
	reserve int64       // bytes
	isFull  atomic.Bool // the stage read waits

	mu     sync.Mutex
	opened int64 // open bytes of the reserve
}

// basePart is the size of the window divided by the part that is always open.
const basePart = 32

func newWindow(size int64) *window {
	part := max(1, size/basePart)
	w := &window{sem: semaphore.NewWeighted(size), part: part, reserve: size - part}
	w.sem.TryAcquire(w.reserve) // never fails: nothing is taken yet
	return w
}

// acquire waits until the window has room for size bytes, and calls full when it begins to wait. The error is that of ctx.
func (w *window) acquire(ctx context.Context, size int64, full func()) error {
	if w.sem.TryAcquire(size) {
		return nil
	}
	w.isFull.Store(true)
	defer w.isFull.Store(false)
	full()
	return w.sem.Acquire(ctx, size)
}

// open opens a part of the reserve.
func (w *window) open() {
	w.mu.Lock()
	defer w.mu.Unlock()
	part := min(w.part, w.reserve-w.opened)
	w.sem.Release(part)
	w.opened += part
}

// release gives bytes back. They first close the open part of the reserve.
func (w *window) release(size int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	closed := min(size, w.opened)
	w.opened -= closed
	w.sem.Release(size - closed)
}
