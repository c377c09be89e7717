package pipeline

import (
	"slices"

	"github.com/bulkcat/bulkcat/client/answers"
)

// lookupBatch bounds how many tasks are looked up together. One by one a lookup costs
// three times as much (BenchmarkLookup in client/answers).
const lookupBatch = 256

// lookUp finishes tasks that need no request and hands on the others, in input order: what
// a run has answered when its quota ends is the beginning of the input.
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
		case <-l.before:
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

// gathering is held by the one who gathers a batch of tasks. In it lies what is closed when
// the batch before has been handed on.
type gathering chan chan struct{}

func newGathering() gathering {
	none := make(chan struct{})
	close(none)
	g := make(gathering, 1)
	g <- none
	return g
}

// lookups are tasks that are looked up together.
type lookups struct {
	run     *run
	tasks   []*task // taken from the reader
	spelled []*task // of them, not as their sites are
	led     []*task // of them, to be looked up: valid, and no equal one is under way
	queries []answers.Query
	missed  []*task // to be asked

	before   <-chan struct{} // closed when the tasks before these have been handed on
	handedOn chan struct{}
}

// gather waits for a task and takes what has come in beside it, so that nothing waits
// for a batch to fill. It says whether there is anything left.
func (l *lookups) gather() bool {
	l.before, l.handedOn = <-l.run.gathering, make(chan struct{})
	defer func() { l.run.gathering <- l.handedOn }()
	l.run.lend()
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

// resolve finishes the tasks that are invalid or stored, and lets those follow that have
// an equal one under way; what is left has missed.
func (l *lookups) resolve() error {
	r := l.run
	l.tasks = slices.DeleteFunc(l.tasks, func(t *task) bool {
		if r.check(t) == nil {
			return false
		}
		r.finish(t)
		return true
	})
	if err := l.toSites(); err != nil {
		return err
	}
	l.led, l.queries, l.missed = l.led[:0], l.queries[:0], l.missed[:0]
	for _, t := range l.tasks {
		if r.flights.join(t) {
			r.Counters.Deduped.Add(1)
			continue
		}
		l.led = append(l.led, t)
		l.queries = append(l.queries, answers.Query{Request: t.request})
	}
	// After the joins: a task that joins after an equal task has landed finds the answer.
	if err := r.lookUpAll(l.queries); err != nil {
		return err
	}
	for i, t := range l.led {
		if q := &l.queries[i]; q.Found {
			r.landStored(t, q.Outcome)
		} else if r.miss(t) {
			l.missed = append(l.missed, t)
		}
	}
	return nil
}

// toSites has tasks ask for their sites, where the run is to, except for tasks whose own
// spelling has a stored outcome, which was paid for. A run by sites stores no spelling's first
// outcome but under its site. So the choice stays the same during the run and when it is
// started again, and does not depend on the order of records.
func (l *lookups) toSites() error {
	if !l.run.options.BySite {
		return nil
	}
	l.spelled, l.queries = l.spelled[:0], l.queries[:0]
	for _, t := range l.tasks {
		if site := l.run.options.Normalizer.Site(t.request); site != t.request {
			l.spelled = append(l.spelled, t)
			l.queries = append(l.queries, answers.Query{Request: t.request})
			t.request = site
		}
	}
	if err := l.run.lookUpAll(l.queries); err != nil {
		return err
	}
	for i, t := range l.spelled {
		if q := &l.queries[i]; q.Stored {
			t.request = q.Request
		}
	}
	return nil
}

// lookUpAll finds nothing where there is no store.
func (p *Parts) lookUpAll(queries []answers.Query) error {
	if p.Store == nil {
		return nil
	}
	return p.Store.LookupAll(queries)
}

// check says why a task cannot be asked; nil if it can.
func (r *run) check(t *task) error {
	if t.err = t.record.Err; t.err == nil {
		t.request, t.err = r.options.request(t.record.Input, t.class)
	}
	if t.err != nil {
		t.err = invalidAt(t)
	}
	return t.err
}

// landStored finishes a task with its stored outcome.
func (r *run) landStored(t *task, outcome answers.Outcome) {
	if outcome.Answer.AnsweredAt.Before(r.started) {
		r.Counters.FromStore.Add(1)
		t.recalled = true
	} else {
		r.Counters.Deduped.Add(1)
	}
	t.answer = outcome.Answer
	if outcome.Rejection != nil {
		t.err = outcome.Rejection
	} else {
		r.refusals.learn(t.request)
	}
	r.land(t)
}

// miss says whether a task without a stored answer is to be asked; offline it is
// finished as it is.
func (r *run) miss(t *task) bool {
	if !r.options.Offline {
		return true
	}
	t.pending = true
	r.land(t)
	return false
}
