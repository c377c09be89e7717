package flow

import (
	"errors"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
	"github.com/bulkcat/bulkcat/writer"
)

// commitBounds bound a batch, and so the memory for outcomes that are not durable yet. A kill loses the answers of one delay and
// one fsync, and the requests in flight.
var commitBounds = ask.Bounds{Outcomes: 1024, Bytes: 4 << 20, Delay: 15 * time.Millisecond}

// slowCommit is the duration of a commit after which outcomes that wait for the next commit hold back requests: see awaitCommit.
// Commits take long when many processes commit. A kill then loses no more answers than with a fast commit.
const slowCommit = 50 * time.Millisecond

// committing is a commit that has begun.
type committing struct {
	began time.Time
	done  chan struct{} // closed at its end
}

// commit makes outcomes durable, and then completes their tasks.
func (r *run) commit() error {
	if r.Store == nil {
		<-r.commits // closed after the last attempt
		return nil
	}
	batch := r.Store.NewBatch()
	for group := range ask.Groups(r.commits, commitBounds) {
		for _, t := range group {
			batch.Add(t.Request, t.renewal.outcome(t))
		}
		r.countRenewals(batch, group)
		c := &committing{time.Now(), make(chan struct{})}
		r.committing.Store(c)
		err := r.Attempts.Sync()
		if err == nil {
			err = batch.Commit()
		}
		r.committing.Store(nil)
		close(c.done)
		if err != nil {
			return err
		}
		for _, t := range group {
			r.countOutcome(t)
			t.renewal = nil
			r.end(t)
		}
	}
	return nil
}

// countOutcome passes a durable outcome to Options.Free. Its error stops the run, but not the commits: the requests in flight
// may be charged. No output is published then, and Run returns the error unchanged.
func (r *run) countOutcome(t *task) {
	if r.options.Free == nil {
		return
	}
	if err := r.options.Free.Count(t.Request, outcome(t)); err != nil && r.failedAudit.CompareAndSwap(nil, &err) {
		r.stop(err)
	}
}

// BodySize returns the length of the body to store, in bytes.
func (t *task) BodySize() int { return len(t.answer.Body) }

// save sends a task to the stage commit, if its outcome is to be stored. The outcome may have been charged, so save drops it
// only after the end of the stage commit, whatever else has failed.
func (r *run) save(t *task) {
	if r.Store == nil || r.options.Unstored || t.err == nil && t.answer.Free {
		r.endUnstored(t)
		return
	}
	select {
	case r.commits <- t:
	case <-r.quiet:
	}
}

// awaitCommit waits for the end of a commit that takes longer than slowCommit, if as many outcomes wait for the next commit as
// requests may be in flight. With a lower number of outcomes, any slow disk would hold the run below its rate.
func (r *run) awaitCommit() {
	most := min(r.Limits.MostInFlight(), cap(r.commits))
	if c := r.committing.Load(); c != nil && len(r.commits) >= most && time.Since(c.began) > slowCommit {
		select {
		case <-c.done:
		case <-r.asked.Done():
		}
	}
}

// saveAll saves the rejections of several tasks. It first claims tasks without a claim, or whose claim has lapsed: another process
// may have an answer.
func (r *run) saveAll(tasks []*task) {
	var unclaimed []*task
	lapses, _ := r.Store.Lapses() // the store repeats its error
	for _, t := range tasks {
		if t.claim != 1+lapses && r.Store != nil {
			unclaimed = append(unclaimed, t)
		} else {
			r.save(t)
		}
	}
	rejected := make(map[*task]error, len(unclaimed))
	for _, t := range unclaimed {
		rejected[t], t.err = t.err, nil // without err, because the task may be asked again after another process
	}
	claimed, err := r.claimAll(unclaimed)
	if err != nil {
		claimed = unclaimed // the store has failed: the commit reports the error
	}
	for _, t := range claimed {
		t.err = rejected[t]
		r.save(t)
	}
}

// end completes an open task, which is not asked again.
func (r *run) end(t *task) {
	r.complete(t)
	r.taskEnded()
}

// complete finishes a task and the tasks that wait for the same request.
func (r *run) complete(t *task) {
	client.Release(&t.answer) // the body is stored or not needed
	if !t.Sent.IsZero() {
		r.Counters.Ended.Add(1)
		if t.err == nil || StatusOf(t.err) == writer.StatusRejected {
			r.Counters.WithOutcome.Add(1)
		}
	}
	t.keepStored()
	for _, f := range r.joins.end(t) {
		f.answer, f.err, f.pending, f.recalled, f.freeSource = t.answer, t.err, t.pending, t.recalled, t.freeSource
		r.finish(f)
	}
	r.finish(t)
}

// finish counts the outcome of a task's record, and passes the task to the stage flatten.
func (r *run) finish(t *task) {
	if t.freeSource != "" {
		r.Counters.Free.Add(1)
	}
	r.Counters.CountBasis(t.basis(&r.options), t.answer.Unread)
	status := t.status(&r.options.Schema)
	r.Counters.CountSettled(status, progress.Settled{Record: &t.record, Input: t.Request.Input, Err: t.err, Recalled: t.recalled})
	r.completion.finish(t)
}

// taskEnded counts down the open tasks. The dispatcher ends after the last open task.
func (r *run) taskEnded() {
	open := r.open.Add(-1)
	if open == 0 {
		r.Counters.Finishing.Store(true)
		r.allAsked()
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
