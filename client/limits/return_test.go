package limits

import (
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// After an outage a run returns to the rate before it, and keeps it.
func TestReturnsToTheRateBefore(t *testing.T) {
	const (
		perSecond = 12
		from      = 100 * time.Second
		outage    = time.Minute
		inputs    = perSecond * 300
	)
	for _, limited := range []struct {
		name string
		make func() clienttest.Limiter
	}{
		{"bucket", func() clienttest.Limiter { return &clienttest.Bucket{Rate: perSecond, Burst: 5} }},
		{"fixed", func() clienttest.Limiter { return &clienttest.Fixed{Number: perSecond, Window: time.Second} }},
		{"sliding", func() clienttest.Limiter { return &clienttest.Sliding{Number: perSecond, Window: time.Second} }},
		{"counting", func() clienttest.Limiter {
			return &clienttest.Sliding{Number: perSecond, Window: time.Second, CountsRefused: true}
		}},
	} {
		for _, down := range []struct {
			name   string
			after  time.Duration
			result Result
		}{
			{"refused connections", 0, Result{Signal: Failed, Broken: true}},
			{"no response", 30 * time.Second, Result{Signal: Failed}},
			{"500", 0, Result{Signal: Failed}},
			{"503", 0, Result{Signal: Unavailable}},
			{"429", 0, Result{Signal: Refused}},
		} {
			for _, latency := range []time.Duration{20 * ms, 200 * ms} {
				t.Run(limited.name+", "+down.name+", "+latency.String(), func(t *testing.T) {
					w := newWorld()
					start := w.now
					v := &vendor{world: w, least: latency, most: latency * 3 / 2, status: Refused, limiter: limited.make(), downAfter: down.after, downResult: down.result}
					v.down = func() bool { d := w.now.Sub(start); return d >= from && d < from+outage }
					c := newClient(w, v, inputs, Options{})
					c.jitter = ms / 2
					w.run(from + outage)
					for before := v.served; v.served == before && w.now.Sub(start) < time.Hour; {
						w.run(100 * ms)
					}
					back := w.now.Sub(start)
					w.run(10 * time.Second)
					lowest, highest := 1e9, 0.0
					for v.served < inputs-30*perSecond && w.now.Sub(start) < time.Hour {
						before := v.served
						w.run(10 * time.Second)
						rate := float64(v.served-before) / 10
						lowest, highest = min(lowest, rate), max(highest, rate)
					}
					w.run(time.Hour)
					ideal := outage + inputs/perSecond*time.Second
					t.Logf("back after %v, %.1f to %.1f/s, took %.3f of ideal, %d failed", back-from-outage, lowest, highest, c.took().Seconds()/ideal.Seconds(), c.failed)
					if lowest < 0.75*perSecond || highest > 1.15*perSecond || c.took() > ideal*12/10 || c.failed > 0 {
						t.Error("a target is missed")
					}
				})
			}
		}
	}
}
