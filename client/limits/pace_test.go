package limits

import (
	"math"
	"testing"
	"time"
)

// sends sends for the duration d what the controller allows, with timers that are late, and
// returns the sending times.
func sends(c *Controller, now time.Time, d, late time.Duration) (sent []time.Time) {
	for end := now.Add(d); now.Before(end); {
		d := c.Next(now, Queue{First: true})
		if d.Action == Wait {
			now = now.Add(d.For + late)
			continue
		}
		c.End(now, d.Permit, Result{Signal: Answered})
		sent = append(sent, now)
	}
	return sent
}

// The rate is used to the full and never exceeded by more than one request in a second, and
// requests are evenly spaced, also after a pause.
func TestRate(t *testing.T) {
	for _, tt := range []struct {
		rate  float64
		late  time.Duration
		used  float64 // share of the rate, at least
		least float64 // the shortest time between two requests, in intervals of the rate
	}{
		{1, 0, 0.98, 1},
		{50, 500 * time.Microsecond, 0.95, 1},
		{300, time.Millisecond, 0.97, 0},
		{300, 100 * time.Microsecond, 0.98, 0},
		{2000, time.Millisecond, 0.98, 0},
	} {
		c, now := newController(Options{Rate: tt.rate})
		for range 2 {
			now = now.Add(10 * time.Minute)
			sent := sends(c, now, 20*time.Second, tt.late)
			if used := float64(len(sent)) / 20 / tt.rate; used < tt.used && tt.rate > 1 {
				t.Errorf("%v/s: %.3f of it used", tt.rate, used)
			}
			first := 0
			for i, at := range sent {
				for at.Sub(sent[first]) >= time.Second {
					first++
				}
				if most := int(tt.rate) + 1; i-first+1 > most {
					t.Fatalf("%v/s: %d requests in a second", tt.rate, i-first+1)
				}
				if i > 0 {
					if gap := at.Sub(sent[i-1]).Seconds() * tt.rate; gap < tt.least-1e-6 {
						t.Fatalf("%v/s: requests %d and %d are %.3f of an interval apart", tt.rate, i, i+1, gap)
					}
				}
			}
		}
	}
}

func TestStatedRateIsKeptTo(t *testing.T) {
	c, now := newController(Options{})
	c.End(now, c.begin(now, true), Result{Signal: Answered, Rate: 100})
	if used := len(sends(c, now, time.Minute, 0)); used > 6000 || used < 5000 {
		t.Errorf("%d requests in a minute at 100/s", used)
	}
}

func TestLearnedRateIsCheckedAgain(t *testing.T) {
	c, now := newController(Options{Learned: Learned{Rate: 200}})
	if got := c.Rate(); got > 200 || got < 180 {
		t.Errorf("starts at %v/s", got)
	}
	if got := c.Learned().Rate; got != 200 {
		t.Errorf("has learned %v/s", got)
	}
	if sends(c, now, 5*time.Second, 0); c.Rate() < 250 {
		t.Errorf("%v/s after 5 s without a refusal", c.Rate())
	}
}

// While first attempts wait, a third of the requests are retries.
func TestRetriesAreAMinority(t *testing.T) {
	c, now := newController(Options{Rate: math.Inf(1)})
	count := func(q Queue) (retries int) {
		for range 300 {
			d := c.Next(now, q)
			c.End(now, d.Permit, Result{Signal: Answered})
			if d.Action == SendRetry {
				retries++
			}
		}
		return retries
	}
	if n := count(Queue{First: true, Retry: true}); n < 95 || n > 110 {
		t.Errorf("%d of 300 requests are retries", n)
	}
	if n := count(Queue{Retry: true}); n != 300 {
		t.Errorf("%d of 300 requests are retries while only retries wait", n)
	}
}

// No response makes the run wait for longer than MaxWait.
func TestLongestWait(t *testing.T) {
	for name, r := range map[string]Result{
		"a block":  {Signal: Refused, Wait: 24 * time.Hour},
		"a window": {Signal: Answered, Ends: 24 * time.Hour},
	} {
		c, now := newController(Options{MaxWait: time.Minute})
		for d := c.Next(now, Queue{First: true}); d.For < 10*time.Second; d = c.Next(now, Queue{First: true}) {
			if d.Action == SendFirst {
				c.End(now, d.Permit, r)
			}
			now = now.Add(d.For)
		}
		d := c.next(t, now, Wait)
		if d.For < 59*time.Second || d.For > time.Minute+time.Second {
			t.Errorf("%s: waits for %v", name, d.For)
		}
		c.next(t, now.Add(d.For), SendFirst)
	}
}

// A request that could not be sent lowers the number in flight.
func TestUnsent(t *testing.T) {
	c, now := newController(Options{Rate: math.Inf(1), InFlight: 100})
	var permits []Permit
	for range 20 {
		permits = append(permits, c.begin(now, true))
	}
	c.End(now, permits[0], Result{Signal: Unsent})
	c.next(t, now, Wait)
	c.End(now, permits[1], Result{Signal: Answered})
	c.next(t, now, SendFirst)
}

// A low rate rises once the service allows more, however short the answers are beside the time between two requests.
func TestLowRateRises(t *testing.T) {
	for _, latency := range []time.Duration{5 * ms, 90 * ms, 300 * ms, time.Second} {
		for _, rate := range []float64{0.1, 0.5, 2} {
			w := newWorld()
			v := &vendor{world: w, least: latency, most: latency * 11 / 10, status: Refused}
			c := newClient(w, v, 1<<30, Options{Learned: Learned{Rate: rate, Refused: rate}})
			c.sleeps = true
			for range 120 {
				if w.run(10 * time.Second); c.limits.Learned().Rate > 5*rate {
					break
				}
			}
			if got := c.limits.Learned().Rate; got < 5*rate {
				t.Errorf("%v, from %v/s: served %.3g/s after 20 minutes", latency, rate, got)
			}
		}
	}
}
