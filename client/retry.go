package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// RetryPolicy decides whether and when another attempt follows a failed one. The zero value allows none;
// see DefaultRetryPolicy.
type RetryPolicy struct {
	MaxAttempts int                               // most attempts for a request, the first included
	MaxRefusals int                               // most refusals of a request that are not counted as attempts
	Base        time.Duration                     // bound of the first random wait
	Cap         time.Duration                     // the bound doubles with each attempt, up to Cap
	MaxWait     time.Duration                     // longest wait that a service can ask for
	Jitter      func(time.Duration) time.Duration // picks a wait below a bound; nil for a random one
}

// DefaultRetryPolicy backs off exponentially with jitter: the wait before attempt n+1 is uniform in the middle half of
// [0, min(Cap, Base·2ⁿ⁻¹)), which spreads the retries of many requests. Eight attempts take about 16 s on average, and 24 s
// at most.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{
		MaxAttempts: 8,
		MaxRefusals: 64, // about half an hour. If the service refused other requests, too, the run would slow down or wait
		Base:        250 * time.Millisecond,
		Cap:         time.Minute,
		MaxWait:     15 * time.Minute, // longer waits hold up the run
	}
}

// jitter picks a wait below a bound.
func (p RetryPolicy) jitter(bound time.Duration) time.Duration {
	switch {
	case p.Jitter != nil:
		return p.Jitter(bound)
	case bound <= 0:
		return 0
	}
	return bound/4 + rand.N((bound+1)/2)
}

// shortWait is the longest wait of a limiter that a request ignores. Retry-After has whole seconds, so a service that means
// milliseconds sends 1. Then a lower rate is enough.
const shortWait = 2 * time.Second

// Next returns the wait before the next attempt. attempts is the number of failed attempts, refusals how many of these were
// refused (see Error.Refused), and err the error of the last attempt. A refusal says nothing about the request, so up to
// MaxRefusals refusals are not counted. ok is false if there is no next attempt: only errors of the classes Transient and Unsent
// are retried. The wait is Error.RetryAfter plus a random wait, which spreads the retries of many requests. A RetryAfter of up to
// shortWait is ignored if a limiter may have sent it (see Error.Refused and Error.Unavailable).
func (p RetryPolicy) Next(attempts, refusals int, err error) (wait time.Duration, ok bool) {
	var e *Error
	if !errors.As(err, &e) || e.Class != Transient && e.Class != Unsent || attempts-min(refusals, p.MaxRefusals) >= p.MaxAttempts {
		return 0, false
	}
	ceiling := p.Cap
	if shift := max(attempts-1, 0); shift < 30 { // attempts is 0 if no failure counted
		ceiling = min(p.Cap, p.Base<<shift)
	}
	wait = min(e.RetryAfter, p.MaxWait)
	if wait <= shortWait && e.mayLimit() {
		wait = 0
	}
	return wait + p.jitter(ceiling), true
}

// Categorize asks the service, and repeats failed attempts as Options.Retry says. It waits at least as long as the service asks
// for, up to RetryPolicy.MaxWait. The error is the *Error of the last attempt, or wraps the cause of ctx.
func (c *HTTP) Categorize(ctx context.Context, r Request) (Answer, error) {
	for attempts, refusals := 1, 0; ; attempts++ {
		answer, err := c.Attempt(ctx, r)
		if err == nil {
			answer.share.Release()
			answer.share = nil
			return answer, nil
		}
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return Answer{}, err
		}
		if e.Refused() {
			refusals++
		}
		wait, again := c.options.Retry.Next(attempts, refusals, err)
		if !again {
			return Answer{}, err
		}
		select {
		case <-time.After(max(wait, min(e.RetryAfter, c.options.Retry.MaxWait))):
		case <-ctx.Done():
			return Answer{}, fmt.Errorf("%w, last error: %w", context.Cause(ctx), err)
		}
	}
}
