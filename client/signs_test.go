package client

import (
	"context"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/limits"
)

// Each sign of a limit says what the attempt tells the limits.
func TestSigns(t *testing.T) {
	for _, tt := range []struct {
		name   string
		status int
		detail string
		wait   time.Duration
		want   limits.Signal
	}{
		{"too many requests", 429, "", 0, limits.Refused},
		{"a 403 of a key that is proven", 403, "", 0, limits.Refused},
		{"a 500 of a limiter", 500, "RateLimitExceeded: 600 per 1 minute", 0, limits.Refused},
		{"a 500", 500, "division by zero", 0, limits.Failed},
		{"unavailable", 503, "", 0, limits.Unavailable},
		{"unavailable for a while", 503, "", time.Second, limits.Refused},
		{"a 500 with a wait", 500, "", time.Second, limits.Refused},
		{"nothing behind the gateway", 502, "", time.Second, limits.Failed},
		{"still calculating", 202, "", time.Second, limits.Answered},
		{"no response", 0, "", 0, limits.Failed},
	} {
		err := &Error{Class: Transient, Status: tt.status, Detail: tt.detail, RetryAfter: tt.wait}
		if got := ResultOf(Answer{}, err).Signal; got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

// A window that an answer states may be used at once.
func TestStatedWindow(t *testing.T) {
	answer := Answer{Limit: RateLimit{PerSecond: 10, Remaining: 7, Reset: time.Minute}}
	if got := ResultOf(answer, nil); got.Left != 7 || got.Ends != time.Minute || got.Rate != 10 {
		t.Errorf("got %+v", got)
	}
}

// What is known of the key and the quota decides what a refusal means.
func TestDiagnoserHasHeard(t *testing.T) {
	refused := func(status int) func(*Diagnoser) {
		return func(d *Diagnoser) {
			d.usage = usageFails(&Error{Class: classOf(status), Status: status})
		}
	}
	for _, tt := range []struct {
		name   string
		status int
		detail string
		know   func(*Diagnoser)
		want   Class
	}{
		{"stored answers prove the key", 403, "", func(d *Diagnoser) { refused(403)(d); d.Proven() }, Transient},
		{"nothing proves the key", 403, "", refused(403), Auth},
		{"a limit on all paths", 429, "You have exhausted your API Request Quota", func(d *Diagnoser) {
			refused(429)(d)
			d.heard = new(lastUsage)
			d.heard.Store(&usageReply{usage: Usage{Remaining: "123456"}})
		}, Transient},
		{"a limit on all paths, no bound", 429, "You have exhausted your API Request Quota", func(d *Diagnoser) {
			refused(429)(d)
			d.heard = new(lastUsage)
			d.heard.Store(&usageReply{usage: Usage{Remaining: "unlimited"}})
		}, Transient},
		{"a quota that was never told", 429, "You have exhausted your API Request Quota", refused(429), Quota},
		{"a 403 for long, and only usage answers", 403, "", func(d *Diagnoser) {
			d.usage = usageSays("7")
			d.deny = time.Now().Add(-2 * usageProof)
		}, Auth},
	} {
		d := &Diagnoser{next: &fails{err: &Error{Class: classOf(tt.status), Status: tt.status, Detail: tt.detail}}}
		tt.know(d)
		if _, err := d.Categorize(t.Context(), testRequest); ClassOf(err) != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, ClassOf(err), tt.want)
		}
	}
}

func usageFails(err error) func(context.Context) (Usage, error) {
	return func(context.Context) (Usage, error) { return Usage{}, err }
}

func usageSays(text string) func(context.Context) (Usage, error) {
	return func(context.Context) (Usage, error) { return Usage{Remaining: text}, nil }
}
