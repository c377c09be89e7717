package limits

import (
	"testing"
	"time"
)

const (
	ms     = time.Millisecond
	minute = time.Minute
)

// TestCases simulates the limits and failures of real services. The targets of most cases: the
// run takes at most 1.25 of the ideal time and 3 seconds, and after 10 s at most 2% of the
// requests are refused.
func TestCases(t *testing.T) {
	nodelay := vendor{least: 20 * ms, most: 30 * ms, rate: 300, burst: 30}
	with := func(v vendor, change func(*vendor)) vendor { change(&v); return v }
	failing := func(share float64, times int) func(int, int) (bool, time.Duration) {
		return func(input, attempt int) (bool, time.Duration) {
			return chance(input, 0) < share && attempt <= times, 0
		}
	}
	for _, tt := range []struct {
		name    string
		vendor  vendor
		inputs  int
		options Options
		longest time.Duration
		refused float64
		failed  int
	}{
		{"429 bucket of 30", with(nodelay, func(v *vendor) { v.status = Refused }), 6000, Options{}, 28 * time.Second, 0.02, 0},
		{"429 retry after 1s", with(nodelay, func(v *vendor) { v.status, v.wait = Refused, time.Second }), 6000, Options{}, 28 * time.Second, 0.02, 0},
		{"429 retry after 10s", with(nodelay, func(v *vendor) { v.status, v.wait = Refused, 10*time.Second }), 12000, Options{}, 110 * time.Second, 0.02, 0},
		{"503 bucket of 30", nodelay, 6000, Options{}, 28 * time.Second, 0.02, 0},
		{"503 queue of 60", with(nodelay, func(v *vendor) { v.burst, v.queued = 60, true }), 6000, Options{}, 28 * time.Second, 0.02, 0},
		{"503 bucket of 1", with(nodelay, func(v *vendor) { v.burst = 1 }), 6000, Options{}, 28 * time.Second, 0.02, 0},
		{"503 long run", nodelay, 12000, Options{}, 50 * time.Second, 0.015, 0},
		{"50/s", with(nodelay, func(v *vendor) { v.rate, v.burst = 50, 5 }), 2000, Options{}, 53 * time.Second, 0.05, 0},
		{"5/s", with(nodelay, func(v *vendor) { v.rate, v.burst = 5, 5 }), 1000, Options{}, 253 * time.Second, 0.4, 0}, // failures count as refusals only on evidence
		{"limit_conn 16", vendor{least: 20 * ms, most: 30 * ms, connections: 16}, 6000, Options{}, 15 * time.Second, 0.06, 0},
		{"limit_conn 16, long", vendor{least: 20 * ms, most: 30 * ms, connections: 16}, 12000, Options{}, 30 * time.Second, 0.05, 0},
		{"limit_conn 4", vendor{least: 20 * ms, most: 30 * ms, connections: 4}, 6000, Options{}, 50 * time.Second, 0.05, 0},
		{"limit_conn 1", vendor{least: 20 * ms, most: 30 * ms, connections: 1}, 1000, Options{}, 35 * time.Second, 0.06, 0},
		{"9% fail twice", vendor{least: 20 * ms, most: 30 * ms, fails: failing(0.09, 2)}, 3000, Options{}, 20 * time.Second, 1, 0},
		{"2% fail three times", vendor{least: 20 * ms, most: 30 * ms, fails: failing(0.02, 3)}, 3000, Options{}, 20 * time.Second, 1, 0},
		{"2% fail three times, 0 ms", vendor{least: ms / 10, most: ms / 2, fails: failing(0.02, 3)}, 20000, Options{}, 20 * time.Second, 1, 0},
		{"30% fail once", vendor{least: 20 * ms, most: 30 * ms, fails: failing(0.3, 1)}, 6000, Options{}, 40 * time.Second, 1, 0},
		{"9% fail twice, 300/s", with(nodelay, func(v *vendor) { v.fails = failing(0.09, 2) }), 6000, Options{}, 50 * time.Second, 0.08, 0},
		{"5% hang for 2 s, 300/s", with(nodelay, func(v *vendor) {
			v.fails = func(input, attempt int) (bool, time.Duration) {
				return chance(input, attempt) < 0.05, 2 * time.Second
			}
		}), 6000, Options{}, 33 * time.Second, 0.03, 0},
		{"1% fail always", vendor{least: 20 * ms, most: 30 * ms, fails: failing(0.01, 1000)}, 3000, Options{CanAsk: true}, 60 * time.Second, 1, 32},
		{"1% fail always, quota unknown", vendor{least: 20 * ms, most: 30 * ms, fails: failing(0.01, 1000)}, 3000, Options{}, 60 * time.Second, 1, 32},
		{"5 of 500 fail always", vendor{least: 20 * ms, most: 30 * ms, fails: failing(0.01, 1000)}, 500, Options{CanAsk: true}, 60 * time.Second, 1, 5},
		{"429 latency 10 s, 100/s", vendor{least: 10 * time.Second, most: 10 * time.Second, rate: 100, burst: 10, status: Refused}, 5000, Options{}, 90 * time.Second, 0.03, 0},
		{"no limit", vendor{least: 20 * ms, most: 30 * ms}, 10000, Options{}, 12 * time.Second, 0, 0},
		{"no limit, 0 ms", vendor{least: ms / 10, most: ms / 2}, 20000, Options{}, 5 * time.Second, 0, 0},
		{"rate 300 of 300, bucket of 1", with(nodelay, func(v *vendor) { v.burst = 1 }), 6000, Options{Rate: 300}, 21 * time.Second, 0.02, 0},
		{"rate 300 of 300, bucket of 30", nodelay, 6000, Options{Rate: 300}, 21 * time.Second, 0.02, 0},
		{"rate 450 of 300, retry after 1s", with(nodelay, func(v *vendor) { v.status, v.wait = Refused, time.Second }), 6000, Options{Rate: 450}, 23 * time.Second, 0.02, 0},
		{"rate 900 of 300, bucket of 1", with(nodelay, func(v *vendor) { v.burst = 1 }), 6000, Options{Rate: 900}, 21 * time.Second, 0.02, 0},
		{"rate 240 of 300", nodelay, 6000, Options{Rate: 240}, 26 * time.Second, 0.02, 0},
		{"rate 50 of 50, bucket of 1", with(nodelay, func(v *vendor) { v.rate, v.burst = 50, 1 }), 1000, Options{Rate: 50}, 21 * time.Second, 0.02, 0},
		{"rate 50 of 50, bucket of 0", with(nodelay, func(v *vendor) { v.rate, v.burst = 50, 0.2 }), 1000, Options{Rate: 50}, 21 * time.Second, 0.02, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			v := tt.vendor
			v.world = w
			if v.status == 0 {
				v.status = Failed
			}
			c := newClient(w, &v, tt.inputs, tt.options)
			c.jitter = ms / 2
			w.run(10 * tt.longest)
			refused := v.refusedAfter(c.start, 10*time.Second)
			t.Logf("took %.1fs of %v, %d ok, %d failed, refused %d (%.2f%% after 10 s), busiest second %d, most in flight %d, background %.3f, rate %.0f, ceiling %.0f, outages %d, asked %d", c.took().Seconds(), tt.longest,
				c.doneOK, c.failed, v.refused, 100*refused, v.busiest(), c.mostInFlight, c.limits.faults.usual.share(), c.limits.pace.rate, c.limits.pace.refused, c.outages, c.asks)
			if c.took() > tt.longest || refused > tt.refused || c.failed != tt.failed || c.doneOK != tt.inputs-tt.failed || c.outages > 0 {
				t.Error("a target is missed")
			}
			if r := tt.options.Rate; r > 0 && v.busiest() > int(r)+1 {
				t.Errorf("%d requests in a second", v.busiest())
			}
		})
	}
}

// 45 s after the limit has changed, the rate is within 10% of the new limit.
func TestLimitChanges(t *testing.T) {
	w := newWorld()
	v := &vendor{world: w, least: 20 * ms, most: 30 * ms, rate: 300, burst: 30, status: Failed}
	newClient(w, v, 1_000_000, Options{})
	for _, limit := range []float64{300, 50, 1000, 300, 1000} {
		v.rate, v.burst = limit, max(limit/10, 1)
		w.run(45 * time.Second)
		before := v.served
		w.run(5 * time.Second)
		served := float64(v.served-before) / 5
		if t.Logf("%.0f/s of %.0f/s", served, limit); served < 0.9*limit || served > 1.1*limit {
			t.Errorf("want %.0f/s", limit)
		}
	}
}

// Two runs share one limit.
func TestTwoRuns(t *testing.T) {
	for _, later := range []time.Duration{0, 10 * time.Second} {
		w := newWorld()
		v := &vendor{world: w, least: 20 * ms, most: 30 * ms, rate: 300, burst: 30, status: Refused}
		a := newClient(w, v, 1_000_000, Options{})
		w.run(later)
		b := newClient(w, v, 1_000_000, Options{})
		w.run(10 * time.Second)
		first, second := a.doneOK, b.doneOK
		w.run(60 * time.Second)
		first, second = (a.doneOK-first)/60, (b.doneOK-second)/60
		if t.Logf("%d/s and %d/s", first, second); first+second < 280 || first < 100 || second < 100 {
			t.Error("want 280/s together, and 100/s each")
		}
	}
}

// A run waits for a service that is down, and goes on soon after the outage.
func TestOutages(t *testing.T) {
	for _, tt := range []struct {
		name        string
		from, until time.Duration
		status      Signal
		wait        time.Duration
	}{
		{"1 s", 5 * time.Second, 6 * time.Second, Failed, 0},
		{"30 s", 5 * time.Second, 35 * time.Second, Failed, 0},
		{"30 s, 429", 5 * time.Second, 35 * time.Second, Refused, 0},
		{"30 s, retry after 10s", 5 * time.Second, 35 * time.Second, Refused, 10 * time.Second},
		{"an hour", 5 * time.Second, time.Hour, Failed, 0},
		{"from the start", 0, 30 * time.Second, Failed, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			start := w.now
			v := &vendor{world: w, least: 20 * ms, most: 30 * ms, rate: 300, burst: 30, status: tt.status, downWait: tt.wait}
			v.down = func() bool { d := w.now.Sub(start); return d >= tt.from && d < tt.until }
			c := newClient(w, v, 6000, Options{CanAsk: false, MaxWait: time.Minute})
			w.run(3 * time.Hour)
			during := 0
			for _, a := range v.arrivals {
				if d := a.at.Sub(start); d >= tt.from && d < tt.until {
					during++
				}
			}
			down := tt.until - tt.from
			longest := 25*time.Second + 3*time.Second + down + min(down/8, 2*time.Minute) + tt.wait
			t.Logf("took %v of %v, %d failed, %d outages, %d requests meanwhile", c.took(), longest, c.failed, c.outages, during)
			seen, isLong := c.outages, down > 10*time.Second
			if tt.status == Refused { // a service that refuses everything is limiting
				seen = c.limited
			}
			if c.took() > longest || c.failed > 0 || c.outages+c.limited > seen || seen > 1 || isLong && seen != 1 {
				t.Error("a target is missed")
			}
		})
	}
}

// If every request fails, the run reports an outage or a block within 30 s and stops after MaxOutage.
func TestNothingWorks(t *testing.T) {
	for _, status := range []Signal{Refused, Failed} {
		for _, wait := range []time.Duration{0, time.Second} {
			w := newWorld()
			v := &vendor{world: w, least: 20 * ms, most: 30 * ms, status: status, downWait: wait, down: func() bool { return true }}
			c := newClient(w, v, 2000, Options{MaxOutage: 40 * time.Second})
			w.run(time.Hour)
			t.Logf("outage after %v, stopped after %v, %d requests", c.outageAt.Sub(c.start), c.took(), len(v.arrivals))
			seen := c.outages
			if status == Refused {
				seen = c.limited
			}
			if seen != 1 || c.outages+c.limited != 1 || c.outageAt.Sub(c.start) > 30*time.Second || c.stopped == nil || c.took() > 45*time.Second || c.failed > 0 {
				t.Errorf("%d outages, stopped by %v after %v, %d failed", c.outages, c.stopped, c.took(), c.failed)
			}
		}
	}
}

// A single response that asks for a wait of a day, among answers, does not stop the run.
func TestOneLongWait(t *testing.T) {
	w := newWorld()
	v := &vendor{world: w, least: 20 * ms, most: 30 * ms, status: Refused, downWait: 24 * time.Hour}
	n := 0
	v.down = func() bool { n++; return n == 100 }
	c := newClient(w, v, 3000, Options{})
	w.run(25 * time.Hour)
	if c.doneOK != 3000 || v.arrivals[2900].at.Sub(c.start) > 20*time.Second {
		t.Errorf("%d done, number 2900 after %v", c.doneOK, v.arrivals[2900].at.Sub(c.start))
	}
}

// A service that queues requests, and that dies every 25 s, is asked at its rate in between. In the meantime its
// address refuses connections, or a proxy answers with 502.
func TestKills(t *testing.T) {
	const rate, every, kills = 40, 25 * time.Second, 12
	for _, tt := range []struct {
		name  string
		queue float64 // seconds
		down  time.Duration
		wait  time.Duration // Retry-After while the service is down
		proxy bool
	}{
		{"queue of 1 s", 1, time.Second, 0, false},
		{"queue of 10 s", 10, time.Second, 0, false},
		{"down for 4 s", 10, 4 * time.Second, 0, false},
		{"down for 4 s behind a proxy", 10, 4 * time.Second, 0, true},
		{"down for 4 s behind a proxy, retry after 2s", 10, 4 * time.Second, 2 * time.Second, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			v := &vendor{world: w, least: 20 * ms, most: 30 * ms, rate: rate, burst: rate * tt.queue, queued: true,
				status: Refused, wait: time.Second, downWait: tt.wait, inFlight: map[int]func(){}, proxy: tt.proxy}
			up := w.now
			v.down = func() bool { return w.now.Before(up) }
			c := newClient(w, v, 1_000_000, Options{})
			c.jitter = ms / 2
			for range kills {
				w.run(w.between(every/2, every*3/2))
				v.kill()
				up = w.now.Add(tt.down)
			}
			share := float64(v.served) / rate / (w.now.Sub(c.start) - kills*tt.down).Seconds()
			t.Logf("used %.3f, failed %d, refused %d, rate %.0f, ceiling %.0f", share, c.failed, v.refused, c.limits.pace.rate, c.limits.pace.refused)
			if share < 0.95 || c.failed > 0 {
				t.Errorf("%.3f of the rate is used, %d failed", share, c.failed)
			}
		})
	}
}
