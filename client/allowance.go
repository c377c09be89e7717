package client

import (
	"context"
	"fmt"
	"math"
	"sync"
)

// Allowance bounds what a run may spend: a number of requests, and what must be left of
// the account. Neither is overstepped, whatever is in flight. A nil Allowance allows
// everything.
type Allowance struct {
	limits AllowanceLimits
	usage  func(context.Context) (Usage, error)

	mu       sync.Mutex
	made     int64
	inFlight int64
	left     int64         // requests that may be made before usage is asked again
	ended    chan struct{} // closed when a request has ended, and made anew
}

// AllowanceLimits are what an Allowance keeps to.
type AllowanceLimits struct {
	MaxRequests int64 // made by this run; 0 for no bound
	Reserve     int64 // of the account, to be left; negative for no bound
}

// SpentError says that the allowance is used up.
type SpentError struct {
	Limit string // the flag's name
	Value int64
	Err   error // why it is not known what is left; nil where it is
}

func (e *SpentError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("--%s %d cannot be kept to: the service does not say what is left: %v", e.Limit, e.Value, e.Err)
	}
	return fmt.Sprintf("--%s %d is reached", e.Limit, e.Value)
}

func (e *SpentError) Unwrap() error { return e.Err }

// NewAllowance gives nil where nothing is bounded.
func NewAllowance(limits AllowanceLimits, usage func(context.Context) (Usage, error)) *Allowance {
	if limits.MaxRequests <= 0 && limits.Reserve < 0 {
		return nil
	}
	a := &Allowance{limits: limits, usage: usage, ended: make(chan struct{})}
	if limits.Reserve < 0 {
		a.left = math.MaxInt64
	}
	return a
}

// Take takes one request, to be ended with Done. The error is a *SpentError or the
// context's.
//
// Every request may cost one until usage has been asked when none was in flight, for
// nobody promises when a request is charged, or whether.
func (a *Allowance) Take(ctx context.Context) error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for {
		spent := a.limits.MaxRequests > 0 && a.made >= a.limits.MaxRequests
		switch {
		case !spent && a.left > 0:
			a.made++
			a.inFlight++
			a.left--
			return nil
		case a.inFlight > 0: // may yet be returned, or turn out to cost nothing
			if err := a.awaitEnd(ctx); err != nil {
				return err
			}
		case spent:
			return &SpentError{Limit: "max-requests", Value: a.limits.MaxRequests}
		default:
			if err := a.ask(ctx); err != nil {
				return err
			}
		}
	}
}

// awaitEnd waits, with the lock released meanwhile, until a request ends.
func (a *Allowance) awaitEnd(ctx context.Context) error {
	ended := a.ended
	a.mu.Unlock()
	defer a.mu.Lock()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ask asks what is left, with the lock held: all others would wait for it anyway.
func (a *Allowance) ask(ctx context.Context) error {
	usage, err := a.usage(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return &SpentError{Limit: "reserve", Value: a.limits.Reserve, Err: err}
	}
	a.left = math.MaxInt64
	if left, isNumber := usage.Requests(); isNumber {
		a.left = left - a.limits.Reserve
	}
	if a.left <= 0 {
		return &SpentError{Limit: "reserve", Value: a.limits.Reserve}
	}
	return nil
}

// Return gives back what was taken for a request that was not made.
func (a *Allowance) Return() {
	if a == nil {
		return
	}
	a.mu.Lock()
	a.made--
	a.left++
	a.mu.Unlock()
	a.Done()
}

// Done ends a request.
func (a *Allowance) Done() {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inFlight--
	close(a.ended)
	a.ended = make(chan struct{})
}
