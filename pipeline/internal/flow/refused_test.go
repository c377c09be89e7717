package flow

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
)

// After a refusal that stops the run no request begins: refused requests may be charged or counted. Those in flight end.
func TestNoRequestBeginsAfterTheLast(t *testing.T) {
	for name, refusal := range map[string]*client.Error{
		"no quota": {Class: client.Quota, Status: 402},
		"key":      {Class: client.Auth, Status: 401},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newTestRun(numbered(2000)...)
				x.limits.InFlight = 64
				var begun, late atomic.Int64
				var refused atomic.Bool
				x.service.answer = func(ctx context.Context, _ string, _ int) error {
					n := begun.Add(1)
					if refused.Load() {
						late.Add(1)
					}
					if err := wait(ctx, 50*time.Millisecond+time.Duration(n)*10*time.Microsecond); err != nil || n < 500 {
						return err
					}
					refused.Store(true)
					return refusal
				}
				if err := x.run(t.Context()); err == nil {
					t.Fatal("the run is complete")
				}
				if n := late.Load(); n > 0 {
					t.Errorf("%d requests begin after the refusal", n)
				}
			})
		})
	}
}

// A task that a worker has got before the run was stopped is not asked.
func TestStoppedRunAsksNoTaskHandedOver(t *testing.T) {
	soft, stop := context.WithCancelCause(context.Background())
	x := newTestRun()
	r := &run{Parts: Parts{Attempter: x.service, Counters: new(progress.Counters), Limits: limits.New(limits.Options{Rate: math.Inf(1), MaxRequests: 1}, time.Now())}, soft: soft, stop: stop, asks: context.Background()}
	r.dispatcher = ask.NewDispatcher(r, r.Limits)
	next := r.Limits.Next(time.Now(), limits.Queue{First: true})
	if next.Action != limits.SendFirst {
		t.Fatalf("got %v", next)
	}
	stop(errInterrupted)
	if err := r.attempt(new(task), next.Permit); err != nil || r.Counters.Requests.Load() != 0 {
		t.Errorf("%d requests, %v", r.Counters.Requests.Load(), err)
	}
}

// The place of a request that stops the run is not free until the run has stopped.
func TestErrorsThatMayEndTheRun(t *testing.T) {
	for _, tt := range []struct {
		class client.Class
		waits bool // for quota
		want  bool
	}{
		{client.Quota, false, true}, {client.Quota, true, false},
		{client.Auth, false, true}, {client.Fatal, false, true}, {client.Transient, false, false},
	} {
		r := new(run)
		r.options.WaitForQuota = tt.waits
		if got := r.mayEnd(&client.Error{Class: tt.class}); got != tt.want {
			t.Errorf("class %v, waits %t: %t", tt.class, tt.waits, got)
		}
	}
}

// A service that refuses each first attempt computes the answer meanwhile: the refusals are not about the rate.
func TestFirstAttemptsRefused(t *testing.T) {
	for _, tt := range []struct {
		e        *client.Error
		attempts int
	}{
		{&client.Error{Class: client.Transient, Status: 429}, 8},
		{&client.Error{Class: client.Transient, Status: 429}, 1},
		{&client.Error{Class: client.Transient, Status: 429, RetryAfter: time.Second}, 8},
		{&client.Error{Class: client.Transient, Status: 503, RetryAfter: time.Second}, 8},
		{&client.Error{Class: client.Transient, Status: 503, RetryAfter: 10 * time.Second}, 8},
	} {
		e := tt.e
		t.Run(fmt.Sprint(e.Status, " ", e.RetryAfter, " ", tt.attempts), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newTestRun(numbered(1000)...)
				x.limits.InFlight = 64
				x.options.Retry = client.DefaultRetryPolicy()
				x.options.Retry.MaxAttempts = tt.attempts
				x.service.answer = func(ctx context.Context, input string, attempt int) error {
					if err := wait(ctx, 50*time.Millisecond); err != nil {
						return err
					}
					if attempt == 1 && number(input)%50 != 0 { // it has stored some answers
						return e
					}
					return nil
				}
				start := time.Now()
				if err := x.run(t.Context()); err != nil || len(x.sink.lines) != 1000 {
					t.Fatalf("%d rows, %v", len(x.sink.lines), err)
				}
				for _, line := range x.sink.lines {
					if !strings.Contains(line, " ok ") {
						t.Fatalf("got %q", line)
					}
				}
				if took := time.Since(start); took > 10*time.Minute {
					t.Errorf("took %v", took)
				}
				if n := x.counters.Requests.Load(); n > 2100 {
					t.Errorf("%d requests", n)
				}
			})
		})
	}
}

// A limiter states a wait that is too short, and each request prolongs its block.
func TestStatedWaitIsTooShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const inputs, pause = 100, 10 * time.Second
		x := newTestRun(numbered(inputs)...)
		x.limits.InFlight = 64
		x.options.Retry = client.DefaultRetryPolicy()
		start := time.Now()
		var mu sync.Mutex
		var latest time.Time
		x.service.answer = func(ctx context.Context, _ string, _ int) error {
			mu.Lock()
			defer mu.Unlock()
			wait := pause - time.Since(latest)
			latest = time.Now()
			if wait > 0 {
				return &client.Error{Class: client.Transient, Status: 429, RetryAfter: 3 * time.Second}
			}
			return nil
		}
		if err := x.run(t.Context()); err != nil || len(x.sink.lines) != inputs {
			t.Fatalf("%d rows, %v", len(x.sink.lines), err)
		}
		if took := time.Since(start); took > 2*inputs*pause {
			t.Errorf("took %v", took)
		}
	})
}
