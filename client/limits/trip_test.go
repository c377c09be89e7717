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

// Blocks at low rates, where a second has few requests, leave most of the rate.
func TestBlocksAtLowRates(t *testing.T) {
	for _, limit := range []float64{1, 2, 5, 10} {
		for _, times := range []float64{0, 1.05, 1.2, 10} { // of the caller's rate; 0 for none
			w := newWorld()
			v := &vendor{world: w, least: 30 * ms, most: 45 * ms, status: Refused, quiet: true,
				limiter: &clienttest.Penalty{Limiter: &clienttest.Bucket{Rate: limit, Burst: max(1, limit/2)}, Block: 20 * time.Second}}
			c := newClient(w, v, 1<<30, Options{Rate: times * limit})
			c.jitter, c.sleeps = ms/2, true
			w.run(20 * minute)
			if share := float64(v.served) / 1200 / limit; share < 0.7 {
				t.Errorf("%.2f of %v/s, --rate %v", share, limit, times*limit)
			}
		}
	}
}
