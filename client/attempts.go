package client

import (
	"context"
	"time"
)

// attempts gives each attempt a context that ends after the time it may take.
//
// Nearly all attempts end sooner, and then their context serves the next: what a new one
// costs, with its timer and what net/http hangs on to it, is a tenth of an exchange.
type attempts struct {
	timeout time.Duration
	idle    chan *attempt
}

// attempt is a context, and what ends it.
type attempt struct {
	context.Context
	parent context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// timedOut says whether the attempt has taken longer than it may.
func (t *attempt) timedOut() bool { return context.Cause(t.Context) == errTimeout }

func newAttempts(timeout time.Duration, most int) attempts {
	return attempts{timeout: timeout, idle: make(chan *attempt, most)}
}

// begin starts the clock. The caller ends the attempt with end.
func (a *attempts) begin(parent context.Context) *attempt {
	select {
	case t := <-a.idle:
		if t.parent == parent {
			t.timer.Reset(a.timeout)
			return t
		}
		t.cancel(nil) // of another run
	default:
	}
	t := &attempt{parent: parent}
	t.Context, t.cancel = context.WithCancelCause(parent)
	t.timer = time.AfterFunc(a.timeout, func() { t.cancel(errTimeout) })
	return t
}

// end stops the clock. Only what net/http has done with for sure may serve again: that of
// an exchange which was whole.
func (a *attempts) end(t *attempt, whole bool) {
	if t.timer.Stop() && whole {
		select {
		case a.idle <- t:
			return
		default:
		}
	}
	t.cancel(nil)
}

// close ends what is kept for the next.
func (a *attempts) close() {
	for {
		select {
		case t := <-a.idle:
			t.cancel(nil)
		default:
			return
		}
	}
}
