package pipeline

import (
	"errors"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/progress"
)

const (
	// commitBatch outcomes and commitBytes of bodies bound the size of a batch, and so the memory for
	// outcomes that are not durable yet.
	commitBatch = 1024
	commitBytes = 4 << 20

	// commitDelay is how long the first outcome of a batch waits for others, so that one fsync
	// carries more. A kill loses the answers of that time, of one fsync, and the requests in
	// flight.
	commitDelay = 15 * time.Millisecond
)

// commit makes outcomes durable, many with one fsync, and then completes their tasks.
func (r *run) commit() error {
	if r.Store == nil {
		<-r.commits // closed when the workers are gone
		return nil
	}
	batch := r.Store.NewBatch()
	group := make([]*task, 0, commitBatch)
	timer := time.NewTimer(commitDelay)
	defer timer.Stop()
	for t := range r.commits {
		timer.Reset(commitDelay)
		group = r.gather(append(group[:0], t), timer.C)
		for _, t := range group {
			batch.Add(t.request, t.renewal.outcome(t))
		}
		r.countRenewals(batch, group)
		if err := batch.Commit(); err != nil {
			return err
		}
		for _, t := range group {
			t.renewal = nil
			r.complete(t)
			r.taskEnded()
		}
	}
	return nil
}

// gather adds the outcomes that come in until the time is over or the batch is full.
func (r *run) gather(group []*task, over <-chan time.Time) []*task {
	bytes := len(group[0].answer.Body)
	for len(group) < cap(group) && bytes < commitBytes {
		select {
		case t, ok := <-r.commits:
			if !ok {
				return group
			}
			group = append(group, t)
			bytes += len(t.answer.Body)
		case <-over:
			return group
		}
	}
	return group
}

// save sends an outcome to be committed, if it is to be stored. The outcome may have been charged, so
// whatever else has failed, the outcome is given up only when nothing is committed any more.
func (r *run) save(t *task) {
	if r.Store == nil || t.err == nil && t.answer.Free {
		r.complete(t)
		r.taskEnded()
		return
	}
	select {
	case r.commits <- t:
	case <-r.quiet:
	}
}

// complete finishes a task and the tasks that wait for the same request.
func (r *run) complete(t *task) {
	t.answer.Release() // the body is stored, or of no further use
	t.keepStored()
	if !t.sent.IsZero() {
		r.Counters.Ended.Add(1)
	}
	for _, f := range r.flights.end(t) {
		f.answer, f.err, f.pending, f.recalled = t.answer, t.err, t.pending, t.recalled
		r.finish(f)
	}
	r.finish(t)
}

// finish counts the outcome of a task's record, and hands the task to the writer.
func (r *run) finish(t *task) {
	r.Counters.CountSettled(t.status(&r.options.Schema), progress.Settled{Record: &t.record, Input: t.request.Input, Err: t.err, Recalled: t.recalled})
	r.completion.finish(t)
}

// taskEnded counts a task that needs no worker any more. After the last the workers end.
func (r *run) taskEnded() {
	open := r.open.Add(-1)
	if open == 0 {
		r.Counters.Finishing.Store(true)
		close(r.settled)
	}
	r.wakeAtLast(open)
}

func outcome(t *task) answers.Outcome {
	o := answers.Outcome{Answer: t.answer}
	if e, ok := errors.AsType[*client.Error](t.err); ok {
		o.Rejection = e
	}
	return o
}
