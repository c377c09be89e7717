package client

import (
	"net/http"
	"testing"
	"time"
)

func TestParseRateLimit(t *testing.T) {
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	for _, tt := range []struct {
		name   string
		header http.Header
		want   RateLimit
	}{
		{"nothing", header(), RateLimit{Remaining: -1}},
		{"IETF, newer form", header("RateLimit-Policy", `"default";q=100;w=60`, "RateLimit", `"default";r=50;t=30`), RateLimit{100.0 / 60, 50, 30 * time.Second}},
		{"IETF, older form", header("RateLimit-Policy", "100;w=10", "RateLimit", "limit=100, remaining=0, reset=7"), RateLimit{10, 0, 7 * time.Second}},
		{"tightest of policies", header("RateLimit-Policy", `"burst";q=100;w=1, "minute";q=600;w=60`), RateLimit{10, -1, 0}},
		{"a day's policy is no rate", header("RateLimit-Policy", `"burst";q=20;w=1, "daily";q=10000;w=86400`, "RateLimit", `"daily";r=9000;t=500`), RateLimit{20, 9000, 500 * time.Second}},
		{"separate fields", header("RateLimit-Limit", "100", "RateLimit-Remaining", "3", "RateLimit-Reset", "9"), RateLimit{0, 3, 9 * time.Second}},
		{"X-, seconds left", header("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "12"), RateLimit{0, 0, 12 * time.Second}},
		{"X-, Unix time", header("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1772366430"), RateLimit{0, 0, 30 * time.Second}},
		{"X-, Unix time in milliseconds", header("X-RateLimit-Reset", "1772366430000"), RateLimit{0, -1, 30 * time.Second}},
		{"X-, Unix time gone by", header("X-RateLimit-Reset", "1772366000"), RateLimit{0, -1, 0}},
		{"nonsense", header("RateLimit-Policy", `"x";q=a;w=-1`, "RateLimit", "r=;;t=1e999", "X-RateLimit-Reset", "soon", "X-RateLimit-Remaining", "-4"), RateLimit{Remaining: -1}},
		{"policy without a window", header("RateLimit-Policy", `"x";q=100`), RateLimit{Remaining: -1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := parseRateLimit(tt.header, testNow); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

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
		{"body, nested too deep", http.Header{}, `{"a":{"b":{"retry_after":4}}}`, 0},
		{"body, nonsense", http.Header{}, `{"retry_after":{"when":"later"}}`, 0},
		{"reset", http.Header{"X-Ratelimit-Reset": {"9"}}, "", 9 * time.Second},
		{"reset, but something is left", http.Header{"X-Ratelimit-Reset": {"9"}, "X-Ratelimit-Remaining": {"4"}}, "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := retryWait(tt.header, []byte(tt.body), parseRateLimit(tt.header, testNow), testNow); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func FuzzRetryWait(f *testing.F) {
	f.Add(`"default";q=100;w=60`, `"default";r=50;t=30`, "1772366430", `{"retry_after":5}`)
	f.Add("100;w=10", "limit=100, remaining=0, reset=7", "12", `{"error":{"retry_after":"1e300"}}`)
	f.Fuzz(func(t *testing.T, policy, field, reset, body string) {
		h := http.Header{"Ratelimit-Policy": {policy}, "Ratelimit": {field}, "X-Ratelimit-Reset": {reset}}
		limit := parseRateLimit(h, testNow)
		if !(limit.PerSecond >= 0) || limit.Remaining < -1 || limit.Reset < 0 {
			t.Fatalf("got %+v", limit)
		}
		if wait := retryWait(h, []byte(body), limit, testNow); wait < 0 {
			t.Fatalf("wait %v", wait)
		}
	})
}
