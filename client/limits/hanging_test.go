package limits

import (
	"fmt"
	"testing"
	"time"
)

// A limiter that holds refused requests, or drops them without a word, fails them long after it has refused them, and it counts
// them: the limit is found all the same.
func TestRefusalsThatHang(t *testing.T) {
	const limit = 300 // requests in a second
	for _, tt := range []struct {
		name           string
		after          time.Duration // a refused request fails
		inputs, atOnce int
		least          float64 // share of the limit
	}{
		{"3 s", 3 * time.Second, 20_000, 64, 0.5},
		{"3 s, many at once", 3 * time.Second, 20_000, 1000, 0.5},
		{"30 s", 30 * time.Second, 80_000, 64, 0.45},
		{"30 s, many at once", 30 * time.Second, 80_000, 1000, 0.45},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			v := &vendor{world: w, least: 15 * ms, most: 25 * ms, quiet: true}
			var latest []time.Time
			v.fails = func(int, int) (bool, time.Duration) {
				latest = append(latest, w.now)
				for w.now.Sub(latest[0]) >= time.Second {
					latest = latest[1:]
				}
				return len(latest) > limit, tt.after
			}
			c := newClient(w, v, tt.inputs, Options{InFlight: tt.atOnce})
			w.run(time.Hour)
			if rate := float64(c.doneOK) / c.took().Seconds(); c.failed > 0 || rate < tt.least*limit {
				t.Errorf("%.0f/s of %d/s, %d failed", rate, limit, c.failed)
			}
		})
	}
}

// Before the first answer, few requests are in flight. More are sent while they hang, but not because the run has waited.
func TestFirstRequestsHang(t *testing.T) {
	c, now := newController(Options{Trial: 3, Rate: 1000})
	now = now.Add(minute) // a gateway waits for its first call
	inFlight := 0
	for _, tt := range []struct {
		after time.Duration
		want  int
	}{{time.Second, 3}, {5 * time.Second, 5}, {minute, queueFirst}} {
		for end := now.Add(tt.after); now.Before(end); now = now.Add(10 * ms) {
			if d := c.Next(now, Queue{First: true}); d.Action == SendFirst {
				inFlight++
			}
		}
		if inFlight != tt.want {
			t.Errorf("%d in flight %v later, want %d", inFlight, tt.after, tt.want)
		}
	}
}

// A service that becomes slow is asked at the rate as before: only a latency that falls with the number in flight shows a queue.
// A queue of requests that wait for a bucket of 20/s stays short.
func TestServiceBecomesSlow(t *testing.T) {
	for _, tt := range []struct {
		slow   time.Duration // of each answer after a minute
		queued bool          // requests wait for 20/s
		least  float64       // answers a second
		most   int           // in flight
	}{
		{300 * ms, false, 48, 40},
		{1500 * ms, false, 48, 130},
		{5 * time.Second, false, 46, 350},
		{20 * time.Second, false, 40, 1400},
		{30 * ms, true, 19, 200},
	} {
		t.Run(fmt.Sprintf("%v, queued %t", tt.slow, tt.queued), func(t *testing.T) {
			w := newWorld()
			v := &vendor{world: w, least: 20 * ms, most: 30 * ms, quiet: true}
			c := newClient(w, v, 1<<30, Options{Rate: 50})
			w.run(minute)
			v.least, v.most = tt.slow, tt.slow*5/4
			if tt.queued {
				v.rate, v.burst, v.queued = 20, 1e6, true
			}
			w.run(5 * minute)
			before := v.served
			w.run(5 * minute)
			if rate := float64(v.served-before) / 300; rate < tt.least || c.limits.inFlight > tt.most {
				t.Errorf("%.1f/s are served, want %v, and %d are in flight, at most %d", rate, tt.least, c.limits.inFlight, tt.most)
			}
		})
	}
}
