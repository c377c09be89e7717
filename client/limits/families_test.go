package limits

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"
)

// family is a kind of limiter with the marks that a run of 100 minutes has to reach.
type family struct {
	name    string
	make    func() limiter
	atOnce  int           // requests at once that the service works on; 0 for no limit
	inputs  int           // so many that the ideal run takes about 100 minutes
	ideal   time.Duration // of a run that knows the limiter
	most    float64       // times ideal
	beside  time.Duration // that the run may take longer
	refused float64       // share of the requests after 30 s
}

const minute = time.Minute

var full = flag.Bool("full", false, "simulate each family in each way")

func init() { flag.Uint64Var(&seed, "seed", seed, "of the simulations") }

func families() []family {
	const silent = 0.03
	of := func(name string, make func() limiter, inputs int, ideal time.Duration, most, refused float64) family {
		return family{name: name, make: make, inputs: inputs, ideal: ideal, most: most, refused: refused}
	}
	blocked := func(name string, block time.Duration, prolonged bool, perSecond int, inner func() limiter) family {
		f := of(name, func() limiter { return &penalty{limiter: inner(), block: block, prolonged: prolonged} }, 6000*perSecond, 100*minute, 1.15, 0.01)
		f.beside = 2 * block
		return f
	}
	all := []family{
		of("bucket 50/s", func() limiter { return &bucket{rate: 50, burst: 5} }, 300_000, 100*minute, 1.05, 0.015),
		of("bucket 5/s", func() limiter { return &bucket{rate: 5, burst: 5} }, 30_000, 100*minute, 1.05, 0.015),
		// Without a burst, a bucket refuses half of the requests at a rate just above its own.
		of("bucket 20/s of 1", func() limiter { return &bucket{rate: 20, burst: 1} }, 120_000, 100*minute, 1.15, 0.015),
		of("bucket 30/min", func() limiter { return &bucket{rate: 0.5, burst: 3} }, 3000, 100*minute, 1.05, 0.025), // three refusals in 50 requests are needed to see the limit
	}
	for _, aligned := range []bool{false, true} {
		name := map[bool]string{false: "fixed", true: "aligned"}[aligned]
		window := func(number int, window time.Duration, inputs int) family {
			ideal := time.Duration((inputs-1)/number) * window
			return of(fmt.Sprintf("%s %d in %v", name, number, window), func() limiter { return &fixed{number: number, window: window, aligned: aligned} }, inputs, ideal, 1.10, silent)
		}
		all = append(all, window(10, time.Second, 60_000), window(100, time.Second, 600_000), window(100, 10*time.Second, 60_000),
			window(600, minute, 60_000), window(5000, time.Hour, 10_000))
	}
	for _, counts := range []bool{false, true} {
		name, most, refused := "sliding", 1.10, silent
		if counts {
			name, most, refused = "counting sliding", 1.15, 0.025
		}
		all = append(all,
			of(name+" 100 in 1s", func() limiter { return &sliding{number: 100, window: time.Second, counts: counts} }, 300_000, 50*minute, most, refused),
			of(name+" 10 in 1s", func() limiter { return &sliding{number: 10, window: time.Second, counts: counts} }, 60_000, 100*minute, most, refused),
			of(name+" 600 in 1m", func() limiter { return &sliding{number: 600, window: minute, counts: counts} }, 60_000, 99*minute, most, refused),
			of(name+" estimate 100 in 1s", func() limiter { return &estimate{number: 100, window: time.Second, counts: counts} }, 300_000, 50*minute, most, refused),
			of(name+" estimate 600 in 1m", func() limiter { return &estimate{number: 600, window: minute, counts: counts} }, 60_000, 99*minute, most, refused))
	}
	for _, prolonged := range []bool{false, true} {
		for _, block := range []time.Duration{10 * time.Second, minute} {
			name := map[bool]string{false: "block", true: "prolonged block"}[prolonged] + " " + block.String()
			all = append(all,
				blocked(name+", 20 in 1s", block, prolonged, 20, func() limiter { return &fixed{number: 20, window: time.Second} }),
				blocked(name+", sliding 10 in 1s", block, prolonged, 10, func() limiter { return &sliding{number: 10, window: time.Second} }),
				blocked(name+", bucket 10/s", block, prolonged, 10, func() limiter { return &bucket{rate: 10, burst: 10} }))
		}
	}
	return append(all,
		of("100/s and 3000/min", func() limiter {
			return both{&fixed{number: 100, window: time.Second}, &fixed{number: 3000, window: minute}}
		}, 90_000, 29*minute+30*time.Second, 1.10, silent),
		of("bucket 100/s and sliding 3000/min", func() limiter {
			return both{&bucket{rate: 100, burst: 10}, &sliding{number: 3000, window: minute}}
		}, 300_000, 99*minute+30*time.Second, 1.10, silent),
		// GCRA without a burst that counts nothing but admitted requests, with a block after 20 refusals a minute: after
		// the block of a young run the rate is held at what little is known.
		of("strikes, bucket 20/s", func() limiter {
			return &strikes{limiter: &bucket{rate: 20, burst: 4}, most: 20, block: 30 * time.Second}
		}, 60_000, 50*minute, 1.25, 0.015),
		of("strikes, fixed 50 in 5s", func() limiter {
			return &strikes{limiter: &fixed{number: 50, window: 5 * time.Second}, most: 20, block: 30 * time.Second}
		}, 30_000, 50*minute, 1.15, 0.015),
		of("delaying 20/s", func() limiter { return &delaying{rate: 20, most: time.Second} }, 60_000, 50*minute, 1.05, 0.04),
		family{name: "100/s and 8 at once", make: func() limiter { return &bucket{rate: 100, burst: 10} }, atOnce: 8, inputs: 90_000, ideal: 15 * minute, most: 1.10, refused: 0.02},
		family{name: "8 at once", atOnce: 8, inputs: 90_000, ideal: 90_000 * 25 * ms / 8, most: 1.10, refused: 0.02},
		family{name: "16 at once", atOnce: 16, inputs: 90_000, ideal: 90_000 * 25 * ms / 16, most: 1.10, refused: 0.02},
		family{name: "1 at once", atOnce: 1, inputs: 30_000, ideal: 30_000 * 25 * ms, most: 1.40, refused: 0.02}, // the rate is cut as well: one in flight is also what a low rate needs
	)
}

// how is the way in which a vendor refuses.
type how struct {
	name   string
	status Signal
	states stating
	slow   int // times the latency of 25 ms; 0 for 1
}

// stating says what a limiter states.
type stating uint8

const (
	nothing stating = iota
	floor           // Retry-After, truncated
	ceiling         // Retry-After, rounded up
	headers         // remaining and reset, with each answer
)

// A run of up to 100 minutes against each kind of limiter comes near the ideal time, with few refusals, and takes none
// of them for an outage.
func TestFamilies(t *testing.T) {
	for i, h := range []how{
		{"429", Refused, nothing, 1}, {"429, truncated wait", Refused, floor, 1}, {"429, wait", Refused, ceiling, 1},
		{"503", Unavailable, nothing, 1}, {"stated", Refused, headers, 1},
		{"429, 250 ms", Refused, nothing, 10}, {"503, 250 ms", Unavailable, nothing, 10}, {"429, 1250 ms", Refused, nothing, 50}, {"stated, 1250 ms", Refused, headers, 50},
	} {
		for j, f := range families() {
			if f.atOnce > 0 && (h.states == headers || h.slow > 1 && f.make != nil) || !*full && (f.inputs > 90_000 || h.slow > 10 || (i+j)%8 != 0) {
				continue
			}
			t.Run(h.name+"/"+f.name, func(t *testing.T) { f.check(t, h) })
		}
	}
}

func (f family) check(t *testing.T, h how) {
	t.Parallel()
	w := newWorld()
	slow := time.Duration(h.slow)
	if f.atOnce > 0 && f.make == nil {
		f.inputs /= h.slow
		f.inputs -= f.inputs % f.atOnce
		f.ideal = time.Duration(f.inputs/f.atOnce) * 25 * ms * slow
	}
	if h.slow > 1 { // the start is a larger part of a run of fewer requests, and refusals are seen later
		f.most, f.refused = f.most+0.05, 2*f.refused
	}
	v := &vendor{world: w, least: 20 * ms * slow, most: 30 * ms * slow, status: h.status, states: h.states, connections: f.atOnce, quiet: true}
	if f.make != nil {
		v.limiter = f.make()
	}
	if h.status == Unavailable && f.beside > 0 { // it may be an outage, and is asked more often, which prolongs a block
		f.most += 0.2
	}
	if h.status == Unavailable && f.atOnce > 0 { // failures count as refusals only on evidence
		f.refused += 0.08
	}
	if h.states == headers && strings.HasPrefix(f.name, "counting") { // at the stated rate the requests of a second crowd the next one
		f.most += 0.1
	}
	if h.states == headers {
		switch v.limiter.(type) {
		case *fixed:
			f.refused = min(f.refused, 0.005)
		case *sliding, *estimate:
		default:
			t.Skip("the limiter has no window to state")
		}
	}
	c := newClient(w, v, f.inputs, Options{})
	c.jitter = ms / 2
	w.run(3*f.ideal + time.Hour)
	refused := float64(v.lateRefused) / max(1, float64(v.late))
	longest := time.Duration(f.most*float64(f.ideal)) + f.beside
	missed := c.took() > longest || refused > f.refused || c.outages > 0 || c.doneOK != f.inputs
	mark := map[bool]string{false: "", true: "MISSED"}[missed]
	t.Logf("| %-36s | %-19s | %.3f of %.3f | %.2f%% of %.1f%% | %d | limited %d, learned %v %s", f.name, h.name,
		float64(c.end.Sub(c.start))/float64(f.ideal), float64(longest)/float64(f.ideal), 100*refused, 100*f.refused, c.outages, c.limited, c.limits.Learned(), mark)
	if missed {
		t.Errorf("%d of %d answered, %d failed, %d refused", c.doneOK, f.inputs, c.failed, v.refused)
	}
}
