package service

import (
	"net/http"
	"time"

	"golang.org/x/time/rate"
)

// RefusalPath answers 429 with Retry-After as an HTTP date, which nginx cannot write: a case
// sends nginx's refusals there.
const RefusalPath = "/refusal"

// Limit is a token bucket; requests beyond it get the status 429.
type Limit struct {
	PerSecond  float64
	Burst      int
	RetryAfter RetryAfter
}

func (l Limit) limiter() *rate.Limiter {
	return rate.NewLimiter(rate.Limit(l.PerSecond), max(l.Burst, 1))
}

// RetryAfter is the form of the header Retry-After; its value is always one second.
type RetryAfter int

// The forms of RFC 9110 §10.2.3.
const (
	Absent RetryAfter = iota
	Seconds
	HTTPDate
)

func refuse(w http.ResponseWriter, status int, form RetryAfter) {
	switch form {
	case Seconds:
		w.Header().Set("Retry-After", "1")
	case HTTPDate:
		w.Header().Set("Retry-After", time.Now().Add(time.Second).UTC().Format(http.TimeFormat))
	}
	w.WriteHeader(status)
}
