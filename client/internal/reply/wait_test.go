package reply

import (
	"net/http"
	"strconv"
	"testing"
	"time"
)

func TestRetryWait(t *testing.T) {
	for _, tt := range []struct {
		name   string
		header http.Header
		body   string
		want   time.Duration
	}{
		{"nothing", http.Header{}, "", 0},
		{"header first", http.Header{"Retry-After": {"3"}, "X-Ratelimit-Reset": {"9"}}, `{"retry_after":5}`, 3 * time.Second},
		{"body", http.Header{}, `{"error":"slow down","retry_after":5}`, 5 * time.Second},
		{"body, text", http.Header{}, `{"retry_after":"2.5"}`, 2500 * time.Millisecond},
		{"body, nested", http.Header{}, `{"error":{"retryAfter":4}}`, 4 * time.Second},
		{"body, several nested", http.Header{}, `{"a":{"retry_after":3},"b":{"retry_after":40},"c":{"retry_after":5},"d":{"wait":1}}`, 40 * time.Second},
		{"body, several names", http.Header{}, `{"retryAfter":4,"retry_after":9,"retry-after":3}`, 9 * time.Second},
		{"body, nested and not", http.Header{}, `{"retry_after":4,"limits":{"retry_after":60}}`, 4 * time.Second},
		{"body, nested too deep", http.Header{}, `{"a":{"b":{"retry_after":4}}}`, 0},
		{"body, nonsense", http.Header{}, `{"retry_after":{"when":"later"}}`, 0},
		{"reset", http.Header{"X-Ratelimit-Reset": {"9"}}, "", 9 * time.Second},
		{"reset, but something is left", http.Header{"X-Ratelimit-Reset": {"9"}, "X-Ratelimit-Remaining": {"4"}}, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Wait(tt.header, []byte(tt.body), LimitOf(tt.header, testNow), testNow); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// A service states times by its own clock, which the Date of the response shows.
func TestTimesOfAnotherClock(t *testing.T) {
	for _, off := range []time.Duration{0, time.Second, 40 * time.Second, -40 * time.Second, time.Hour, -24 * time.Hour} {
		theirs := testNow.Add(off).Truncate(time.Second)
		for _, tt := range []struct {
			name, field, value string
		}{
			{"date", "Retry-After", theirs.Add(9 * time.Second).UTC().Format(http.TimeFormat)},
			{"Unix time", "X-Ratelimit-Reset", strconv.FormatInt(theirs.Add(9*time.Second).Unix(), 10)},
			{"seconds", "Retry-After", "9"},
		} {
			h := http.Header{"Date": {theirs.UTC().Format(http.TimeFormat)}, tt.field: {tt.value}}
			if got := Wait(h, nil, LimitOf(h, testNow), testNow); (got - 9*time.Second).Abs() > clockError {
				t.Errorf("a clock that is %v ahead, %s: got %v, want 9s", off, tt.name, got)
			}
		}
	}
}

func FuzzRetryWait(f *testing.F) {
	f.Add("RateLimit-Policy: \"default\";q=100;w=60\nRateLimit: \"default\";r=50;t=30\nX-RateLimit-Reset: 1772366430", `{"retry_after":5}`)
	f.Add("RateLimit-Policy: 100;w=10\nRateLimit: limit=100, remaining=0, reset=7\nRateLimit-Reset: 12", `{"error":{"retry_after":"1e300"}}`)
	f.Add("RateLimit-Remaining: 0, 9e99\nRateLimit-Reset: Sun, 01 Mar 2026 12:00:30 GMT\nRateLimit-Reset: 5,-6", "")
	f.Add("RateLimit: \"a\\\";r=1\nRateLimit: \\\nX-Rate-Limit-Limit: 1;w=1;qu=\"x\"", "")
	f.Fuzz(func(t *testing.T, lines, body string) {
		h := headerOf(lines)
		limit := LimitOf(h, testNow)
		if !(limit.PerSecond >= 0) || limit.Remaining < -1 || limit.Reset < 0 {
			t.Fatalf("got %+v", limit)
		}
		if wait := Wait(h, []byte(body), limit, testNow); wait < 0 {
			t.Fatalf("wait %v", wait)
		}
	})
}

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
