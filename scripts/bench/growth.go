package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

// growthMode measures time and memory as inputs grow.
func growthMode(ctx context.Context, args []string, _ io.Reader, stdout io.Writer) (err error) {
	r := new(rig)
	flags := flag.NewFlagSet("bench growth", flag.ContinueOnError)
	r.bind(flags)
	millions := flags.String("millions", "1,2,5,10", "of records, each of them an input")
	if err := parse(flags, args); err != nil {
		return err
	}
	sizes, err := parseMillions(*millions)
	if err != nil {
		return fmt.Errorf("-millions: %w", err)
	}
	if err := r.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	fmt.Fprintf(stdout, "%s\n\n", occasion(ctx, "make bench-growth"))
	g := growth{rig: r, peaks: make(map[int]float64), table: &report.Table{
		Title: "As inputs grow (to parquet; hosted: at 0 ms, 256 in flight)",
		Head:  []string{"service", "duplicates", "answered before", "records", "time", "seconds a million", "peak memory", "store"},
	}}
	if err := g.measure(ctx, sizes); err != nil {
		return err
	}
	fmt.Fprint(stdout, g.table.Markdown(), "\n", g.claims(sizes).Markdown())
	return nil
}

// parseMillions gives numbers of records in the order named.
func parseMillions(text string) ([]int, error) {
	var sizes []int
	for part := range strings.SplitSeq(text, ",") {
		m, err := strconv.ParseFloat(part, 64)
		if err != nil || !(m >= 1e-4 && m <= 1000) { // NaN is neither
			return nil, fmt.Errorf("%q must be a number of millions, up to 1000", part)
		}
		sizes = append(sizes, int(m*1e6))
	}
	return sizes, nil
}

// growth is the measurement under way.
type growth struct {
	*rig
	table *report.Table
	peaks map[int]float64 // memory of distinct records asked for the first time, by their number
}

func (g *growth) measure(ctx context.Context, sizes []int) error {
	server, err := g.serve(ctx, 0, 0)
	if err != nil {
		return err
	}
	defer server.close()
	for _, records := range sizes {
		for _, duplicates := range []int{0, 50} {
			titles := arm{cores: g.cores.both(), input: input{client.Product, records, duplicates}}
			if err := g.one(ctx, "embedded", "no", titles); err != nil {
				return err
			}
			websites := arm{url: server.url, cores: g.cores.client, inFlight: inFlight[1], input: input{client.Website, records, duplicates}}
			if err := g.hosted(ctx, websites); err != nil {
				return err
			}
		}
	}
	return nil
}

// hosted asks for all, and then again with all answered. What the embedded service
// finds costs nothing and is not stored, so that there is no such second run of it.
func (g *growth) hosted(ctx context.Context, a arm) error {
	a.store = g.output("answers")
	if err := g.one(ctx, "hosted", "no", a); err != nil {
		return err
	}
	if err := g.one(ctx, "hosted", "yes", a); err != nil {
		return err
	}
	return os.RemoveAll(a.store)
}

// one runs an arm and adds its row.
func (g *growth) one(ctx context.Context, service, answered string, a arm) error {
	g.say("%s: %d records, %d%% duplicates, answered before: %s", service, a.input.records, a.input.duplicates, answered)
	a.format = "parquet"
	e, err := g.run(ctx, a)
	if err != nil {
		return err
	}
	store := "none"
	if a.store != "" {
		size, err := sizeOf(a.store)
		if err != nil {
			return err
		}
		store = report.MiB.Format(float64(size))
	}
	if service == "hosted" && answered == "no" && a.input.duplicates == 0 {
		g.peaks[a.input.records] = float64(e.peak)
	}
	seconds := e.wall.Seconds()
	g.table.Add(service, fmt.Sprintf("%d%%", a.input.duplicates), answered, report.Count.Format(float64(a.input.records)),
		report.Seconds.Format(seconds), report.Seconds.Format(seconds/float64(a.input.records)*1e6), report.MiB.Format(float64(e.peak)), store)
	return nil
}

// claims holds the last input's memory against the first's.
func (g *growth) claims(sizes []int) *report.Table {
	first, last := sizes[0], sizes[len(sizes)-1]
	t := report.NewClaims("Memory, distinct inputs, store included")
	t.AddClaim(fmt.Sprintf("peak at %s records, of that at %s", report.Count.Format(float64(last)), report.Count.Format(float64(first))), report.Claim{
		Sample: report.Ratios(report.Sample{g.peaks[last]}, report.Sample{g.peaks[first]}), Unit: report.Ratio, Bound: report.AtMost(1.1),
	})
	t.AddClaim(fmt.Sprintf("peak at %s records", report.Count.Format(float64(last))), report.Claim{
		Sample: report.Sample{g.peaks[last]}, Unit: report.MiB, Bound: report.AtMost(200 << 20),
	})
	return t
}
