package limits

import (
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// TestClosedWindowEnds sends a retry after the end of a window that is used up, also if the service can be asked for the
// quota and nothing else waits.
func TestClosedWindowEnds(t *testing.T) {
	for _, tt := range []struct {
		name    string
		learned Learned
		answer  Result
	}{
		{"stated", Learned{}, Result{Signal: Answered, Left: 0, Ends: 10 * time.Second}},
		{"learned", Learned{Number: 1, Window: 10 * time.Second}, Result{Signal: Answered}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, now := newController(Options{CanAsk: true, Learned: tt.learned})
			start := now
			d := c.Next(now, Queue{First: true})
			c.End(now.Add(20*ms), d.Permit, tt.answer)
			if tt.learned.Number > 0 { // a window of an earlier run is tested at first
				c.window.round = 0
			}
			now = now.Add(time.Second)
			asks := 0
			for range 100 {
				if d = c.Next(now, Queue{Retry: true}); d.Action == SendRetry {
					return
				}
				if d.Action == AskQuota {
					asks++
					c.ReportQuota(now, Quota{})
				}
				now = now.Add(max(d.For, 20*ms))
			}
			t.Errorf("after %d questions for the quota and %v the action is %d", asks, now.Sub(start), d.Action)
		})
	}
}

// TestBlockAtTheEndOfAWindow ends blocks of 10 s that each request prolongs, and of half an hour, which begin when the run
// waits for the end of a window.
func TestBlockAtTheEndOfAWindow(t *testing.T) {
	for _, tt := range []struct {
		name   string
		states bool
		block  time.Duration
		grows  bool    // with each request
		least  float64 // requests a minute after the block
	}{
		{"stated, prolonged", true, 10 * time.Second, true, 570},
		{"stated", true, 30 * time.Minute, false, 570},
		{"learned, prolonged", false, 10 * time.Second, true, 400},
		{"learned", false, 30 * time.Minute, false, 300}, // the silence was long, and the rate grows slowly after it
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			start := w.now
			v := &vendor{world: w, least: 20 * ms, most: 30 * ms, status: Refused, states: tt.states, limiter: &clienttest.Fixed{Number: 600, Window: time.Minute}, quiet: true}
			var until time.Time
			v.down = func() bool {
				if until.IsZero() && w.now.Sub(start) > 10*time.Minute {
					until = w.now.Add(tt.block)
				}
				if !w.now.Before(until) {
					return false
				}
				if tt.grows {
					until = w.now.Add(tt.block)
				}
				return true
			}
			c := newClient(w, v, 1_000_000, Options{})
			c.jitter = ms / 2
			w.run(90 * time.Minute)
			before := v.served
			w.run(time.Hour)
			if perMinute := float64(v.served-before) / 60; perMinute < tt.least {
				t.Errorf("%.0f a minute are served after the block, want %.0f of 600", perMinute, tt.least)
			}
		})
	}
}

// Probes after a learned window may all be refused, if windows begin at fixed times. If the service then answers within a
// second, that does not show a rate of zero.
func TestWindowThatEndsLate(t *testing.T) {
	w := newWorld()
	v := &vendor{world: w, least: 20 * ms, most: 30 * ms, status: Refused, limiter: &clienttest.Fixed{Number: 300, Window: 3 * time.Second, Aligned: true}, quiet: true}
	c := newClient(w, v, 1_000_000, Options{})
	c.jitter = ms / 2
	for range 20 {
		before := v.served
		if w.run(minute); v.served-before < 4000 {
			t.Errorf("%d of 6000 were served in a minute, and the rate is %.3g/s", v.served-before, c.limits.Rate())
		}
	}
}
