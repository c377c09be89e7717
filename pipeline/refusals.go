package pipeline

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
)

// refusals holds refused tasks back until their refusals are known to be about the inputs. A
// service that is asked under a wrong name, or a proxy that loses its way, refuses every input in
// the same words.
//
// A refusal is about the input if a request that was sent later is answered. After a long series
// of one refusal, a request that was answered before is repeated. If the service refuses that as
// well, the service is out, and the tasks are asked again when it is back; in a run that has got
// no answer, the settings are wrong, and the run ends.
type refusals struct {
	known    atomic.Pointer[client.Request] // was answered before, in this run or an earlier run
	answered atomic.Bool                    // the service has answered in this run
	odd      atomic.Int64                   // responses that fit no service, before the first answer
	count    atomic.Int64                   // of held

	mu     sync.Mutex
	held   []*task
	kind   string // of the series: how the requests ended
	series int    // refusals of one kind in a row
	check  int    // the length of the series at which the service is checked next
	misled bool   // the repeated request was refused as well
}

const (
	firstSeries = 20   // refusals in a row are no chance
	mostSeries  = 1000 // refusals more, at most, before the next check
	mostOdd     = 3    // odd responses and no answer: more attempts will not help
)

// MisconfiguredError says that the service has refused every input in the same way, and has
// answered none. No record is to blame, so none was rejected; the run ended.
type MisconfiguredError struct {
	Refused int // inputs
	Err     *client.Error
}

func (e *MisconfiguredError) Error() string {
	return fmt.Sprintf("the service refuses every input (%d of %d): %v", e.Refused, e.Refused, e.Err)
}

func (e *MisconfiguredError) Unwrap() error { return e.Err }

// learn takes note of a request that was answered.
func (f *refusals) learn(request client.Request) {
	if f.known.Load() == nil {
		f.known.CompareAndSwap(nil, &request)
	}
}

// hold keeps a refused task back, and has the service checked after a long series.
func (r *run) hold(t *task, e *client.Error) error {
	f := &r.refusals
	series, long := f.add(t, e.Outcome())
	switch {
	case r.options.KeepGoing:
		if long {
			r.Log.Warn("the service refuses one input after the other", "series", series, "last", t.place(), "error", e)
		}
		r.confirm(time.Now())
	case !long:
		r.signalLast(r.open.Load())
	case f.known.Load() == nil:
		return &MisconfiguredError{Refused: series, Err: e}
	default:
		r.trouble.Store(e)
		r.Limits.Suspect(time.Now())
		r.crew.signal()
	}
	return nil
}

// add says how long the series is with the task, and whether it is long enough for a check.
func (f *refusals) add(t *task, kind string) (series int, long bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if kind != f.kind {
		f.kind, f.series = kind, 0
	}
	f.series++
	f.held = append(f.held, t)
	f.count.Add(1)
	if f.series < max(f.check, firstSeries) {
		return f.series, false
	}
	f.check = f.series + min(f.series, mostSeries)
	return f.series, true
}

// take gives the held tasks that were asked by a time, and keeps the others.
func (f *refusals) take(by time.Time) (taken []*task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	kept := f.held[:0:0]
	for _, t := range f.held {
		if !t.sent.After(by) {
			taken = append(taken, t)
		} else {
			kept = append(kept, t)
		}
	}
	f.held = kept
	f.count.Store(int64(len(kept)))
	return taken
}

// confirm lets the refusals last whose requests were sent by a time.
func (r *run) confirm(by time.Time) {
	for _, t := range r.refusals.take(by) {
		r.keep(t)
	}
}

// trust takes note of an answer: what was refused before the request was sent is about the inputs.
func (r *run) trust(t *task) {
	f := &r.refusals
	f.answered.Store(true)
	f.learn(t.request)
	f.mu.Lock()
	f.kind, f.series = "", 0
	f.mu.Unlock()
	if f.count.Load() > 0 {
		r.confirm(t.sent)
	}
}

// tolerate takes an odd response, which no service of this kind gives, for a failed attempt. A run
// that gets no answer but several of these ends.
func (r *run) tolerate(err error) error {
	e, ok := errors.AsType[*client.Error](err)
	f := &r.refusals
	if !ok || e.Class != client.Fatal || !f.answered.Load() && f.odd.Add(1) >= mostOdd {
		return err
	}
	passing := *e
	passing.Class = client.Transient
	return &passing
}

// recheck repeats a request that was answered before. If the service refuses it, the refusals
// since are not about the inputs.
func (r *run) recheck(t *task, permit limits.Permit) error {
	r.Counters.Rechecks.Add(1)
	answer, err := r.exchange(t)
	err = r.tolerate(err)
	result := resultOf(answer, err)
	e, failed := errors.AsType[*client.Error](err)
	refused := failed && e.Class == client.Rejected
	if refused {
		result.Outcome = limits.Failed
		r.refusals.mislead()
	}
	switch {
	case failed:
		r.Counters.countError(e)
		r.trouble.Store(e)
	case err == nil:
		r.Counters.countAnswer(answer)
		answer.Release()
		r.checked() // before anything else is sent
	}
	r.report(r.Limits.End(time.Now(), permit, result))
	switch {
	case err == nil:
	case !failed:
		r.Counters.outcomes.add("canceled")
	case refused && !r.refusals.answered.Load():
		return &MisconfiguredError{Refused: int(r.refusals.count.Load()), Err: e}
	case e.Class == client.Quota:
		r.waitForQuota(e)
	case e.Class == client.Auth || e.Class == client.Fatal:
		return &ServiceError{Input: t.request.Input, Err: e}
	}
	return nil
}

func (f *refusals) mislead() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.misled = true
}

// checked acts on a repeated request that was answered.
func (r *run) checked() {
	f := &r.refusals
	f.mu.Lock()
	misled, series := f.misled, f.series
	f.misled = false
	f.mu.Unlock()
	if !misled {
		r.Log.Warn("the service refuses one input after the other, and still answers an input that it answered before", "series", series, "error", r.trouble.Load())
		r.confirm(time.Now())
		return
	}
	for _, t := range f.take(time.Now()) {
		t.err = nil
		t.attempts--
		r.park(t, 0)
	}
}

// signalLast has the leader look at the held tasks if no other task is open.
func (r *run) signalLast(open int64) {
	if n := r.refusals.count.Load(); n > 0 && n == open {
		r.crew.signal()
	}
}

// endSeries decides about held tasks when no other task is open, so that no answer can follow:
// their refusals last, after a check where they are many. Without any answer they are the rows'
// status, but are not stored: the settings may be wrong.
func (r *run) endSeries() {
	f := &r.refusals
	switch n := f.count.Load(); {
	case n == 0 || n != r.open.Load():
	case !f.answered.Load():
		for _, t := range f.take(time.Now()) {
			r.land(t)
			r.leave()
		}
	case n < firstSeries:
		r.confirm(time.Now())
	default:
		r.Limits.Suspect(time.Now())
	}
}
