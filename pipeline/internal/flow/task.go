package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// task is one record in one classification. The tasks of a record, and their rows, are in the order of the classifications. All
// stages after read treat them like tasks of different records. Only the stage that holds a task uses its fields; after done is
// true, the stage flatten holds it.
type task struct {
	record reader.Record
	class  int           // index in Options.Classifications
	size   int64         // bytes of the window
	digest output.Digest // of the input up to the record, for a manifest
	known  bool          // a repeated request that was answered before, without a record: see recheck

	ask.Attempts // of the request

	claim int64 // 1 plus Store.Lapses when the request was claimed; 0 without a claim
	held  bool  // another process had the claim

	renewal  *renewal // until the new outcome is stored; nil for other tasks
	answer   client.Answer
	recalled bool  // the outcome was stored by an earlier run
	pending  bool  // not asked, because the run is offline
	err      error // why there is no answer
	done     atomic.Bool

	freeSource string // the source of a free answer; "" for other answers

	duplicates []*task // with an equal request; guarded by joins.mu
}

const (
	// taskOverhead is the size of a task in bytes without its strings: the struct, slice headers, and an answer of fewEntries
	// entries.
	taskOverhead = 512
	fewEntries   = 4
	// textWeight is how many bytes of the window one byte of text takes: a row group of Parquet may hold as much long text as
	// the window.
	textWeight = 2
	entrySize  = int64(unsafe.Sizeof(client.Entry{})) // in bytes, without texts, which entries share
)

// tasks allocates tasks in slabs.
type tasks struct{ slab []task }

const slabTasks = 32

// next returns a new task. answerSize is the expected size of the entries of its answer beyond fewEntries, in bytes.
func (s *tasks) next(record reader.Record, answerSize int64) *task {
	if len(s.slab) == 0 {
		s.slab = make([]task, slabTasks)
	}
	t := &s.slab[0]
	s.slab = s.slab[1:]
	t.record = record
	t.size = int64(taskOverhead+textWeight*len(record.Input)) + answerSize
	for _, field := range record.Fields {
		t.size += textWeight*int64(len(field)) + 16
	}
	return t
}

// release drops the contents of a written task, because other tasks keep its slab in memory. It leaves the rest of Attempts, which
// the queue of parked tasks may still read.
func (t *task) release() {
	t.record, t.Request, t.Last, t.answer, t.err = reader.Record{}, client.Request{}, nil, client.Answer{}, nil
}

// result returns the data of the task's rows, without entries and fields.
func (t *task) result(o *Options) writer.Result {
	r := writer.Result{
		Record: t.record.Number, Input: t.record.Input, Classification: o.Classifications[t.class].Name,
		Status: t.status(&o.Schema), Source: cmp.Or(t.freeSource, o.SourceName), Basis: string(t.basis(o)), AnsweredAt: t.answer.AnsweredAt,
	}
	if t.err != nil {
		r.Error = t.err.Error()
	}
	return r
}

// basis returns the basis of the answer; "" without an answer.
func (t *task) basis(o *Options) client.Basis {
	switch {
	case t.err != nil || t.pending:
		return ""
	case t.freeSource != "":
		return client.BasisModel
	}
	return cmp.Or(t.answer.Basis, o.Basis)
}

// place returns the file and line of the task's record.
func (t *task) place() string { return fmt.Sprintf("%s:%d", t.record.File, t.record.Line) }

// status returns the status of the task's rows.
func (t *task) status(s *writer.Schema) writer.Status {
	switch {
	case t.pending:
		return writer.StatusPending
	case t.err != nil:
		return StatusOf(t.err)
	}
	for i := range t.answer.Entries {
		if s.Keeps(t.answer.Entries[i].Confidence) {
			return writer.StatusOK
		}
	}
	return writer.StatusEmpty
}

// StatusOf returns the status of a record that has no answer because of err.
func StatusOf(err error) writer.Status {
	var input *normalize.InputError
	var row *reader.RowError
	switch {
	case errors.As(err, &input) && input.IsBlank():
		return writer.StatusBlank
	case errors.As(err, &input), errors.As(err, &row):
		return writer.StatusInvalid
	case client.ClassOf(err) == client.Rejected:
		return writer.StatusRejected
	}
	return writer.StatusFailed
}

// joins joins equal requests: the first task is asked, and later tasks wait for its outcome.
type joins struct {
	mu    sync.Mutex
	asked map[client.Request]*task
}

// join makes t wait for a task with an equal request, and reports whether there is such a task. If not, later tasks wait for t.
func (j *joins) join(t *task) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if first, ok := j.asked[t.Request]; ok {
		first.duplicates = append(first.duplicates, t)
		return true
	}
	j.asked[t.Request] = t
	return false
}

// end returns the tasks that wait for t; later tasks do not join t.
func (j *joins) end(t *task) []*task {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.asked, t.Request)
	duplicates := t.duplicates
	t.duplicates = nil
	return duplicates
}

// completion lets the stage flatten wait until the next task in input order is done, without a channel for each task.
type completion struct {
	awaited atomic.Pointer[task]
	wake    chan struct{} // of capacity 1
	waiting func()        // called when the stage flatten begins to wait
}

// finish marks a task as done. The caller must not use the task after that.
func (c *completion) finish(t *task) {
	t.done.Store(true)
	if c.awaited.Load() == t {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// await waits until t is done, and reports whether t is done. It also returns when no stage is left that could finish t (quiet is
// closed), or when the run has failed (ctx is done).
func (c *completion) await(ctx context.Context, t *task, quiet <-chan struct{}) bool {
	if t.done.Load() {
		return true
	}
	c.awaited.Store(t)
	defer c.awaited.Store(nil)
	c.waiting()
	for !t.done.Load() {
		select {
		case <-c.wake: // perhaps for an earlier task
		case <-quiet:
			return t.done.Load()
		case <-ctx.Done():
			return false
		}
	}
	return true
}
