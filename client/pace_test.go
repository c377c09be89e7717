package client

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
)

func TestFlowFollowsTheShareOfFailures(t *testing.T) {
	failure := &Error{Class: Transient, Status: 500}
	now := time.Now()
	f := flow{allowed: 64, most: 64, epoch: now}
	epoch := func(sound, failed int) {
		for range sound {
			f.ended(now, nil)
		}
		for range failed {
			f.ended(now, failure)
		}
		now = now.Add(flowEpoch)
		f.ended(now, nil)
	}
	for _, tt := range []struct {
		sound, failed, want int
	}{{100, 12, 64}, {50, 50, 32}, {0, 100, 16}, {0, 4, 21}, {100, 0, 27}, {100, 20, 34}, {100, 0, 43}, {100, 0, 54}, {100, 0, 64}, {100, 0, 64}} {
		if epoch(tt.sound, tt.failed); f.allowed != tt.want {
			t.Fatalf("after %d sound and %d failed attempts %d may be in flight, want %d", tt.sound, tt.failed, f.allowed, tt.want)
		}
	}
}

// An answer that is still being calculated, and a refusal by the limit, are no failures.
func TestFlowOfASoundService(t *testing.T) {
	for _, status := range []int{202, 429} {
		now := time.Now()
		f := flow{allowed: 64, most: 64, epoch: now}
		for range 100 {
			f.ended(now, &Error{Class: Transient, Status: status})
		}
		if f.ended(now.Add(flowEpoch), nil); f.allowed != 64 {
			t.Errorf("%d: %d may be in flight", status, f.allowed)
		}
	}
}

// TestFlowKeepsItsSlots: however the number in flight goes up and down, none is lost.
func TestFlowKeepsItsSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPacer(PacerOptions{Rate: rate.Inf, InFlight: 16})
		for round := range 400 {
			var err error
			if round < 200 && round%40 < 20 {
				err = &Error{Class: Transient, Status: 503}
			}
			for range 8 {
				turn, waitErr := p.Wait(t.Context())
				if waitErr != nil {
					t.Fatal(waitErr)
				}
				time.Sleep(30 * time.Millisecond)
				turn.Done(Answer{}, err)
			}
		}
		if free := len(p.slots); free != p.flow.allowed || p.flow.allowed != 16 {
			t.Errorf("%d slots free of %d allowed", free, p.flow.allowed)
		}
	})
}

func TestRefusalPausesEverybody(t *testing.T) {
	for _, tt := range []struct {
		status int
		limit  rate.Limit // 0: to be learned
		waits  []time.Duration
	}{
		{429, 100, []time.Duration{20 * time.Second}},
		{403, 100, []time.Duration{20 * time.Second}}, // a ban
		{429, 0, []time.Duration{20 * time.Second}},
		{429, 0, []time.Duration{time.Second, 20 * time.Second}}, // of one burst
	} {
		synctest.Test(t, func(t *testing.T) {
			p := NewPacer(PacerOptions{Rate: tt.limit, InFlight: 16})
			var turns []Turn
			for range tt.waits {
				turn, err := p.Wait(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				turns = append(turns, turn)
			}
			start := time.Now()
			for i, wait := range tt.waits {
				turns[i].Done(Answer{}, &Error{Class: Transient, Status: tt.status, RetryAfter: wait})
			}
			turn, err := p.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			turn.Done(Answer{}, nil)
			if waited := time.Since(start); waited < 20*time.Second || waited > 21*time.Second {
				t.Errorf("%+v: waited %v", tt, waited)
			}
		})
	}
}

func TestLearningStartsWhereItEnded(t *testing.T) {
	p := NewPacer(PacerOptions{Learned: 200, InFlight: 16})
	if got := p.Rate(); got != 200*afterCut {
		t.Errorf("starts at %v/s", got)
	}
	if got := p.Learned(); got != 200 {
		t.Errorf("has learned %v/s", got)
	}
}

func TestStatedPolicyIsKeptTo(t *testing.T) {
	now := time.Now()
	l := newLearner(0, now)
	l.rate = 500
	l.told(100, now)
	for range 10_000 { // and never beyond, to see whether there is more
		now = now.Add(10 * time.Millisecond)
		l.started(now)
		l.answered(now, now)
		l.told(100, now)
		if l.rate > 100*underLimit {
			t.Fatalf("%v/s of 100/s", l.rate)
		}
	}
}

// A service without a limit is soon asked as fast as it answers, however many workers
// have asked for a turn at the first, gentle rate.
func TestPacerGathersSpeedWithManyWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers, latency = 256, 20 * time.Millisecond
		p := NewPacer(PacerOptions{InFlight: workers})
		ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
		defer stop()
		var asked atomic.Int64
		var wg sync.WaitGroup
		for range workers {
			wg.Go(func() {
				for {
					turn, err := p.Wait(ctx)
					if err != nil {
						return
					}
					asked.Add(1)
					time.Sleep(latency)
					turn.Done(Answer{}, nil)
				}
			})
		}
		wg.Wait()
		if most := int64(5 * time.Second / latency * workers); asked.Load() < most/2 {
			t.Errorf("%d requests in 5s, want half at least of the %d that the workers can make", asked.Load(), most)
		}
	})
}

// A refusal may be noticed late, for a slow service or because usage was asked first: the
// rate that met the limit is known all the same, or the present one is taken.
func TestLateRefusal(t *testing.T) {
	for _, late := range []time.Duration{0, 700 * time.Millisecond, 2 * time.Second, 8 * time.Second, 30 * time.Second} {
		now := time.Now()
		l := newLearner(0, now)
		l.rate = 100
		var sent time.Time
		for range 200 { // at 100/s
			now = now.Add(10 * time.Millisecond)
			l.started(now)
			sent = now
		}
		for range int(late / (10 * time.Millisecond)) {
			now = now.Add(10 * time.Millisecond)
			l.started(now)
		}
		if !l.refused(sent, now) {
			t.Fatalf("%v late: no news", late)
		}
		if l.limit < 80 || l.limit > 101 {
			t.Errorf("%v late: a limit of %v/s", late, l.limit)
		}
	}
}
