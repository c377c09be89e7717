package main

import (
	"context"
	"flag"
	"io"
	"time"

	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

// tableMode measures everything in the tables of RESULTS.md and prints them.
func tableMode(ctx context.Context, args []string, stdout io.Writer) error {
	r := new(rig)
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	brief := flags.Bool("short", false, "look for a minute only")
	readme := flags.String("readme", "", "also write the tables into `FILE`, between its markers")
	text, err := r.use(flags, args, stdout, func() (string, error) {
		s, named := full, "make bench"
		if *brief {
			s, named = short, "make bench SHORT=1"
		}
		began, section := time.Now(), occasion(ctx, named)+"\n"
		tables, err := r.measure(ctx, s)
		if err != nil {
			return "", err
		}
		for _, t := range tables {
			section += "\n" + t.Markdown()
		}
		r.say("measured in %v", time.Since(began).Round(time.Second))
		return section, nil
	})
	if err != nil || *readme == "" {
		return err
	}
	return report.Performance.Rewrite(*readme, text)
}

// measure returns the tables in the order of RESULTS.md.
func (r *rig) measure(ctx context.Context, s scale) ([]*report.Table, error) {
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
	rest := report.NewClaims("Store, embedded service, start-up and allocations")
	for _, measure := range []func() error{
		func() error { return r.measureStore(ctx, s, bareRate, rest) },
		func() error { return r.measurePace(ctx, s, rest) },
		func() error { return r.measureTitles(ctx, s, bareRate, rest) },
		func() error { return r.measureStart(ctx, s, rest) },
		func() error { return r.measureAllocations(ctx, recordsIn(bareRate, s.arm), rest) },
	} {
		if err := measure(); err != nil {
			return nil, err
		}
	}
	alone, err := r.measureStages(ctx, s, bareRate)
	return []*report.Table{pairs, rest, alone}, err
}
