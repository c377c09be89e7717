package limits

import (
	"math"
	"testing"
	"time"
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
