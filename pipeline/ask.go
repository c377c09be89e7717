package pipeline

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
)

// ask is one worker. Retries that are due come first: they are the oldest records, and
// the writer waits for the oldest.
func (r *run) ask() error {
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
		if r.soft.Err() != nil {
			return nil
		}
		if !attemptsLeft(t, r.options.Retry.MaxAttempts) {
			r.fail(t)
			continue
		}
		if err := r.attempt(t); err != nil {
			return err
		}
	}
}

// permit is what an attempt needs before it may be made, and gives back after.
type permit struct {
	turn  client.Turn
	probe bool // of a service that is out
}

// permit waits until an attempt may be made; false when the run stops meanwhile.
func (r *run) permit() (permit, bool) {
	if !r.takeAllowance() {
		return permit{}, false
	}
	for {
		if r.drought.wait(r.soft) != nil {
			break
		}
		probe, err := r.outage.admit(r.soft)
		if err != nil {
			break
		}
		turn, err := r.Pacer.Wait(r.soft)
		if err != nil {
			break
		}
		if probe || !r.outage.ongoing() && !r.drought.ongoing() {
			return permit{turn, probe}, true
		}
		turn.Cancel() // began while this one waited for its turn
	}
	r.Allowance.Return()
	return permit{}, false
}

// usageTries is how often the service is asked what is left before it counts as unwilling
// to say: over two minutes.
const usageTries = 8

// takeAllowance takes one request of what the run may spend; false when the run stops. What
// the account must keep in reserve may come back, where the run is to wait for that.
func (r *run) takeAllowance() bool {
	for tries := 1; ; tries++ {
		err := r.Allowance.Take(r.soft)
		var spent *client.SpentError
		switch {
		case err == nil:
			return true
		case !errors.As(err, &spent):
			return false
		case spent.Err != nil && client.ClassOf(spent.Err) == client.Transient && tries < usageTries:
			if sleep(r.soft, time.Second<<(tries-1)) != nil {
				return false
			}
			continue
		case r.WaitForQuota == nil || spent.Limit != "reserve":
			r.stop(&StopError{Cause: Budget, Err: spent})
			return false
		}
		r.dry(spent)
		if r.drought.wait(r.soft) != nil {
			return false
		}
	}
}

// sleep waits. The error is the context's.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// dry has all wait until the account has something again.
func (r *run) dry(reason error) {
	r.drought.begin(func() {
		r.Log.Warn("nothing is left of the account: waiting until there is", "error", reason)
	})
}

// attempt asks once and sends the task where the outcome says: to be committed, to
// wait for a retry, or to its end. A quota or service error stops the run and leaves
// the task unfinished.
func (r *run) attempt(t *task) error {
	p, ok := r.permit()
	if !ok {
		return nil
	}
	answer, err := r.exchange(t)
	p.turn.Done(answer, err)
	r.Allowance.Done()
	var e *client.Error
	switch {
	case err == nil:
		r.Counters.countAnswer(answer)
		r.succeeded(t)
		t.answer, t.err = answer, nil
		r.keep(t)
		return nil
	case errors.As(err, &e):
	case r.asks.Err() != nil:
		r.Counters.outcomes.add("canceled")
		return nil
	default:
		return fmt.Errorf("ask for %s: %w", t.request.Input, err)
	}
	r.Counters.countError(e)
	switch e.Class {
	case client.Rejected:
		r.succeeded(t)
		t.err, t.answer.AnsweredAt = e, time.Now().UTC().Truncate(time.Microsecond)
		r.keep(t)
		return nil
	case client.Transient:
		r.troubled(t, p, e)
		return nil
	case client.Quota:
		return r.outOfQuota(t, e)
	}
	return &ServiceError{Input: t.request.Input, Err: e}
}

func (r *run) exchange(t *task) (client.Answer, error) {
	r.Counters.Requests.Add(1)
	if t.attempts > 0 {
		r.Counters.Retries.Add(1)
	} else {
		r.budget.earn(retryShare)
	}
	t.attempts++
	t.verdict = false
	r.Counters.InFlight.Add(1)
	defer r.Counters.InFlight.Add(-1)
	return r.Categorizer.Categorize(r.asks, t.request)
}

// succeeded takes note of an answer, or of a rejection, which shows a sound service too.
func (r *run) succeeded(t *task) {
	r.outage.sound()
	if t.attempts > 1 {
		r.budget.earn(1)
	}
}

// keep sends an outcome to be committed, if it must last. It is paid for: whatever else
// has failed, it is given up only when nothing is committed any more.
func (r *run) keep(t *task) {
	if r.Store == nil || t.err == nil && t.answer.Free {
		r.land(t)
		r.leave()
		return
	}
	select {
	case r.commits <- t:
	case <-r.quiet:
	}
}

// troubled parks a task until its next attempt, or lets it fail after the last. Where
// the last attempts look like an outage, the verdict waits until that is clear.
func (r *run) troubled(t *task, p permit, e *client.Error) {
	if blamesService(e) {
		r.outage.failed(t, p.probe, e)
	} else {
		r.outage.sound()
	}
	t.err = e
	r.Log.Debug("attempt failed", "record", t.record.Number, "attempt", t.attempts, "error", e)
	wait, again := r.options.Retry.Next(t.attempts-int(t.forgiven.Load()), e)
	switch {
	case again:
		r.park(t, wait)
	case !t.verdict && r.outage.suspected():
		t.verdict = true
		r.park(t, verdictDelay)
	default:
		r.fail(t)
	}
}

func (r *run) park(t *task, wait time.Duration) {
	t.due = time.Now().Add(wait)
	select {
	case r.parking <- t:
		r.Counters.Parked.Add(1)
	case <-r.soft.Done():
	}
}

// fail ends a task after its last attempt.
func (r *run) fail(t *task) {
	t.err = &AttemptsError{Attempts: t.attempts - int(t.forgiven.Load()), Err: t.err}
	r.land(t)
	r.leave()
}

// outOfQuota stops the run, or has all wait for the account to be filled.
func (r *run) outOfQuota(t *task, e *client.Error) error {
	if r.WaitForQuota == nil {
		r.stop(&StopError{Cause: QuotaExhausted, Err: e})
		return nil
	}
	t.attempts--
	t.err = e
	r.dry(e)
	r.park(t, 0)
	return nil
}

// holdParked holds tasks until they are due. It always takes, so that no worker waits for it.
func (r *run) holdParked() error {
	var waiting parked
	paid := false // for the next retry, out of the budget
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var due chan<- *task
		var head *task
		if len(waiting) > 0 {
			head = waiting[0]
			wait := time.Until(head.due)
			if wait <= 0 && !paid && !isCalculating(head.err) {
				wait = r.budget.take(time.Now())
				paid = wait <= 0
			}
			if wait <= 0 {
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
			paid = false
			r.Counters.Parked.Add(-1)
		case <-timer.C:
		case <-r.settled:
			return nil
		case <-r.soft.Done():
			return nil
		}
	}
}

// isCalculating says whether the service was still at work: to ask again is what it wants,
// and no burden on one that fails.
func isCalculating(err error) bool {
	e, ok := errors.AsType[*client.Error](err)
	return ok && e.Status == http.StatusAccepted
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

// commitBatch and commitBytes of bodies bound what one fsync makes durable, and with it
// what a kill can lose and what waits in memory.
const (
	commitBatch = 1024
	commitBytes = 4 << 20
)

// commit makes outcomes durable, all that wait with one fsync, and only then lets
// their tasks be done.
func (r *run) commit() error {
	if r.Store == nil {
		<-r.commits // closed when the workers are gone
		return nil
	}
	batch := r.Store.NewBatch()
	group := make([]*task, 0, commitBatch)
	for t := range r.commits {
		group = append(group[:0], t)
		group = r.gather(group)
		for _, t := range group {
			if err := batch.Add(t.request, outcome(t), t.outdated); err != nil {
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
	bytes := len(group[0].answer.Body)
	for len(group) < cap(group) && bytes < commitBytes {
		select {
		case t, ok := <-r.commits:
			if !ok {
				return group
			}
			group = append(group, t)
			bytes += len(t.answer.Body)
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
