package limits

import (
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
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

// Attempts that end, without an answer, are no reason to send more before the first answer.
func TestFirstRequestsEnd(t *testing.T) {
	c, now := newController(Options{Trial: 3, Rate: 1000})
	var permits []Permit
	for i := range 3000 {
		if i%10 == 9 { // an attempt takes a third of a second
			c.End(now, permits[0], Result{Signal: Canceled})
			permits = permits[1:]
		}
		for d := c.Next(now, Queue{First: true}); d.Action == SendFirst && len(permits) < 20; d = c.Next(now, Queue{First: true}) {
			permits = append(permits, d.Permit)
		}
		if len(permits) > 3 {
			t.Fatalf("%d in flight", len(permits))
		}
		now = now.Add(10 * ms)
	}
}

// A service that becomes slow is asked at the rate as before: only a latency that falls with the number in flight shows a queue.
// A queue of requests that wait stays short, also if the service becomes slower meanwhile.
func TestServiceBecomesSlow(t *testing.T) {
	uniform := func(least, most time.Duration) func(*vendor) {
		return func(v *vendor) { v.least, v.most = least, most }
	}
	serves := func(rates ...float64) func(*vendor) { // one after the other, each for two seconds
		return func(v *vendor) {
			v.burst, v.queued = 1e6, true
			for i, rate := range rates {
				v.after(time.Duration(2*i)*time.Second, func() { v.rate = rate })
			}
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*vendor) // after a minute
		least  float64       // answers a second
		most   int           // in flight
	}{
		{"300 ms", uniform(300*ms, 380*ms), 48, 40},
		{"1.5 s", uniform(1500*ms, 1900*ms), 48, 150},
		{"1 to 9 s", uniform(time.Second, 9*time.Second), 45, 400},
		{"5 s", uniform(5*time.Second, 6*time.Second), 46, 350},
		{"20 s", uniform(20*time.Second, 25*time.Second), 40, 1400},
		{"queue of 20/s", serves(20), 19, 300},
		{"queue of 4/s", serves(4), 3.8, 300},
		{"queue that falls to 4/s", serves(60, 40, 30, 20, 10, 6, 4), 3.8, 500},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			v := &vendor{world: w, least: 20 * ms, most: 30 * ms, quiet: true}
			c := newClient(w, v, 1<<30, Options{Rate: 50})
			w.run(minute)
			tt.change(v)
			most := 0
			for range 20 * 60 {
				w.run(time.Second)
				most = max(most, c.limits.inFlight)
			}
			before := v.served
			w.run(5 * minute)
			if rate := float64(v.served-before) / 300; rate < tt.least || most > tt.most {
				t.Errorf("%.1f/s are served, want %v, and %d were in flight, at most %d", rate, tt.least, most, tt.most)
			}
		})
	}
}

// A limit that fails and counts requests brings one doubt after another. It is found, also if the service refused a request of an
// earlier run.
func TestCountingFailures(t *testing.T) {
	for _, refuses := range []bool{false, true} {
		w := newWorld()
		v := &vendor{world: w, least: 20 * ms, most: 30 * ms, quiet: true, downResult: Result{Signal: Failed}}
		l := &clienttest.Sliding{Number: 10, Window: 10 * time.Second, CountsRefused: true}
		v.down = func() bool { ok, _, _ := l.Admit(w.now); return !ok }
		v.fails = func(int, int) (bool, time.Duration) { return w.random.Float64() < 0.3, 0 }
		c := newClient(w, v, 1200, Options{Rate: 1.5, Learned: Learned{Refuses: refuses}})
		c.jitter, c.sleeps = ms/2, true
		w.run(10 * time.Hour)
		t.Logf("refused before: %v: %d failed after %v", refuses, c.failed, c.took())
		if c.failed > 100 || c.took() > 2*time.Hour {
			t.Errorf("refused before: %v: %d failed after %v", refuses, c.failed, c.took())
		}
	}
}
