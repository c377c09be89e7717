package limits

import (
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// A limiter that is not one of connections is not taken for one: neither a bucket whose few refusals fall among many admitted
// requests, nor a block whose refusals hang, so that the number in flight rises while everything is refused.
func TestNoLimitOfConnections(t *testing.T) {
	bucket := func(rate float64) func(*vendor) { return func(v *vendor) { v.rate, v.burst = rate, 2 } }
	block := func(v *vendor) {
		v.limiter = &clienttest.Penalty{Limiter: &clienttest.Bucket{Rate: 2.1, Burst: 1}, Block: 30 * time.Second, Prolonged: true}
		v.hangRefusal = 500 * ms
	}
	for _, tt := range []struct {
		name    string
		latency time.Duration
		change  func(*vendor)
		rate    float64 // of the limiter
		asked   float64 // Options.Rate
		inputs  int
		most    float64 // times the ideal time
	}{
		{"bucket, --rate twice", 100 * ms, bucket(300), 300, 600, 40000, 1.05},
		{"bucket, --rate 1.3", 100 * ms, bucket(300), 300, 390, 40000, 1.05},
		{"bucket, 200 ms, --rate twice", 200 * ms, bucket(300), 300, 600, 40000, 1.05},
		{"block that hangs", 20 * ms, block, 2.1, 2.145, 3785, 1.4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			v := &vendor{world: w, least: tt.latency * 4 / 5, most: tt.latency * 6 / 5, status: Refused, quiet: true}
			tt.change(v)
			c := newClient(w, v, tt.inputs, Options{Rate: tt.asked})
			w.run(10 * time.Hour)
			if ratio := c.took().Seconds() * tt.rate / float64(tt.inputs); ratio > tt.most {
				t.Errorf("%v (%.2f of the ideal), bound %d in flight", c.took(), ratio, c.limits.flight.most)
			}
		})
	}
}

// A request that hangs holds a connection until the timeout. If the service limits the connections, it refuses everything until
// then, and a little longer, because it notices the timeout late. The rate is not the cause.
func TestHangsHoldConnections(t *testing.T) {
	for _, tt := range []struct {
		name        string
		connections int
		latency     time.Duration
		every       int     // attempts, of which one hangs
		rate        float64 // Options.Rate
		most        float64 // times the time in which all connections are used
	}{
		{"one connection, --rate", 1, 30 * ms, 70, 50, 1.2},
		{"one connection", 1, 75 * ms, 70, 0, 1.2},
		{"one connection, slow", 1, 400 * ms, 80, 5, 1.2},
		{"five connections", 5, 150 * ms, 85, 57, 1.25},
	} {
		t.Run(tt.name, func(t *testing.T) {
			const hang, inputs = 30 * time.Second, 2500
			w := newWorld()
			v := &vendor{world: w, least: tt.latency * 4 / 5, most: tt.latency * 6 / 5, status: Refused, connections: tt.connections, late: 2 * ms, quiet: true}
			hung := 0
			v.fails = func(input, attempt int) (bool, time.Duration) {
				if chance(input, attempt) >= 1/float64(tt.every) {
					return false, 0
				}
				hung++
				return true, hang
			}
			c := newClient(w, v, inputs, Options{Rate: tt.rate})
			w.run(10 * time.Hour)
			least := (time.Duration(inputs)*tt.latency + time.Duration(hung)*hang) / time.Duration(tt.connections)
			if ratio := c.took().Seconds() / least.Seconds(); c.failed > 0 || ratio > tt.most {
				t.Errorf("%v of %v (%.2f), %d refused, %d failed", c.took(), least, ratio, v.refused, c.failed)
			}
		})
	}
}
