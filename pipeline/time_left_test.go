package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/reader"
)

// limited is a service with a latency of 200 ms that refuses requests beyond a rate.
type limited struct {
	mu       sync.Mutex
	interval time.Duration // between requests; 0 for no limit
	next     time.Time
	down     bool
	answers  int
	answered func(answers int)
}

func (s *limited) set(rate float64, down bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interval, s.down = time.Duration(float64(time.Second)/rate), down
}

func (s *limited) Attempt(ctx context.Context, r client.Request) (client.Answer, error) {
	if err := s.refuse(time.Now()); err != nil {
		return client.Answer{}, err
	}
	select {
	case <-time.After(200 * time.Millisecond):
	case <-ctx.Done():
		return client.Answer{}, ctx.Err()
	}
	s.mu.Lock()
	s.answers++
	answers := s.answers
	s.mu.Unlock()
	if s.answered != nil {
		s.answered(answers)
	}
	answer, err := client.ParseAnswer([]byte(`{"`+r.Classification+`":[{"value":"Home & Garden","confidence":0.5}]}`), r.Classification)
	answer.AnsweredAt = time.Now()
	return answer, err
}

// refuse lets five requests through at once.
func (s *limited) refuse(now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.down:
		return &client.Error{Class: client.Transient, Err: syscall.ECONNREFUSED}
	case s.next.Sub(now) > 5*s.interval:
		return &client.Error{Class: client.Transient, Status: 429}
	}
	if s.next.Before(now) {
		s.next = now
	}
	s.next = s.next.Add(s.interval)
	return nil
}

// seen is the progress after some seconds.
type seen struct {
	second int
	progress.Progress
}

// watched runs a session and gives its progress of each second. At the seconds of events the service changes.
func watched(t *testing.T, o Options, ctx context.Context, events map[int]func()) (all []seen, end time.Duration, err error) {
	t.Helper()
	o.Watch = func(s *Session) func() {
		done, ended := make(chan struct{}), make(chan struct{})
		start := time.Now()
		go func() {
			defer close(ended)
			ticker := time.NewTicker(time.Second)
			defer ticker.Stop()
			for second := 1; ; second++ {
				select {
				case <-ticker.C:
				case <-done:
					end = time.Since(start)
					return
				}
				if event := events[second]; event != nil {
					event()
				}
				all = append(all, seen{second, s.running.Load().progress()})
			}
		}()
		return func() { close(done); <-ended }
	}
	session, err := Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	_, err = session.Run(ctx)
	return all, end, errors.Join(err, session.Close())
}

// TestTimeLeftOfAResumedRun resumes a run over a half-filled store. The service lowers its rate, and is out for a while.
// In each phase the time left is compared with the time that the run takes if the phase lasts.
func TestTimeLeftOfAResumedRun(t *testing.T) {
	const (
		records = 12_000
		first   = 20.0 // requests a second, until slower
		second  = 12.0

		slower, out, up = 150, 240, 360 // seconds
	)
	dir := t.TempDir()
	var titles strings.Builder
	for i := range records {
		fmt.Fprintf(&titles, "title %d\n", i)
	}
	input := filepath.Join(dir, "in.txt")
	if err := os.WriteFile(input, []byte(titles.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		service := new(limited)
		t.Setenv("XDG_STATE_HOME", t.TempDir())
		o := Options{
			Kind:    client.Product,
			Service: Service{Attempter: service, Name: "https://api.example.com", Hosted: true},
			Input:   reader.Options{Paths: []string{input}},
			Output:  OutputOptions{Path: filepath.Join(dir, "out.csv")},
		}
		o.Limits.InFlight = 64
		ctx, cancel := context.WithCancel(t.Context())
		service.answered = func(answers int) {
			if answers == records/2 {
				cancel()
			}
		}
		var stop *StopError
		if _, _, err := watched(t, o, ctx, nil); !errors.As(err, &stop) {
			t.Fatal(err)
		}
		service.answered = nil
		service.set(first, false)
		all, end, err := watched(t, o, t.Context(), map[int]func(){
			slower: func() { service.set(second, false) },
			out:    func() { service.set(second, true) },
			up: func() {
				if s := readStatus(t, o.Output.Path); s.State != account.Outage || time.Since(s.Updated) > 2*time.Second || s.Ends != nil {
					t.Errorf("the status in the outage: %+v", s)
				}
				service.set(second, false)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		ended := func(second int) float64 { return float64(all[second-1].Counts.Ended) }
		requests := all[len(all)-1].Counts.Needed
		left := func(s seen) float64 { return float64(requests - s.Counts.Ended) }
		var curve []string
		worst := 0.0
		check := func(from, to int, most float64, truth func(seen) float64) {
			for _, s := range all[from-1 : to] {
				off := s.SecondsLeft/truth(s) - 1
				worst = max(worst, math.Abs(off))
				if s.second%20 == 0 {
					curve = append(curve, fmt.Sprintf("%d s: %+.1f%%", s.second, 100*off))
				}
				if math.Abs(off) > most {
					t.Errorf("after %d s (%s, %.1f/s): %v s left, want %.0f s", s.second, s.State, s.RequestsPerSecond, s.SecondsLeft, truth(s))
				}
			}
		}
		// Each phase has its rate of requests, once the run has learned the rate.
		rate := func(from, to int) float64 { return (ended(to) - ended(from)) / float64(to-from) }
		fast, slow := rate(30, slower-1), rate(slower+30, out-1)
		check(60, slower-1, 0.1, func(s seen) float64 { return left(s) / fast })
		check(slower+60, out-1, 0.1, func(s seen) float64 { return left(s) / slow })
		const last = 20 // seconds: the few requests at the end say nothing about the rate
		back := up + slices.IndexFunc(all[up-1:], func(s seen) bool { return s.State != account.Outage })
		if back < up || back > up+20 {
			t.Fatalf("the outage ends after %d s, the run asks again after %d s", up, back)
		}
		check(back, int(end.Seconds())-last, 0.1, func(s seen) float64 { return end.Seconds() - float64(s.second) })
		t.Logf("%.1f and %.1f requests/s; worst %.1f%%; %s", fast, slow, 100*worst, strings.Join(curve, ", "))

		for _, s := range all[out+20-1 : up-1] {
			since := s.Since.Sub(all[0].Since) - out*time.Second
			if s.State != account.Outage || s.SecondsLeft != 0 || s.RecordsPerSecond != 0 || since.Abs() > 5*time.Second {
				t.Fatalf("after %d s: %s since %v after the service went down, %v s left", s.second, s.State, since, s.SecondsLeft)
			}
		}
		checkStates(t, o.Output.Path, all[out+20].Since, (up-out)*time.Second)
	})
}

func readStatus(t *testing.T, output string) (s account.Status) {
	t.Helper()
	text, err := os.ReadFile(runfiles.StatusPath(output))
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		t.Error(err)
	}
	return s
}

// checkStates wants the time line of two starts to have the outage.
func checkStates(t *testing.T, output string, outage time.Time, lasted time.Duration) {
	t.Helper()
	a, err := runfiles.ReadAccount(t.Context(), runfiles.AccountPath(output))
	if err != nil {
		t.Fatal(err)
	}
	var states []account.State
	var out time.Duration
	for _, span := range a.Timeline {
		if span.State == account.Outage {
			if out == 0 && span.From.Sub(outage).Abs() > 10*time.Second {
				t.Errorf("an outage from %v, want %v", span.From, outage)
			}
			out += span.To.Sub(span.From)
		}
		if n := len(states); n == 0 || states[n-1] != span.State {
			states = append(states, span.State)
		}
	}
	last := a.Timeline[len(a.Timeline)-1]
	if last.Start != 2 || last.Ending != account.Complete || len(states) > 16 || (out-lasted).Abs() > 20*time.Second {
		t.Errorf("start %d, which is %s, the states %v, an outage of %v", last.Start, last.Ending, states, out)
	}
}
