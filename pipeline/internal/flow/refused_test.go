package flow

import (
	"context"
	"math"
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
