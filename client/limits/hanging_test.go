package limits

import (
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
