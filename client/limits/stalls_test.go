package limits

import (
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// A refusal during a test of the failures ends the test, and the rate returns.
func TestRefusalInATest(t *testing.T) {
	w := newWorld()
	start := w.now
	var c *client
	refused := false
	v := &vendor{world: w, least: 20 * ms, most: 30 * ms, status: Refused, quiet: true, downResult: Result{Signal: Refused}}
	v.fails = func(input, attempt int) (bool, time.Duration) {
		d := w.now.Sub(start)
		return d > minute && d < minute+4*time.Second && chance(input, attempt) < 0.4, 0
	}
	v.down = func() bool {
		if refused || c.limits.faults.test.stage == noTest {
			return false
		}
		refused = true
		return true
	}
	c = newClient(w, v, 1<<30, Options{Rate: 200})
	w.run(5 * minute)
	before := v.served
	w.run(minute)
	if served := (v.served - before) / 60; !refused || served < 180 {
		t.Errorf("%d/s of 200/s are served, refused in a test: %t", served, refused)
	}
}

// After a long outage with 503, a short one ends soon, also in the next run.
func TestShortOutageAfterALongOne(t *testing.T) {
	for _, learned := range []Learned{{}, {Rate: 19, Silence: 0}} {
		w := newWorld()
		start := w.now
		v := &vendor{world: w, least: 20 * ms, most: 30 * ms, status: Unavailable, quiet: true}
		v.down = func() bool {
			d := w.now.Sub(start)
			return d > 10*minute && d < 70*minute || d > 180*minute && d < 180*minute+time.Second
		}
		c := newClient(w, v, 1<<30, Options{Rate: 20, Learned: learned})
		w.run(180*minute + time.Second)
		before := v.served
		w.run(10 * time.Second)
		if v.served == before {
			t.Errorf("no answer 10 s after an outage of a second; %v", c.limits.Learned())
		}
		if l := c.limits.Learned(); l.Silence != 0 {
			t.Errorf("an outage was learned as a block: %v", l)
		}
	}
}

// An outage at the start of a run does not keep the rate low for the night, nor for the nights after it.
func TestOutageAtTheStart(t *testing.T) {
	for _, status := range []Signal{Unavailable, Refused} {
		learned := Learned{}
		for night := range 3 {
			w := newWorld()
			start := w.now
			v := &vendor{world: w, least: 20 * ms, most: 30 * ms, status: Refused, quiet: true, limiter: &clienttest.Bucket{Rate: 200, Burst: 20}, downResult: Result{Signal: status}}
			v.down = func() bool {
				d := w.now.Sub(start)
				return night == 0 && d > 300*ms && d < 10*minute
			}
			c := newClient(w, v, 1<<30, Options{Learned: learned})
			w.run(120 * minute)
			before := v.served
			w.run(10 * minute)
			learned = c.limits.Learned()
			if served := (v.served - before) / 600; served < 150 {
				t.Errorf("night %d after an outage with %d: %d/s of 200/s; learned %v", night, status, served, learned)
			}
		}
	}
}

// A probe without an answer proves nothing: the failure before the probe may be due to an outage.
func TestUnansweredProbeIsNoProof(t *testing.T) {
	c, now := newController(Options{Rate: 100})
	q := Queue{First: true, Known: true, Proof: true}
	send := func() Permit {
		for {
			d := c.Next(now, q)
			if d.Action != Wait {
				return d.Permit
			}
			now = now.Add(max(d.For, ms))
		}
	}
	end := func(s Signal) {
		p := send()
		now = now.Add(5 * ms)
		c.End(now, p, Result{Signal: s})
	}
	for range 200 {
		end(Answered)
	}
	end(Failed) // the last attempt of a record
	failed := now
	for c.health.state == Up {
		end(Unavailable)
	}
	for range 6 { // hang
		send()
	}
	if cause := c.CauseOf(now, failed, q, true); cause == CauseRequest {
		t.Error("the failure counts, though nothing was answered since")
	}
}

// The rate of the caller is kept after a doubt, too.
func TestRateAfterADoubt(t *testing.T) {
	c, now := newController(Options{Rate: 0.1})
	var last time.Time
	for i := range 400 {
		d := c.Next(now, Queue{First: true})
		if d.Action == Wait {
			now = now.Add(max(d.For, ms))
			continue
		}
		if gap := now.Sub(last); gap < 10*time.Second {
			t.Fatalf("request %d follows after %v", i, gap)
		}
		last = now
		now = now.Add(50 * ms)
		signal := Answered
		if i > 10 && i < 60 {
			signal = Failed
		}
		c.End(now, d.Permit, Result{Signal: signal})
	}
}

// Requests that hang, and are refused at last, say nothing about the seconds in which nothing was sent.
func TestLateRefusals(t *testing.T) {
	for name, signals := range map[string][]Signal{
		"all refused":         {Refused},
		"refused or answered": {Refused, Answered},
		"refused or failed":   {Refused, Failed, Failed},
		"few answered":        {Refused, Refused, Refused, Refused, Refused, Refused, Answered},
	} {
		t.Run(name, func(t *testing.T) {
			c, now := newController(Options{InFlight: 64})
			q := Queue{First: true, Known: true, Proof: true}
			send := func(until time.Time) (Permit, bool) {
				for now.Before(until) {
					d := c.Next(now, q)
					if d.Action != Wait {
						return d.Permit, true
					}
					now = now.Add(max(min(d.For, 10*ms), ms))
				}
				return Permit{}, false
			}
			serve := func(over time.Duration) (served int) {
				for until := now.Add(over); ; served++ {
					p, ok := send(until)
					if !ok {
						return served
					}
					now = now.Add(5 * ms)
					c.End(now, p, Result{Signal: Answered})
				}
			}
			serve(time.Minute)
			for range 8 {
				var hanging []Permit
				for until := now.Add(25 * time.Second); ; {
					p, ok := send(until)
					if !ok {
						break
					}
					hanging = append(hanging, p)
				}
				for i, p := range hanging {
					now = now.Add(ms)
					c.End(now, p, Result{Signal: signals[i%len(signals)]})
				}
				serve(5 * time.Second)
			}
			if served := serve(2 * time.Minute); served < 20*120 {
				t.Errorf("%d requests were served in two minutes, at %v/s in the end", served, c.Rate())
			}
		})
	}
}

// Deaths of a second, again and again, are doubted as soon as the first: connections that cannot be made are no fault of
// inputs, of which more and more would have to fail in a row.
func TestShortDeaths(t *testing.T) {
	w := newWorld()
	start := w.now
	v := &vendor{world: w, least: 20 * ms, most: 30 * ms, downResult: Result{Signal: Failed, Broken: true, Unreached: true}}
	v.down = func() bool { return w.now.Sub(start)%(20*time.Second) > 19*time.Second }
	newClient(w, v, 1<<30, Options{Rate: 200})
	for death := range 12 {
		w.run(19*time.Second + 10*ms)
		before := len(v.arrivals)
		w.run(990 * ms)
		if sent := len(v.arrivals) - before; sent > 130 { // as many as in the half of a second before a doubt, and probes
			t.Errorf("death %d: %d requests in a second", death+1, sent)
		}
	}
}

// A resumed run finds by its failures that the service now limits to much less than an earlier run has learned.
func TestFailuresOfAResumedRun(t *testing.T) {
	for _, learned := range []float64{200, 500} {
		w := newWorld()
		v := &vendor{world: w, least: 2000 * ms, most: 2200 * ms, rate: 20, burst: 10, status: Failed, quiet: true}
		c := newClient(w, v, 1_000_000, Options{Learned: Learned{Rate: learned}})
		c.jitter, c.sleeps = ms/2, true
		w.run(30 * time.Second)
		if !c.limits.faults.limits || c.limits.Rate() > 30 {
			t.Errorf("from %v/s: %d requests have failed, and the rate is %.3g/s", learned, v.refused, c.limits.Rate())
		}
	}
}

// A server that shuts down takes no connections, but still answers older requests. The run waits for it instead of trying to
// connect again and again, and attempts without a connection count for no bound.
func TestServerThatEnds(t *testing.T) {
	c, now := newController(Options{Rate: 1000, MaxRequests: 1_000_000})
	var waiting []Permit
	for range 300 {
		d := c.Next(now, Queue{First: true})
		for d.Action == Wait && d.For > 0 {
			now = now.Add(d.For)
			d = c.Next(now, Queue{First: true})
		}
		if d.Action != SendFirst {
			break
		}
		waiting = append(waiting, d.Permit)
		if len(waiting) > 3 {
			c.End(now, waiting[0], Result{Signal: Answered})
			waiting = waiting[1:]
		}
	}
	refused := 0
	for range 5000 { // in 10 s
		now = now.Add(2 * ms)
		if len(waiting) > 0 && refused%100 == 99 { // now and then one of the last answers
			c.End(now, waiting[0], Result{Signal: Answered})
			waiting = waiting[1:]
		}
		if d := c.Next(now, Queue{First: true, Retry: true}); d.Action == SendFirst || d.Action == SendRetry {
			refused++
			c.End(now, d.Permit, Result{Signal: Failed, Broken: true, Unreached: true})
		}
	}
	t.Log(refused, "connections were tried")
	if made := c.budget.made; refused > 300 || made > 300 {
		t.Errorf("%d connections were tried in 10 s, and %d requests count", refused, made)
	}
}

// A service fails the first attempt for each input, and has the answer a second later. An outage does not hide that from a run
// which still has other inputs.
func TestFirstAttemptsFail(t *testing.T) {
	for name, begins := range map[string]time.Duration{"always": 0, "after a while": 10 * time.Second, "after a minute": minute} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			v := &vendor{world: w, rate: 50, burst: 10, status: Refused, least: 20 * ms, most: 30 * ms, quiet: true}
			begin := w.now.Add(begins)
			first := make(map[int]time.Time)
			v.fails = func(input, _ int) (bool, time.Duration) {
				if _, known := first[input]; !known {
					first[input] = w.now
				}
				return !w.now.Before(begin) && w.now.Sub(first[input]) < time.Second, 0
			}
			c := newClient(w, v, 4000, Options{})
			w.run(time.Hour)
			if c.doneOK != c.inputs || c.took() > 4*minute {
				t.Errorf("%d of %d after %v, %d failed", c.doneOK, c.inputs, c.took(), c.failed)
			}
		})
	}
}

// A test of the rate may conclude by chance, in a bad hour, that the failures are about the rate. The cuts that follow show that
// they are not.
func TestFailuresTakenForRefusals(t *testing.T) {
	for _, share := range []float64{0.1, 0.2, 0.36, 0.5} {
		w := newWorld()
		v := &vendor{world: w, least: 80 * ms, most: 120 * ms, quiet: true}
		v.fails = func(input, attempt int) (bool, time.Duration) { return chance(input, attempt) < share, 0 }
		c := newClient(w, v, 6000, Options{Rate: 50})
		c.limits.faults.limits = true
		w.run(10 * time.Hour)
		if ideal := seconds(6000 / (1 - share) / 50); c.took() > ideal*13/10 {
			t.Errorf("%.0f%% fail: %v, ideal %v", 100*share, c.took(), ideal)
		}
	}
}
