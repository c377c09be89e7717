package ask

import (
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
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
		err := &client.Error{Class: client.Transient, Status: tt.status, Detail: tt.detail, RetryAfter: tt.wait}
		if got := ResultOf(client.Answer{}, err).Signal; got != tt.want {
			t.Errorf("%s: got %d, want %d", tt.name, got, tt.want)
		}
	}
}

// A window that an answer states may be used at once.
func TestStatedWindow(t *testing.T) {
	answer := client.Answer{Limit: client.RateLimit{PerSecond: 10, Remaining: 7, Reset: time.Minute}}
	if got := ResultOf(answer, nil); got.Left != 7 || got.Ends != time.Minute || got.Rate != 10 {
		t.Errorf("got %+v", got)
	}
}
