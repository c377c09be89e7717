package pipeline

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// task is one record on its way in one classification. The tasks of a record follow each
// other in the input order, in the order of the classifications, and so do their rows; all
// stages after the reader treat them like tasks of different records. Each field belongs to
// the stage that has the task in its hands; done hands it to the writer.
type task struct {
	record   reader.Record
	class    int // the place of its classification in Options.Classifications
	request  client.Request
	size     int64     // of the window
	digest   digest    // of the input up to the record, for a manifest
	attempts int       // made so far
	forgiven int       // of them, for they met an outage
	failed   time.Time // when the last attempt failed; zero once that is judged
	spent    bool      // no attempt is left if that failure counts
	due      time.Time // when the task may be asked again
	sent     time.Time // when the last attempt began
	known    bool      // no record: the request was answered before, and is repeated as a check

	answer   client.Answer
	recalled bool  // the outcome was stored by an earlier run
	pending  bool  // not asked, for the run is offline
	err      error // why there is none; of the last attempt, while there may be more
	done     atomic.Bool

	followers []*task // guarded by flights.mu
}

const (
	// taskOverhead is what a task takes beside its strings: itself, slice headers, and an
	// answer of a few entries.
	taskOverhead = 512
	fewEntries   = 4
	// textWeight is how much of the window one byte of text takes. Where texts are long, a row group
	// of Parquet has as many of them in memory as the window.
	textWeight = 2
	entrySize  = int64(unsafe.Sizeof(client.Entry{})) // its texts are shared
)

// tasks makes tasks, several with one allocation.
type tasks struct{ slab []task }

const slabTasks = 32

// next makes a task, whose answer will probably take so much beyond a few entries.
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

// release drops what a written task held: the tasks beside it in memory may live longer.
func (t *task) release() {
	t.record, t.request, t.answer, t.err = reader.Record{}, client.Request{}, client.Answer{}, nil
}

// result is what the task's rows are made from, but for entries and fields.
func (t *task) result(o *Options) writer.Result {
	r := writer.Result{
		Record: t.record.Number, Input: t.record.Input, Classification: o.Classifications[t.class].Name,
		Status: t.status(&o.Schema), Source: o.SourceName, AnsweredAt: t.answer.AnsweredAt,
	}
	if t.err != nil {
		r.Error = t.err.Error()
	}
	return r
}

// place is the file and line of the task's record.
func (t *task) place() string { return fmt.Sprintf("%s:%d", t.record.File, t.record.Line) }

// status is that of the task's rows.
func (t *task) status(s *writer.Schema) writer.Status {
	switch {
	case t.pending:
		return writer.StatusPending
	case t.err != nil:
		return statusOf(t.err)
	}
	for i := range t.answer.Entries {
		if s.Keeps(t.answer.Entries[i].Confidence) {
			return writer.StatusOK
		}
	}
	return writer.StatusEmpty
}

// statusOf is the status of a record that has no answer for a reason.
func statusOf(err error) writer.Status {
	var input *client.InputError
	var row *reader.RowError
	switch {
	case errors.As(err, &input), errors.As(err, &row):
		return writer.StatusInvalid
	case client.ClassOf(err) == client.Rejected:
		return writer.StatusRejected
	}
	return writer.StatusFailed
}

// flights joins equal requests: the first task leads and is asked, those that come
// while it is under way follow and share its answer.
type flights struct {
	mu     sync.Mutex
	leader map[client.Request]*task
}

// join makes t a follower of an equal request under way and says so, or its leader.
func (f *flights) join(t *task) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if leader, ok := f.leader[t.request]; ok {
		leader.followers = append(leader.followers, t)
		return true
	}
	f.leader[t.request] = t
	return false
}

// land ends a leader's flight and gives its followers.
func (f *flights) land(t *task) []*task {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.leader, t.request)
	followers := t.followers
	t.followers = nil
	return followers
}

// turn lets the writer sleep until the task whose turn it is is done, without a channel
// for each task.
type turn struct {
	awaited atomic.Pointer[task]
	wake    chan struct{} // of capacity 1
	waiting func()        // called when the writer has begun to wait
}

// finish marks a task done; nothing of it may be changed after.
func (w *turn) finish(t *task) {
	t.done.Store(true)
	if w.awaited.Load() == t {
		select {
		case w.wake <- struct{}{}:
		default:
		}
	}
}

// await waits until t is done. It gives up when nobody is left who could finish it
// (quiet is closed), or the run has failed, and says whether t is done.
func (w *turn) await(ctx context.Context, t *task, quiet <-chan struct{}) bool {
	if t.done.Load() {
		return true
	}
	w.awaited.Store(t)
	defer w.awaited.Store(nil)
	w.waiting()
	for !t.done.Load() {
		select {
		case <-w.wake: // maybe for an earlier task: look again
		case <-quiet:
			return t.done.Load()
		case <-ctx.Done():
			return false
		}
	}
	return true
}
