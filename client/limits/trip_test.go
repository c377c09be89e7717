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

// refusedRetries returns a controller of a run in which one request was answered, and 20 retries were refused at the time.
func refusedRetries() (*Controller, time.Time) {
	c, now := newController(Options{Rate: math.Inf(1)})
	c.End(now.Add(20*ms), c.begin(now, true), Result{Signal: Answered})
	now = now.Add(minute)
	var permits []Permit
	for range 20 {
		permits = append(permits, c.begin(now, false))
	}
	now = now.Add(20 * ms)
	for _, p := range permits {
		c.End(now, p, Result{Signal: Refused})
	}
	return c, now
}

// If the service refuses retries only, their inputs may be the cause. A repeated request may be admitted because it is alone, so
// a retry must be refused between two repeated requests that are answered.
func TestRefusedRetries(t *testing.T) {
	type step struct {
		action Action
		signal Signal
	}
	retries := Queue{Retry: true, Known: true, Proof: true}
	for _, tt := range []struct {
		name  string
		queue Queue
		steps []step
		state ServiceState // after the steps
		cause FailureCause // of the refusals
	}{
		{"the rate is the cause", retries, []step{{SendKnown, Answered}, {SendRetry, Answered}}, Up, CauseOutage},
		{"the inputs are the cause", retries, []step{{SendKnown, Answered}, {SendRetry, Refused}, {SendKnown, Answered}}, Up, CauseInput},
		{"everything is refused", retries, []step{{SendKnown, Refused}, {SendRetry, Refused}, {SendRetry, Refused}}, Doubt, CauseUnknown},
		{"it is refused again", retries, []step{{SendKnown, Answered}, {SendRetry, Refused}, {SendKnown, Refused}, {SendRetry, Refused}}, Limited, CauseOutage},
		{"no retry waits", Queue{Spent: true, Known: true, Proof: true}, []step{{SendKnown, Answered}}, Up, CauseInput},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, failed := refusedRetries()
			now := failed
			for i, step := range tt.steps {
				d := c.Next(now, tt.queue)
				for ; d.Action == Wait && d.For > 0; d = c.Next(now, tt.queue) {
					now = now.Add(d.For)
				}
				if d.Action != step.action {
					t.Fatalf("step %d: %+v", i, d)
				}
				now = now.Add(20 * ms)
				c.End(now, d.Permit, Result{Signal: step.signal})
			}
			if c.health.state != tt.state {
				t.Errorf("the state is %d", c.health.state)
			}
			if cause := c.CauseOf(now, failed, tt.queue, false); cause != tt.cause {
				t.Errorf("the cause is %d", cause)
			}
		})
	}
}

// An outage with 503 is no block: afterwards the run has its rate again. A second one after as many requests is taken for a block.
func TestOutageWith503(t *testing.T) {
	for _, rate := range []float64{0, 20} {
		w := newWorld()
		v := &vendor{world: w, least: 30 * ms, most: 45 * ms, status: Unavailable, limiter: &clienttest.Bucket{Rate: 30, Burst: 30}}
		start := w.now
		v.down = func() bool { at := w.now.Sub(start); return at > 30*time.Second && at < 70*time.Second }
		c := newClient(w, v, 1<<30, Options{Rate: rate})
		w.run(30 * time.Second)
		before := c.limits.Rate()
		w.run(65 * time.Second)
		if after := c.limits.Rate(); after < before*0.85 {
			t.Errorf("--rate %v: %.3g/s after an outage, %.3g/s before", rate, after, before)
		}
	}
}

// A repeated request whose answer comes late counts once: as admitted after some time, and no more when its answer comes.
func TestLateAnswerOfARepeatedRequest(t *testing.T) {
	c, now := refusedRetries()
	var known Permit
	for range 1000 {
		if d := c.Next(now, Queue{Retry: true, Known: true, Proof: true}); d.Action == SendKnown {
			known = d.Permit
		} else if c.health.tested {
			break
		}
		now = now.Add(ms)
	}
	c.End(now, known, Result{Signal: Answered})
	if c.health.state == Up || !c.trip.blamed.to.IsZero() {
		t.Errorf("the inputs are blamed, although no retry was refused since the trip: state %d", c.health.state)
	}
}

// A silence is shorter after a block that was shorter than the silence.
func TestSilencesBecomeShorter(t *testing.T) {
	w := newWorld()
	start := w.now
	v := &vendor{world: w, least: 20 * ms, most: 30 * ms, status: Refused, quiet: true, downResult: Result{Signal: Refused}}
	v.down = func() bool {
		at := w.now.Sub(start)
		return at > 5*minute && at < 6*minute || at > 20*minute && at%(20*minute) < 5*time.Second
	}
	c := newClient(w, v, 1<<30, Options{Rate: 20})
	w.run(15 * minute)
	long := c.limits.trip.silence
	w.run(100 * minute)
	if short := c.limits.trip.silence; long < minute || short > 15*time.Second {
		t.Errorf("a silence of %v after a minute of refusals, then %v after 5 s", long, short)
	}
}

// A burst of a bucket makes the first trip at a low rate. A trip soon after the next silence, at a higher rate, tells more than that one.
func TestTripAboveTheRefusedRate(t *testing.T) {
	for _, rate := range []float64{45, 60} {
		w := newWorld()
		v := &vendor{world: w, least: 20 * ms, most: 30 * ms, status: Refused, quiet: true,
			limiter: &clienttest.Penalty{Limiter: &clienttest.Bucket{Rate: 30, Burst: 6}, Block: 20 * time.Second}}
		c := newClient(w, v, 1<<30, Options{Rate: rate})
		c.jitter, c.sleeps = ms/2, true
		w.run(40 * minute)
		if share := float64(v.served) / 2400 / 30; share < 0.55 {
			t.Errorf("--rate %v: %.2f of the limit", rate, share)
		}
	}
}

// A service is asked again at the time that it states. After a long outage whose stated times were wrong, the run resumes soon, too.
func TestStatedTimes(t *testing.T) {
	for _, tt := range []struct {
		down, states time.Duration // states: 0 for the time that is left
		latest       time.Duration // after the end
	}{
		{10 * minute, 0, 2 * time.Second},
		{5 * time.Hour, 0, 2 * time.Second},
		{5 * time.Hour, time.Hour, 16 * minute},
		{minute, 30 * time.Second, 32 * time.Second},
		{10 * minute, 30 * time.Second, 75 * time.Second},
		{3 * time.Hour, 30 * time.Second, 16 * minute},
		{20 * time.Hour, 30 * time.Second, 16 * minute},
		{3 * time.Hour, 5 * minute, 16 * minute},
	} {
		w := newWorld()
		v := &vendor{world: w, least: 20 * ms, most: 30 * ms, status: Refused, downWait: tt.states}
		ends := w.now.Add(minute + tt.down)
		v.down = func() bool {
			if tt.states == 0 {
				v.downWait = ends.Sub(w.now)
			}
			return w.now.After(ends.Add(-tt.down)) && w.now.Before(ends)
		}
		newClient(w, v, 1<<30, Options{Rate: 20})
		w.run(minute + tt.down)
		before := v.served
		w.run(tt.latest)
		if v.served == before {
			t.Errorf("%v, states %v: no answer %v after the end", tt.down, tt.states, tt.latest)
		}
	}
}
