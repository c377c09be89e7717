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

// task is one record in one classification. The tasks of a record follow each other in the order of the
// classifications, and so do their rows; all stages after the reader treat them like tasks of different
// records. Only the stage that holds the task uses its fields; done hands the task to the writer.
type task struct {
	record reader.Record
	class  int           // index in Options.Classifications
	size   int64         // bytes of the window
	digest output.Digest // of the input up to the record, for a manifest
	known  bool          // there is no record: the request was answered before, and is repeated as a check

	ask.Attempts // of the request

	seen  int64 // the state of the store at the last lookup: see answers.Query
	claim int64 // 1 plus the lapses of the store when the request was claimed; 0 without a claim
	held  bool  // another process had the claim

	renewal  *renewal // of a stored answer, until the new outcome is stored; nil for other tasks
	answer   client.Answer
	recalled bool  // the outcome was stored by an earlier run
	pending  bool  // not asked, because the run is offline
	err      error // why there is no answer
	done     atomic.Bool

	freeSource string // of an answer for nothing; "" for other answers

	duplicates []*task // with an equal request; guarded by joins.mu
}

const (
	// taskOverhead is the bytes of a task without its strings: the struct, slice headers, and an
	// answer of a few entries.
	taskOverhead = 512
	fewEntries   = 4
	// textWeight is how many bytes of the window one byte of text takes. When texts are long, a row
	// group of Parquet holds as many of them as the window.
	textWeight = 2
	entrySize  = int64(unsafe.Sizeof(client.Entry{})) // without its texts, which are shared
)

// tasks makes tasks, several with one allocation.
type tasks struct{ slab []task }

const slabTasks = 32

// next makes a task. Its answer is expected to take answerSize bytes beyond a few entries.
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

// release drops the contents of a written task: other tasks of the same slab may live longer. The parked tasks may still look
// at the rest of Attempts.
func (t *task) release() {
	t.record, t.Request, t.Last, t.answer, t.err = reader.Record{}, client.Request{}, nil, client.Answer{}, nil
}

// result is the source of the task's rows, without entries and fields.
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

// basis is what the answer rests on; "" without an answer.
func (t *task) basis(o *Options) client.Basis {
	switch {
	case t.err != nil || t.pending:
		return ""
	case t.freeSource != "":
		return client.BasisModel
	}
	return cmp.Or(t.answer.Basis, o.Basis)
}

// place is the file and line of the task's record.
func (t *task) place() string { return fmt.Sprintf("%s:%d", t.record.File, t.record.Line) }

// status is that of the task's rows.
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

// joins joins equal requests: the first task is asked, and the tasks that come meanwhile wait for its
// answer.
type joins struct {
	mu    sync.Mutex
	asked map[client.Request]*task
}

// join has t wait for the task with an equal request, and reports whether there is one; if not, others wait for t.
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

// completion lets the writer sleep until the next task in input order is done, without a channel for
// each task.
type completion struct {
	awaited atomic.Pointer[task]
	wake    chan struct{} // of capacity 1
	waiting func()        // called when the writer has begun to wait
}

// finish says that a task is done. The task may not be changed after that.
func (c *completion) finish(t *task) {
	t.done.Store(true)
	if c.awaited.Load() == t {
		select {
		case c.wake <- struct{}{}:
		default:
		}
	}
}

// await waits until t is done, and reports whether t is. The wait ends without t when no stage is left that
// could finish t (quiet is closed), or when the run has failed.
func (c *completion) await(ctx context.Context, t *task, quiet <-chan struct{}) bool {
	if t.done.Load() {
		return true
	}
	c.awaited.Store(t)
	defer c.awaited.Store(nil)
	c.waiting()
	for !t.done.Load() {
		select {
		case <-c.wake: // perhaps for an earlier task: look again
		case <-quiet:
			return t.done.Load()
		case <-ctx.Done():
			return false
		}
	}
	return true
}
