package pipeline

import (
	"container/heap"
	"context"
	"errors"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
)

// ask is one worker. Retries that are due come first: they are the oldest records, and
// the writer waits for the oldest.
func (r *run) ask(hard context.Context) error {
	for {
		var t *task
		select {
		case t = <-r.retries:
		default:
			select {
			case t = <-r.retries:
			case t = <-r.work:
			case <-r.settled:
				return nil
			case <-r.soft.Done():
				return nil
			}
		}
		if r.soft.Err() != nil || !r.pace() {
			return nil
		}
		if err := r.attempt(hard, t); err != nil {
			return err
		}
	}
}

// pace waits for a token, and says false when the run stops meanwhile: a stopped run
// makes no new request, however long the workers have waited for one.
func (r *run) pace() bool {
	return r.Limiter == nil || r.Limiter.Wait(r.soft) == nil
}

// attempt asks once and sends the task where the outcome says: to be committed, to
// wait for a retry, or to its end. A quota or service error stops the run and leaves
// the task unfinished.
func (r *run) attempt(hard context.Context, t *task) error {
	answer, err := r.exchange(t)
	var e *client.Error
	switch {
	case err == nil:
		t.answer = answer
		return r.keep(hard, t)
	case !errors.As(err, &e): // the run's own context
		return nil
	}
	switch e.Class {
	case client.Rejected:
		t.err, t.answer.AnsweredAt = e, time.Now()
		return r.keep(hard, t)
	case client.Transient:
		return r.retry(t, e)
	case client.Quota:
		r.stop(&StopError{Cause: QuotaExhausted, Err: e})
		return nil
	}
	return &ServiceError{Input: t.request.Input, Err: e}
}

func (r *run) exchange(t *task) (client.Answer, error) {
	r.Counters.Requests.Add(1)
	if t.attempts > 0 {
		r.Counters.Retries.Add(1)
	}
	t.attempts++
	r.Counters.InFlight.Add(1)
	defer r.Counters.InFlight.Add(-1)
	return r.Categorizer.Categorize(r.asks, t.request)
}

// keep sends an outcome to be committed, if it must last.
func (r *run) keep(hard context.Context, t *task) error {
	if r.Store == nil || t.err == nil && t.answer.Free {
		r.land(t)
		r.leave()
		return nil
	}
	select {
	case r.commits <- t:
	case <-hard.Done():
	}
	return nil
}

// retry parks a task until its next attempt, or lets it fail after the last.
func (r *run) retry(t *task, e *client.Error) error {
	wait, again := r.options.Retry.Next(t.attempts, e)
	if !again {
		t.err = &AttemptsError{Attempts: t.attempts, Err: e}
		r.land(t)
		r.leave()
		return nil
	}
	t.due = time.Now().Add(wait)
	select {
	case r.parking <- t:
		r.Counters.Parked.Add(1)
	case <-r.soft.Done():
	}
	return nil
}

// park holds tasks until they are due. It always takes, so that no worker waits for it.
func (r *run) park() error {
	var waiting parked
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var due chan<- *task
		var head *task
		if len(waiting) > 0 {
			head = waiting[0]
			if wait := time.Until(head.due); wait <= 0 {
				due = r.retries
			} else {
				timer.Reset(wait)
			}
		}
		select {
		case t := <-r.parking:
			heap.Push(&waiting, t)
		case due <- head:
			heap.Pop(&waiting)
			r.Counters.Parked.Add(-1)
		case <-timer.C:
		case <-r.settled:
			return nil
		case <-r.soft.Done():
			return nil
		}
	}
}

// parked is a heap of tasks, the next due first.
type parked []*task

func (p parked) Len() int           { return len(p) }
func (p parked) Less(i, j int) bool { return p[i].due.Before(p[j].due) }
func (p parked) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *parked) Push(t any)        { *p = append(*p, t.(*task)) }
func (p *parked) Pop() any {
	last := len(*p) - 1
	t := (*p)[last]
	(*p)[last] = nil
	*p = (*p)[:last]
	return t
}

// commitBatch bounds what one fsync makes durable, and with it what a kill can lose.
const commitBatch = 1024

// commit makes outcomes durable, all that wait with one fsync, and only then lets
// their tasks be done.
func (r *run) commit() error {
	if r.Store == nil {
		<-r.commits // closed when the workers are gone
		return nil
	}
	batch := r.Store.NewBatch()
	defer batch.Close()
	group := make([]*task, 0, commitBatch)
	for t := range r.commits {
		group = append(group[:0], t)
		group = r.gather(group)
		for _, t := range group {
			if err := batch.Add(t.request, outcome(t)); err != nil {
				return err
			}
		}
		if err := batch.Commit(); err != nil {
			return err
		}
		for _, t := range group {
			r.land(t)
			r.leave()
		}
	}
	return nil
}

// gather adds the outcomes that wait already.
func (r *run) gather(group []*task) []*task {
	for len(group) < cap(group) {
		select {
		case t, ok := <-r.commits:
			if !ok {
				return group
			}
			group = append(group, t)
		default:
			return group
		}
	}
	return group
}

func outcome(t *task) answers.Outcome {
	o := answers.Outcome{Answer: t.answer}
	if e, ok := errors.AsType[*client.Error](t.err); ok {
		o.Rejection = e
	}
	return o
}
