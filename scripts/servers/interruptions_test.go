package servers

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// The directives of a rate limit whose refusals have nginx's own status.
const limit503 = "limit_req zone=keys burst=30 nodelay;"

// interruptions are cases of a rate limit in which servers are reloaded, restarted or dead.
func interruptions() []scenario {
	return []scenario{
		{"A12 nginx reloaded every 5 s", false, of(reloaded())},
		{"A13 nginx restarted twice", false, of(restarted())},
		{"A14 the service dead for 30 s", false, of(dead(limited(records, limit503), 30*time.Second))},
		{"A15 one request in 20 hangs", false, of(hanging())},
	}
}

func reloaded() plan {
	p := limited(records, limit503)
	p.during = func(s *stage, stop <-chan struct{}) error {
		return s.every(5*time.Second, stop, func() error { return s.nginx.Reload(func(*nginxConfig) {}) })
	}
	return p
}

func restarted() plan {
	const down = time.Second
	p := limited(records, limit503)
	p.atMost += 2 * down
	p.lost = duringCuts
	p.during = func(s *stage, stop <-chan struct{}) error {
		for _, moment := range []time.Duration{5 * time.Second, 12 * time.Second} {
			if !s.at(moment, stop) {
				return nil
			}
			if err := s.cut(s.nginx.Stop, down, s.nginx.Start); err != nil {
				return err
			}
		}
		return nil
	}
	return p
}

// dead stops the service once, 5 seconds after the beginning: proxies answer 502.
func dead(p plan, down time.Duration) plan {
	p.ideal += down
	p.atMost += down
	p.lost = duringCuts
	p.during = func(s *stage, stop <-chan struct{}) error {
		if !s.at(5*time.Second, stop) {
			return nil
		}
		return s.cut(func() error { s.service.Close(); return nil }, down, s.service.Open)
	}
	return p
}

// hanging is a service that never answers some requests: nginx gives up, with a 504.
func hanging() plan {
	p := limited(records, limit503+" proxy_read_timeout 2s;")
	var requests atomic.Int64
	p.service.Fails = func(string, int) clienttest.Fault {
		if requests.Add(1)%20 == 0 {
			return clienttest.Hang
		}
		return ""
	}
	return p
}

// changes is the case in which the limit changes while bulkcat runs.
func changes() []scenario {
	return []scenario{{"B the limit changes: 300, 50, 1,000 a second", false, changing}}
}

// changing expects the requests that are served in a second to be near the new limit from 15
// seconds after each change. The records last for a run that follows the limits: 20 seconds
// at 300/s, 30 at 50/s, and more than 25 at 1,000/s.
func changing(t *testing.T, row *line) {
	const settle, measured = 15 * time.Second, 10 * time.Second
	steps := []struct {
		at        time.Duration
		perSecond int
	}{{20 * time.Second, 50}, {50 * time.Second, 1000}}
	p := limited(37_000, limit503)
	p.ideal = 80 * time.Second
	p.atMost, p.refused = patient(p.ideal), 0
	p.during = func(s *stage, stop <-chan struct{}) error {
		for _, step := range steps {
			if !s.at(step.at, stop) {
				return nil
			}
			if err := s.nginx.Reload(func(c *nginxConfig) { c.HTTP = zone(step.perSecond) }); err != nil {
				return err
			}
		}
		return nil
	}
	o := perform(t, row, p)
	for _, step := range steps {
		from := o.stage.begun.Add(step.at + settle)
		got := served(o.arrivals, from, from.Add(measured))
		if limit := float64(step.perSecond); got < 0.9*limit || got > 1.1*limit {
			t.Errorf("%.0f/s served from %v after the change to %d/s", got, settle, step.perSecond)
		}
		t.Logf("limit %d/s: %.1f/s served", step.perSecond, got)
	}
}

// served is the number of sound answers in a second, in an interval.
func served(all []arrival, from, to time.Time) float64 {
	n := 0
	for _, a := range all {
		if a.status == 200 && !a.at.Before(from) && a.at.Before(to) {
			n++
		}
	}
	return float64(n) / to.Sub(from).Seconds()
}
