package flow

import (
	"fmt"
	"slices"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/internal/selection"
)

// lookupBatch is the maximum number of tasks that are looked up together. A lookup of a single task costs three times as much.
const lookupBatch = 256

// lookUp finishes tasks that need no request, and passes the other tasks to the stage claim in input order, so that after the
// end of a quota the answered records are at the beginning of the input.
func (r *run) lookUp() error {
	l := lookups{run: r}
	for l.gather() {
		if r.soft.Err() != nil {
			return nil
		}
		if err := l.resolve(); err != nil {
			return err
		}
		select {
		case <-l.earlier:
		case <-r.soft.Done():
			return nil
		}
		for _, t := range l.missed {
			r.open.Add(1)
			select {
			case r.work <- t:
			case <-r.soft.Done():
				return nil
			}
		}
		close(l.handedOn)
	}
	return nil
}

// lookupOrder keeps batches in input order. One worker at a time takes the channel inside and gathers a batch; the channel is
// closed when the batch before has been passed on.
type lookupOrder chan chan struct{}

func newLookupOrder() lookupOrder {
	none := make(chan struct{})
	close(none)
	order := make(lookupOrder, 1)
	order <- none
	return order
}

// lookups are tasks that are looked up together.
type lookups struct {
	run     *run
	tasks   []*task // from the stage read
	left    []*task // tasks whose request a further step of merge may change
	spelled []*task // tasks of left whose request the present step has changed
	firsts  []*task // tasks to be looked up: valid, and without an equal request that is being asked
	queries []answers.Query
	missed  []*task // to be asked

	earlier  <-chan struct{} // closed when the earlier batch has been passed on
	handedOn chan struct{}   // closed when this batch has been passed on
}

// gather waits for a task, and takes further tasks that are ready, so that no task waits for a batch to fill. It returns false
// at the end of the input.
func (l *lookups) gather() bool {
	l.earlier, l.handedOn = <-l.run.lookupOrder, make(chan struct{})
	defer func() { l.run.lookupOrder <- l.handedOn }()
	l.run.readAhead()
	first, ok := <-l.run.lookups
	if !ok {
		return false
	}
	l.tasks = append(l.tasks[:0], first)
	for len(l.tasks) < lookupBatch {
		select {
		case t, ok := <-l.run.lookups:
			if !ok {
				return true
			}
			l.tasks = append(l.tasks, t)
		default:
			return true
		}
	}
	return true
}

// resolve finishes tasks that are invalid or have a stored or free answer, and joins tasks to equal requests that are being
// asked. missed has the other tasks.
func (l *lookups) resolve() error {
	r := l.run
	records := len(l.tasks)
	l.tasks = slices.DeleteFunc(l.tasks, func(t *task) bool {
		if r.check(t) == nil {
			return false
		}
		r.finish(t)
		return true
	})
	if err := l.merge(); err != nil {
		return err
	}
	l.firsts, l.queries, l.missed = l.firsts[:0], l.queries[:0], l.missed[:0]
	for _, t := range l.tasks {
		if r.joins.join(t) {
			continue
		}
		l.firsts = append(l.firsts, t)
		l.queries = append(l.queries, answers.Query{Request: t.Request})
	}
	// The lookup follows the joins, so that a task that comes too late to join an equal task finds its stored answer.
	if err := r.Store.LookupAll(l.queries); err != nil {
		return err
	}
	for i, t := range l.firsts {
		switch q := &l.queries[i]; {
		case q.Found && !r.renews(t, q.Outcome):
			r.completeStored(t, q.Outcome, q.Outcome.AskedAt().Before(r.started))
		case !q.Found && r.completeFree(t):
		case r.options.Offline:
			t.pending = true
			r.complete(t)
		default:
			l.missed = append(l.missed, t)
		}
	}
	r.Counters.CountLookups(records, len(l.missed))
	return nil
}

// merge changes the requests of tasks in the steps of Dedupe: a task asks for its site, host or domain, unless the request of an
// earlier step has a stored outcome, which was charged. The run stores outcomes only under the last step. So the request of a
// task does not change during the run or when the run is started again, and does not depend on the order of records.
func (l *lookups) merge() error {
	l.left = append(l.left[:0], l.tasks...)
	for _, step := range selection.Merges(l.run.options.Requested, l.run.options.Kind) {
		l.spelled, l.queries = l.spelled[:0], l.queries[:0]
		for _, t := range l.left {
			if next := step(t.Request); next != t.Request {
				l.spelled = append(l.spelled, t)
				l.queries = append(l.queries, answers.Query{Request: t.Request})
				t.Request = next
			}
		}
		if err := l.run.Store.LookupAll(l.queries); err != nil {
			return err
		}
		i := 0
		l.left = slices.DeleteFunc(l.left, func(t *task) bool {
			if i == len(l.spelled) || l.spelled[i] != t {
				return false
			}
			q := &l.queries[i]
			i++
			if q.Stored {
				t.Request = q.Request
			}
			return q.Stored
		})
	}
	return nil
}

// check sets the request of a task. The error says why the task cannot be asked.
func (r *run) check(t *task) error {
	if t.err = t.record.Err; t.err != nil { // it has file and line already
		return t.err
	}
	if t.Request, t.err = r.options.request(t.record.Input, t.class); t.err != nil {
		t.err = fmt.Errorf("%s: %w", t.place(), t.err)
	}
	return t.err
}

// completeStored finishes a task with its stored outcome. recalled says that another run or process has stored the outcome.
func (r *run) completeStored(t *task, outcome answers.Outcome, recalled bool) {
	if recalled {
		r.Counters.FromStore.Add(1)
		t.recalled = true
	}
	t.answer = outcome.Answer
	if outcome.Rejection != nil {
		t.err = outcome.Rejection
	} else {
		r.standing.Recall(t.Request, t.answer)
	}
	r.complete(t)
}

// completeFree finishes a task without a request, if Options.Free answers it.
func (r *run) completeFree(t *task) (ok bool) {
	if r.options.Free == nil {
		return false
	}
	if t.answer, t.freeSource, ok = r.options.Free.Answer(t.Request); ok {
		r.complete(t)
	}
	return ok
}
