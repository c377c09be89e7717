package limits

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// A run that starts with what an earlier run has learned meets no limit again, and needs no long silence.
func TestNextRun(t *testing.T) {
	for _, tt := range []struct {
		name string
		make func() clienttest.Limiter
	}{
		{"prolonged block of 60 s", func() clienttest.Limiter {
			return &clienttest.Penalty{Limiter: &clienttest.Sliding{Number: 20, Window: time.Second}, Block: minute, Prolonged: true}
		}},
		{"600/min", func() clienttest.Limiter { return &clienttest.Fixed{Number: 600, Window: minute} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := func(o Options) (*client, *vendor) {
				w := newWorld()
				v := &vendor{world: w, least: 20 * ms, most: 30 * ms, status: Refused, limiter: tt.make()}
				c := newClient(w, v, 1_000_000, o)
				c.jitter = ms / 2
				w.run(15 * minute)
				return c, v
			}
			first, _ := run(Options{})
			learned := first.limits.Learned()
			next, v := run(Options{Learned: learned})
			start, refused := v.arrivals[0].at, 0
			for _, a := range v.arrivals {
				if a.refused && a.at.Sub(start) < 100*time.Second {
					refused++
				}
			}
			if t.Logf("learned: %v; %d answers, then %d; %d refused at the start", learned, first.doneOK, next.doneOK, refused); refused > 0 || next.doneOK < first.doneOK*95/100 {
				t.Errorf("want no refusals at the start, and about as many answers")
			}
		})
	}
}

// Starts that are stopped in a block, or begin in one, keep what the block has shown, also where the caller gives a rate.
func TestStartsInBlocks(t *testing.T) {
	for _, rate := range []float64{0, 400} {
		for name, lengths := range map[string][]time.Duration{
			"begun in a block":               {10 * time.Second, 10 * time.Second, 60 * time.Second, 60 * time.Second, 5 * minute},
			"stopped after a rate was found": {2 * minute, minute, minute, 4 * minute},
		} {
			t.Run(fmt.Sprintf("%s, --rate %g", name, rate), func(t *testing.T) {
				w, blocks := newWorld(), 0
				v := &vendor{world: w, least: 300 * ms, most: 500 * ms, status: Refused}
				v.limiter = &clienttest.Penalty{Limiter: &clienttest.Bucket{Rate: 130, Burst: 130}, Block: 40 * time.Second}
				for learned, i := (Learned{}), 0; i < len(lengths); i++ {
					c := newClient(w, v, 1_000_000, Options{Rate: rate, Learned: learned})
					c.jitter, c.sleeps = ms/2, true
					w.run(lengths[i])
					learned = c.limits.Learned()
					w.events = nil
					v.working = 0
				}
				for i, a := range v.arrivals {
					if a.refused && !v.arrivals[max(0, i-1)].refused {
						blocks++
					}
				}
				if t.Logf("%d blocks", blocks); blocks > 4 {
					t.Errorf("%d blocks", blocks)
				}
			})
		}
	}
}

// What was learned counts against the caller's rate only for a short time after a block.
func TestCounts(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	block := Learned{Rate: 120, Refused: 130, Silence: minute, At: now.Add(-minute)}
	with := func(change func(*Learned)) Learned { l := block; change(&l); return l }
	for _, tt := range []struct {
		name    string
		learned Learned
		rate    float64
		want    bool
	}{
		{"no rate is given", Learned{Rate: 120}, 0, true},
		{"a higher rate than that of the block", block, 400, true},
		{"a lower one", block, 100, false},
		{"no limit at all", block, math.Inf(1), false},
		{"an old block", with(func(l *Learned) { l.At = now.Add(-5 * minute) }), 400, false},
		{"a clock that was ahead", with(func(l *Learned) { l.At = now.Add(time.Hour) }), 400, true},
		{"refusals without a block", with(func(l *Learned) { l.Silence = 0 }), 400, false},
	} {
		if got := tt.learned.Counts(tt.rate, now); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// A start with a lower rate, and one that is refused at once, forget nothing of what earlier ones have learned.
func TestLearnedStays(t *testing.T) {
	for _, tt := range []struct {
		name  string
		rate  float64
		limit float64
		lasts time.Duration
	}{
		{"a lower rate", 50, 130, 5 * time.Second},
		{"refused after two requests", 0, 2, 35 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			learned := Learned{Rate: 123, Refused: 130, Silence: 40 * time.Second, At: w.now, Number: 6000, Window: minute}
			v := &vendor{world: w, least: 20 * ms, most: 30 * ms, status: Refused, limiter: &clienttest.Penalty{Limiter: &clienttest.Bucket{Rate: tt.limit, Burst: tt.limit}, Block: 40 * time.Second}}
			c := newClient(w, v, 1_000_000, Options{Rate: tt.rate, Learned: learned})
			c.sleeps = true
			w.run(tt.lasts)
			if l := c.limits.Learned(); l.Rate != learned.Rate || l.Refused != learned.Refused || l.Number != learned.Number {
				t.Errorf("learned %+v", l)
			}
		})
	}
}

// A run that was stopped before it kept a rate for long has learned a low rate. The next run does not stay at it.
func TestLearnedRateFarBelowTheRefusedOne(t *testing.T) {
	c, now := newController(Options{Learned: Learned{Rate: 15, Refused: 100, Silence: 10 * time.Second}})
	sends(c, now, 2*minute, 0)
	if rate := c.Rate(); rate < 80 || rate > 100 {
		t.Errorf("%.0f/s after two minutes", rate)
	}
}

// What is known is described for people.
func TestLearnedInWords(t *testing.T) {
	all := Learned{Rate: 9.5, Refused: 10, Number: 600, Window: minute, Silence: 62 * time.Second}
	for want, l := range map[string]Learned{
		"nothing": {},
		"9.5 requests/s, 600 requests in 1m0s, 1m2s of silence after a block": all,
	} {
		if got := l.String(); got != want || !l.IsValid() {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	all.Window = 0
	if all.IsValid() {
		t.Error("a window without a length is valid")
	}
}

// A start knows that the service refuses requests, and so takes no failures for refusals.
func TestStartThatKnowsRefusals(t *testing.T) {
	for _, tt := range []struct {
		name    string
		learned Learned
		tests   bool
	}{{"nothing is known", Learned{}, true}, {"it refuses", Learned{Refuses: true}, false}} {
		c, now := newController(Options{Learned: tt.learned})
		tested := false
		for i := range 400 {
			now = now.Add(20 * ms)
			signal := Answered
			if i > 200 && i%2 == 0 {
				signal = Failed
			}
			c.End(now.Add(10*ms), c.begin(now, true), Result{Signal: signal})
			tested = tested || c.faults.test.stage != noTest
		}
		if tested != tt.tests {
			t.Errorf("%s: tested %v", tt.name, tested)
		}
		if learned := c.Learned(); learned.Refuses != tt.learned.Refuses {
			t.Errorf("%s: learned %+v", tt.name, learned)
		}
	}
}

// A run of half a minute at a low rate has learned the rate that it kept.
func TestShortRunHasLearned(t *testing.T) {
	w := newWorld()
	v := &vendor{world: w, least: 50 * ms, most: 80 * ms, status: Refused, limiter: &clienttest.Bucket{Rate: 2, Burst: 1}}
	c := newClient(w, v, 1<<30, Options{})
	w.run(35 * time.Second)
	if learned := c.limits.Learned(); learned.Rate < 1.2 || learned.Rate > 2.2 {
		t.Errorf("learned %+v of 2/s", learned)
	}
}
