package ask

import (
	"context"
	"time"

	"github.com/bulkcat/bulkcat/client/limits"
)

// A Front has the requests that a [Dispatcher] sends, and the steps that differ between runs and gateways. The Dispatcher calls
// it from one goroutine, except for Report.
type Front[T Asked] interface {
	// Waiting returns which requests wait, beside the parked requests. It may take a while.
	Waiting() limits.Queue
	// Next takes the request for limits.SendFirst, SendRetry or SendKnown; false if no such request waits any more.
	Next(limits.Action) (T, bool)
	// Send begins an attempt, and does not wait for its end, which [Dispatcher.End] reports.
	Send(T, limits.Permit)
	// GiveUp ends a request whose attempts are used up.
	GiveUp(T)
	// AskQuota asks how much quota is left.
	AskQuota(context.Context) limits.Quota
	// Report acts on a change of the service.
	Report(limits.Effect)
}

// Dispatcher sends the requests of a [Front] as the limits allow. It also has the parked requests.
type Dispatcher[T Asked] struct {
	Parked[T]
	front  Front[T]
	limits *limits.Controller
	woken  chan struct{} // of capacity 1
}

// NewDispatcher returns a Dispatcher.
func NewDispatcher[T Asked](front Front[T], l *limits.Controller) *Dispatcher[T] {
	return &Dispatcher[T]{front: front, limits: l, woken: make(chan struct{}, 1)}
}

// Wake makes the Dispatcher decide again, now or at the beginning of its next wait.
func (d *Dispatcher[T]) Wake() {
	select {
	case d.woken <- struct{}{}:
	default:
	}
}

// Park is [Parked.Park], and wakes the Dispatcher.
func (d *Dispatcher[T]) Park(t T) {
	d.Parked.Park(t)
	d.Wake()
}

// End reports the end of an attempt to the limits.
func (d *Dispatcher[T]) End(permit limits.Permit, result limits.Result) {
	d.Report(d.limits.End(time.Now(), permit, result))
}

// Report acts on a change of the service: a wait may be over.
func (d *Dispatcher[T]) Report(change limits.Effect) {
	d.front.Report(change)
	if change.Wake {
		d.Wake()
	}
}

// Run sends requests until ctx ends. The error comes from the limits, which end the run: a *limits.SpentError or a
// *limits.OutageError.
func (d *Dispatcher[T]) Run(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for ctx.Err() == nil {
		queue := d.front.Waiting()
		now := time.Now() // read after Waiting, which may take a while: else the limits would take the request as sent too early
		failed, queue, due := d.Decide(now, d.limits, queue)
		for _, t := range failed {
			d.front.GiveUp(t)
		}
		switch next := d.limits.Next(now, queue); next.Action {
		case limits.SendFirst, limits.SendRetry, limits.SendKnown:
			if t, ok := d.front.Next(next.Action); ok {
				d.front.Send(t, next.Permit)
			} else {
				d.End(next.Permit, NotSent)
			}
		case limits.AskQuota:
			if quota := d.front.AskQuota(ctx); ctx.Err() == nil {
				d.Report(d.limits.ReportQuota(time.Now(), quota))
			}
		case limits.Stop:
			return next.Err
		default:
			timer.Stop()
			if wait := sooner(next.For, due.Sub(now)); wait > 0 {
				timer.Reset(wait)
			}
			select {
			case <-timer.C:
			case <-d.woken:
			case <-ctx.Done():
			}
		}
	}
	return nil
}

// sooner returns the shorter of two waits. A wait of 0 or less has no end.
func sooner(a, b time.Duration) time.Duration {
	if a <= 0 || b > 0 && b < a {
		return b
	}
	return a
}
