package limits

import (
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// only hides the type of a limiter, so that a vendor states no rate.
type only struct{ clienttest.Limiter }

// A fixed window is used as a window, however late answers come, and however far away its end is.
func TestFixedWindowDoesNotSlide(t *testing.T) {
	for _, tt := range []struct {
		name        string
		limiter     *clienttest.Fixed
		least, most time.Duration
		options     Options
		served      int // in 15 minutes
	}{
		{"answers of 0.1 to 6 s", &clienttest.Fixed{Number: 20, Window: minute}, 100 * ms, 6 * time.Second, Options{}, 300},
		{"a quota of a day", &clienttest.Fixed{Number: 100_000, Window: 20 * time.Hour}, 20 * ms, 30 * ms, Options{Rate: 20}, 17_700},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			v := &vendor{world: w, least: tt.least, most: tt.most, status: Refused, limiter: only{tt.limiter}, states: true, quiet: true}
			c := newClient(w, v, 1_000_000, tt.options)
			c.jitter, c.sleeps = ms/2, true
			for at := range 15 {
				if w.run(minute); c.limits.window.slides {
					t.Fatalf("taken for a sliding window in minute %d", at)
				}
			}
			if v.served < tt.served*98/100 || v.refused > v.served*5/100 {
				t.Errorf("served %d of %d, refused %d", v.served, tt.served, v.refused)
			}
		})
	}
}

// The rate of a window that slides is estimated from the requests in the window, even if the run has sent many before.
func TestRateOfASlidingWindow(t *testing.T) {
	c, now := newController(Options{})
	answer := func(r Result) {
		r.Signal = Answered
		d := c.Next(now, Queue{First: true})
		c.End(now.Add(20*ms), d.Permit, r)
		now = now.Add(time.Second)
	}
	for range 1000 {
		answer(Result{})
	}
	for i := range 5 {
		answer(Result{Left: 50 - i, Ends: 20 * time.Second})
	}
	if rate := c.Rate(); !c.window.slides || rate < 3 || rate > 4 {
		t.Errorf("slides: %v, %.3g/s, want 70 in 20 s", c.window.slides, rate)
	}
}

// A window of five seconds that the run uses at a high rate stays a window if an answer states less than the whole of it.
func TestWindowOfFiveSeconds(t *testing.T) {
	w := newWorld()
	v := &vendor{world: w, least: 20 * ms, most: 30 * ms, status: Refused, limiter: only{&clienttest.Fixed{Number: 100, Window: 5 * time.Second, Aligned: true}}, states: true, quiet: true}
	c := newClient(w, v, 1_000_000, Options{})
	c.jitter, c.sleeps = ms/2, true
	w.run(15 * minute)
	if v.served < 17_500 || v.refused > v.served/100 {
		t.Errorf("served %d of 18000, refused %d", v.served, v.refused)
	}
}

// A run keeps to the rate of a sliding window that states its end.
func TestStatedSlidingWindow(t *testing.T) {
	w := newWorld()
	v := &vendor{world: w, least: 20 * ms, most: 30 * ms, status: Refused, limiter: only{&clienttest.Sliding{Number: 600, Window: minute}}, states: true, quiet: true}
	c := newClient(w, v, 1_000_000, Options{})
	c.jitter, c.sleeps = ms/2, true
	w.run(time.Hour)
	if v.served < 35_300 || v.refused > 30 {
		t.Errorf("served %d of 36000, refused %d", v.served, v.refused)
	}
}

// A service that states with each answer that nothing is left is used at the rate that it serves.
func TestNothingIsEverLeft(t *testing.T) {
	for _, ends := range []time.Duration{5 * time.Second, 30 * time.Second, time.Hour} {
		w := newWorld()
		v := &vendor{world: w, least: 80 * ms, most: 120 * ms, rate: 50, burst: 20, status: Refused, limiter: emptyWindow{ends}, states: true, quiet: true}
		c := newClient(w, v, 3000, Options{Trial: 3})
		w.run(time.Hour)
		if c.doneOK != c.inputs || c.took() > 70*time.Second {
			t.Errorf("end of the window after %v: %d of %d after %v", ends, c.doneOK, c.inputs, c.took())
		}
	}
}

// emptyWindow admits all requests.
type emptyWindow struct{ ends time.Duration }

func (e emptyWindow) Admit(time.Time) (bool, int, time.Duration) { return true, 0, e.ends }

// A window of few requests is one, although answers state that nothing is left.
func TestWindowOfFewRequests(t *testing.T) {
	for number := 1; number <= 4; number++ {
		w := newWorld()
		v := &vendor{world: w, least: 20 * ms, most: 30 * ms, status: Refused, limiter: only{&clienttest.Fixed{Number: number, Window: 10 * time.Second}}, states: true, quiet: true}
		c := newClient(w, v, 1_000_000, Options{Trial: 3})
		c.jitter, c.sleeps = ms/2, true
		w.run(15 * minute)
		if c.limits.window.slides || v.served < number*85 {
			t.Errorf("%d requests: slides %t, served %d, refused %d", number, c.limits.window.slides, v.served, v.refused)
		}
	}
}
