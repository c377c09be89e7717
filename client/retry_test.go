package client

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

func TestRetryPolicyNext(t *testing.T) {
	transient := &Error{Class: Transient}
	refusal := &Error{Class: Transient, Status: 429}
	p := DefaultRetryPolicy()
	p.Jitter = func(d time.Duration) time.Duration { return d } // the bound itself
	for _, tt := range []struct {
		name     string
		attempts int
		refusals int // of the attempts
		err      error
		want     time.Duration
		again    bool
	}{
		{"after the first", 1, 0, transient, 250 * time.Millisecond, true},
		{"doubles", 4, 0, transient, 2 * time.Second, true},
		{"the only attempt was forgiven", 0, 0, transient, 250 * time.Millisecond, true},
		{"last attempt used up", 8, 0, transient, 0, false},
		{"refusals do not count", 60, 59, refusal, time.Minute, true},
		{"the last failure beside refusals", 60, 52, refusal, 0, false},
		{"too many refusals", 80, 80, refusal, 0, false},
		{"the service's wait is the least", 1, 0, &Error{Class: Transient, RetryAfter: 10 * time.Second}, 10*time.Second + 250*time.Millisecond, true},
		{"a second of a limit is about the rate", 1, 0, &Error{Class: Transient, Status: 429, RetryAfter: time.Second}, 250 * time.Millisecond, true},
		{"three seconds are about the request", 1, 0, &Error{Class: Transient, Status: 429, RetryAfter: 3 * time.Second}, 3*time.Second + 250*time.Millisecond, true},
		{"an answer that is calculated in a second", 1, 0, &Error{Class: Transient, Status: 202, RetryAfter: time.Second}, time.Second + 250*time.Millisecond, true},
		{"a wait for days is capped", 1, 0, &Error{Class: Transient, RetryAfter: 48 * time.Hour}, 15*time.Minute + 250*time.Millisecond, true},
		{"rejected", 1, 0, &Error{Class: Rejected}, 0, false},
		{"auth", 1, 0, &Error{Class: Auth}, 0, false},
		{"foreign error", 1, 0, errors.New("no"), 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, again := p.Next(tt.attempts, tt.refusals, tt.err); got != tt.want || again != tt.again {
				t.Errorf("got %v, %t; want %v, %t", got, again, tt.want, tt.again)
			}
		})
	}
	p.MaxAttempts = 1000
	if got, _ := p.Next(999, 0, transient); got != p.Cap {
		t.Errorf("after 999 attempts: got %v, want %v", got, p.Cap)
	}
}

func TestFullJitterStaysInRange(t *testing.T) {
	p := DefaultRetryPolicy()
	seen := make(map[time.Duration]bool)
	for range 1000 {
		wait, _ := p.Next(1, 0, &Error{Class: Transient})
		if wait < 0 || wait >= p.Base {
			t.Fatalf("wait %v outside [0, %v)", wait, p.Base)
		}
		seen[wait] = true
	}
	if len(seen) < 100 {
		t.Errorf("only %d different waits of 1000", len(seen))
	}
}

var testNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestRetryAfter(t *testing.T) {
	for _, tt := range []struct {
		value string
		want  time.Duration
	}{
		{"", 0},
		{"10", 10 * time.Second},
		{" 10 ", 10 * time.Second},
		{"1.5", 1500 * time.Millisecond},
		{"0", 0},
		{"-5", 0},
		{"NaN", 0},
		{"1e300", 365 * 24 * time.Hour},
		{"Sun, 01 Mar 2026 12:00:30 GMT", 30 * time.Second},
		{"Sunday, 01-Mar-26 12:00:30 GMT", 30 * time.Second},
		{"Sun Mar  1 12:00:30 2026", 30 * time.Second},
		{"Sun, 01 Mar 2026 11:00:00 GMT", 0},
		{"2026-03-01T12:00:30Z", 30 * time.Second},
		{"soon", 0},
	} {
		if got := retryAfter(http.Header{"Retry-After": {tt.value}}, testNow); got != tt.want {
			t.Errorf("%q: got %v, want %v", tt.value, got, tt.want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"10", "1e9", "-1", "Sun, 01 Mar 2026 12:00:30 GMT", "Inf", "0x10"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if got := retryAfter(http.Header{"Retry-After": {value}}, testNow); got < 0 {
			t.Fatalf("%q: %v", value, got)
		}
	})
}

func TestParseRate(t *testing.T) {
	for _, tt := range []struct {
		text string
		want rate.Limit
	}{
		{"10/s", 10}, {"600/m", 10}, {"36000/h", 10}, {"0.5/s", 0.5}, {"50", 50}, {"0", rate.Inf}, {"0/s", rate.Inf}, {"10 / s", 10},
	} {
		if got, err := ParseRate(tt.text); err != nil || got != tt.want {
			t.Errorf("%q: got %v, %v; want %v", tt.text, got, err, tt.want)
		}
	}
	for _, text := range []string{"", "fast", "10/x", "-1/s", "NaN", "Inf", "1e99/s", "/s"} {
		if got, err := ParseRate(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}
