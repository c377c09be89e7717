package client

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client/internal/memory"
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
		{"not sent", 1, 0, &Error{Class: Unsent}, 250 * time.Millisecond, true},
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

// response is a response of the service, with Retry-After in seconds.
type response struct {
	status int
	wait   string
}

func TestCategorize(t *testing.T) {
	busy, broken, sound := response{status: 429}, response{status: 500}, response{status: 200}
	for _, tt := range []struct {
		name    string
		replies []response // the last is repeated
		retry   RetryPolicy
		asked   int
		took    time.Duration // at least
		class   Class         // of the error; 0 for an answer
	}{
		{name: "an answer", replies: []response{sound}, asked: 1},
		{name: "two failures", replies: []response{broken, broken, sound}, asked: 3},
		{name: "a limit that says how long", replies: []response{{429, "30"}, sound}, asked: 2, took: 30 * time.Second},
		{name: "a limit of a second", replies: []response{{429, "1"}, sound}, asked: 2, took: time.Second},
		{name: "a wait for days", replies: []response{{503, "172800"}, sound}, asked: 2, took: 15 * time.Minute},
		{name: "more refusals than attempts", replies: []response{busy, busy, busy, busy, busy, busy, busy, busy, busy, sound}, asked: 10},
		{name: "a rejection", replies: []response{{status: 404}, sound}, asked: 1, class: Rejected},
		{name: "a wrong key", replies: []response{{status: 401}, sound}, asked: 1, class: Auth},
		{name: "it fails on", replies: []response{broken}, asked: 8, class: Transient},
		{name: "two attempts at most, without a wait", replies: []response{broken, broken, sound}, retry: RetryPolicy{MaxAttempts: 2}, asked: 2, class: Transient},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &replies{list: tt.replies}
				answer, err := s.client(t, tt.retry).Categorize(t.Context(), testRequest)
				if class := ClassOf(err); err != nil && class != tt.class || err == nil && (tt.class != 0 || len(answer.Entries) != 1 || string(answer.Body) != soundAnswer) {
					t.Errorf("got %+v, %v", answer, err)
				}
				if took := time.Since(s.began); s.asked != tt.asked || took < tt.took || tt.took > 0 && took > tt.took+time.Second {
					t.Errorf("asked %d times in %v", s.asked, took)
				}
			})
		})
	}
}

// A context that ends during a wait ends Categorize, which also tells the last failure.
func TestCategorizeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &replies{list: []response{{503, "60"}}}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := s.client(t, RetryPolicy{}).Categorize(ctx, testRequest)
		e, ok := errors.AsType[*Error](err)
		if !errors.Is(err, context.DeadlineExceeded) || !ok || e.Status != 503 || time.Since(s.began) != 10*time.Second || s.asked != 1 {
			t.Errorf("asked %d times, after %v: %v", s.asked, time.Since(s.began), err)
		}
	})
}

// An answer of Categorize takes nothing from the memory for other bodies.
func TestCategorizeReleases(t *testing.T) {
	c := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat(" ", freeBody)+soundAnswer)
	}, nil)
	c.bodies = memory.New(bodyStep)
	for range 3 { // two that are not released would make the third wait
		answer, err := c.Categorize(t.Context(), testRequest)
		if err != nil || len(answer.Body) < freeBody {
			t.Fatalf("%d bytes, %v", len(answer.Body), err)
		}
	}
}

// replies is a transport that gives the replies of a service without a usage operation.
type replies struct {
	list  []response
	asked int
	began time.Time
}

func (s *replies) client(t *testing.T, retry RetryPolicy) *HTTP {
	t.Helper()
	c, err := New(Options{BaseURL: "http://service", Transport: s, Retry: retry})
	if err != nil {
		t.Fatal(err)
	}
	s.began = time.Now()
	return c
}

func (s *replies) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if strings.HasSuffix(r.URL.Path, "/usage") {
		w.WriteHeader(http.StatusNotFound)
		return w.Result(), nil
	}
	response := s.list[min(s.asked, len(s.list)-1)]
	s.asked++
	if response.wait != "" {
		w.Header().Set("Retry-After", response.wait)
	}
	w.WriteHeader(response.status)
	if response.status == http.StatusOK {
		_, _ = w.WriteString(soundAnswer)
	}
	return w.Result(), nil
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
