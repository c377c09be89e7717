package limits

import (
	"math"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// More refusals may be counted in a short phase than requests before its trip. The rate after the trip is not below none.
func TestATripOfAShortPhase(t *testing.T) {
	start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	c := New(Options{Rate: math.Inf(1)}, start)
	now := start.Add(20 * time.Millisecond)
	c.trip.first, c.trip.lost, c.trip.phase.refused = Permit{serial: 4, sent: now}, 5, 10
	c.beginTrip(now)
	c.endTrip(now.Add(200*time.Millisecond), Permit{serial: 20, sent: now.Add(150 * time.Millisecond)})
	if rate := c.Rate(); rate < 1 {
		t.Errorf("the rate is %v", rate)
	}
}

// A block does not keep the rate low where answers take longer than the seconds that are counted.
func TestBlockWithSlowAnswers(t *testing.T) {
	for _, latency := range []time.Duration{20 * ms, 300 * ms, time.Second, 3 * time.Second, 7 * time.Second, 9 * time.Second, 20 * time.Second} {
		w := newWorld()
		v := &vendor{world: w, least: latency, most: latency * 3 / 2, status: Refused, quiet: true,
			limiter: &clienttest.Penalty{Limiter: &clienttest.Bucket{Rate: 40, Burst: 40}, Block: 20 * time.Second}}
		newClient(w, v, 1<<30, Options{})
		w.run(10 * minute)
		before := v.served
		w.run(20 * minute)
		if rate := float64(v.served-before) / 1200; rate < 30 {
			t.Errorf("latency %v: %.1f/s of 40/s", latency, rate)
		}
	}
}
