package client

import (
	"errors"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RetryPolicy says whether and when a request is tried again. The zero value is not
// useful; see DefaultRetryPolicy.
type RetryPolicy struct {
	MaxAttempts int           // for one request, the first included
	Base        time.Duration // the first wait is a random one up to this
	Cap         time.Duration // the wait doubles up to this
	MaxWait     time.Duration // the longest that a service's Retry-After is heeded
	Jitter      func(time.Duration) time.Duration
}

// DefaultRetryPolicy backs off exponentially with full jitter: the wait before attempt
// n+1 is uniform in [0, min(Cap, Base·2ⁿ⁻¹)), which spreads a crowd of failed requests
// best. Eight attempts span about a quarter of a minute on average, half a one at most.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{
		MaxAttempts: 8,
		Base:        250 * time.Millisecond,
		Cap:         time.Minute,
		MaxWait:     15 * time.Minute, // beyond it the rest of the run is better served by giving up
		Jitter:      func(d time.Duration) time.Duration { return rand.N(d) },
	}
}

// shortWait of a service that is asked too much is about the rate, and not about the request:
// Retry-After has whole seconds, and a service that means some milliseconds says 1. A lower
// rate is enough then, and other requests go on.
const shortWait = 2 * time.Second

// Next gives the wait before another attempt, after `attempts` have failed, the last
// of them with err; false when there is to be none. Where the service said how long to
// wait, that is the least, unless it is a shortWait, and the jitter comes on top: a crowd told
// "10" should not come back in one instant.
func (p RetryPolicy) Next(attempts int, err error) (time.Duration, bool) {
	var e *Error
	if !errors.As(err, &e) || e.Class != Transient || attempts >= p.MaxAttempts {
		return 0, false
	}
	ceiling := p.Cap
	if shift := max(attempts-1, 0); shift < 30 { // all of them may have been forgiven
		ceiling = min(p.Cap, p.Base<<shift)
	}
	wait := min(e.RetryAfter, p.MaxWait)
	if wait <= shortWait && (e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable) {
		wait = 0
	}
	return wait + p.Jitter(ceiling), true
}

// retryAfter reads Retry-After in either form, seconds or a date (RFC 9110 §10.2.3);
// 0 where there is none or it makes no sense.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return secondsToDuration(seconds)
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

// secondsToDuration is safe for any number a header can hold, NaN and 1e300 included.
func secondsToDuration(seconds float64) time.Duration {
	const most = 24 * time.Hour * 365
	if !(seconds > 0) {
		return 0
	}
	if seconds > most.Seconds() {
		return most
	}
	return time.Duration(seconds * float64(time.Second))
}
