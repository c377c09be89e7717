// Command bench compares bulkcat with a bare loop over net/http at the same time on the same
// machine, and compares the ratios with targets.
//
//	bench [-short] [-results FILE]              the tables of RESULTS.md, in less than ten minutes
//	bench -millions 1,2,5,10 [-results FILE]    time and memory as inputs grow
//
// Each measured program is a process of its own, so that the system reports its processor time and its memory. The service runs
// on one core, the client on another. An arm is a run over an input. The arms of a measurement alternate in rounds, so that
// other load on the machine affects all arms. Ratios are computed round by round. A figure is the median of its rounds, with the
// minimum and the maximum. All files are below $TMPDIR, on the disk that is measured.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/bulkcat/bulkcat/scripts/process"
)

// modes are the functions of this program that run as processes of their own: the service, and the bare loop.
var modes = map[string]func(ctx context.Context, args []string, stdout io.Writer) error{"serve": serveMode, "bare": bareMode}

func main() {
	if len(os.Args) > 1 && modes[os.Args[1]] != nil {
		process.Main(func(ctx context.Context) error { return modes[os.Args[1]](ctx, os.Args[2:], os.Stdout) })
		return
	}
	r := new(rig)
	flag.StringVar(&r.bulkcat, "bulkcat", "bin/bulkcat", "the program to measure, a stripped binary")
	brief := flag.Bool("short", false, "look for a minute only")
	millions := flag.String("millions", "", "measure growth at these millions of records, each of them an input")
	results := flag.String("results", "", "also write the tables into `FILE`, between its markers")
	flag.Parse()
	process.Main(func(ctx context.Context) error {
		s, place, command := full, performance, "make bench"
		if *brief {
			s, command = short, "make bench SHORT=1"
		}
		measure := func() ([]*table, error) { return r.measure(ctx, s) }
		if *millions != "" {
			sizes, err := parseMillions(*millions)
			if err != nil {
				return fmt.Errorf("-millions: %w", err)
			}
			place, command = grown, "make bench-growth"
			measure = func() ([]*table, error) { return r.growth(ctx, sizes) }
		}
		if err := r.open(); err != nil {
			return err
		}
		defer os.RemoveAll(r.dir)
		began, text := time.Now(), occasion(ctx, command)+"\n"
		tables, err := measure()
		if err != nil {
			return err
		}
		for _, t := range tables {
			text += "\n" + t.markdown()
		}
		fmt.Print(text)
		r.say("measured in %v", time.Since(began).Round(time.Second))
		if *results == "" {
			return nil
		}
		return place.rewrite(*results, text)
	})
}

// measure returns the tables in the order of RESULTS.md.
func (r *rig) measure(ctx context.Context, s scale) ([]*table, error) {
	bareRate, err := r.bareRate(ctx, firstRecords)
	if err != nil {
		return nil, err
	}
	pairs, err := r.measurePairs(ctx, s, bareRate)
	if err != nil {
		return nil, err
	}
	if bareRate, err = r.bareRate(ctx, firstRecords); err != nil { // the machine's speed may have changed
		return nil, err
	}
	rest := newClaims("Store, embedded service and start-up")
	for _, measure := range []func() error{
		func() error { return r.measureStore(ctx, s, bareRate, rest) },
		func() error { return r.measurePace(ctx, s, rest) },
		func() error { return r.measureTitles(ctx, s, bareRate, rest) },
		func() error { return r.measureStart(ctx, s, rest) },
	} {
		if err := measure(); err != nil {
			return nil, err
		}
	}
	return []*table{pairs, rest}, nil
}

// scale sets the lengths of measurements. The duration of an arm and the speed of the machine
// define its number of records.
type scale struct {
	rounds        int
	arm           time.Duration // of a bare loop without latency
	distantRounds int           // of arms with latency
	distantArm    time.Duration
	secureRounds  int           // of arms over TLS without latency
	secureArm     time.Duration // of a bare loop with neither latency nor TLS; TLS takes longer for the same records
	paceRounds    int           // of a run that learns the rate
	titles        int           // records of an embedded run
	kept          time.Duration // of an arm with or without a store
	stored        time.Duration // of the requests that fill a store, whose records are then answered
	starts        int           // of the program for start-up time
}

var (
	// full takes under ten minutes on a slow machine. The start and the end of an arm take a tenth of a second. This is some
	// percent of an arm, and one percent of an arm with latency, whose target allows a loss of two percent. Rates with latency
	// hardly vary, so two rounds are enough. Arms with and without a store are longer: their rates are close to each other, and
	// the first logs of a store cost the most.
	full = scale{
		rounds: 5, arm: 2500 * time.Millisecond, distantRounds: 2, distantArm: 10 * time.Second,
		secureRounds: 3, secureArm: 1500 * time.Millisecond, paceRounds: 3,
		titles: 150_000, kept: 5 * time.Second, stored: 12 * time.Second, starts: 21,
	}
	// short takes a minute or two; its ratios are less exact.
	short = scale{
		rounds: 2, arm: time.Second, distantRounds: 1, distantArm: 2 * time.Second,
		secureRounds: 1, secureArm: time.Second, paceRounds: 1,
		titles: 50_000, kept: time.Second, stored: 4 * time.Second, starts: 5,
	}
)

// recordsIn returns the number of records at a rate in a time, in whole hundreds.
func recordsIn(rate float64, d time.Duration) int {
	return max(100, int(rate*d.Seconds())/100*100)
}
