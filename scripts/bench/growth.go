package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

// growthMode measures time and memory as inputs grow.
func growthMode(ctx context.Context, args []string, stdout io.Writer) error {
	r := new(rig)
	flags := flag.NewFlagSet("bench growth", flag.ContinueOnError)
	millions := flags.String("millions", "1,2,5,10", "of records, each of them an input")
	readme := flags.String("readme", "", "also write the tables into `FILE`, between its markers")
	text, err := r.use(flags, args, stdout, func() (string, error) {
		sizes, err := parseMillions(*millions)
		if err != nil {
			return "", fmt.Errorf("-millions: %w", err)
		}
		heading := occasion(ctx, "make bench-growth") + "\n\n"
		g := growth{rig: r, efforts: make(map[workload][]effort), table: &report.Table{
			Title: "As inputs grow (to parquet; hosted: at 0 ms, 256 in flight)",
			Head:  []string{"service", "duplicates", "answered before", "records", "time", "seconds a million", "peak memory", "store"},
		}}
		if err := g.measure(ctx, sizes); err != nil {
			return "", err
		}
		return heading + g.table.Markdown() + "\n" + g.claims(sizes).Markdown(), nil
	})
	if err != nil || *readme == "" {
		return err
	}
	return report.Growth.Rewrite(*readme, text)
}

// parseMillions returns the numbers of records in the given order.
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
	table   *report.Table
	efforts map[workload][]effort // one for each size
}

// workload is what is measured at each size.
type workload struct {
	service    string
	answered   bool
	duplicates int // percent
}

func (w workload) String() string {
	text := w.service
	if w.answered {
		text += ", answered before"
	}
	return fmt.Sprintf("%s, %d%% duplicates", text, w.duplicates)
}

func (g *growth) measure(ctx context.Context, sizes []int) error {
	server, err := g.serve(ctx, clienttest.Lean{})
	if err != nil {
		return err
	}
	defer server.close()
	for _, records := range sizes {
		for _, duplicates := range []int{0, 50} {
			titles := arm{cores: g.cores.both(), input: input{client.Product, records, duplicates}}
			if err := g.one(ctx, workload{"embedded", false, duplicates}, titles); err != nil {
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

// hosted measures a run that asks for all records, and a second run with stored answers. The
// embedded service has no second run, because its answers cost nothing and are not stored.
func (g *growth) hosted(ctx context.Context, a arm) error {
	a.store = g.output("answers")
	for _, answered := range []bool{false, true} {
		if err := g.one(ctx, workload{"hosted", answered, a.input.duplicates}, a); err != nil {
			return err
		}
	}
	return os.RemoveAll(a.store)
}

// one measures an arm and adds its row.
func (g *growth) one(ctx context.Context, w workload, a arm) error {
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
	g.efforts[w] = append(g.efforts[w], e)
	answered := "no"
	if w.answered {
		answered = "yes"
	}
	records, peak := report.Count.Format(float64(a.input.records)), report.MiB.Format(float64(e.peak))
	seconds := e.wall.Seconds()
	g.say("%v: %s records in %s, %s", w, records, report.Seconds.Format(seconds), peak) // a table takes hours
	g.table.Add(w.service, fmt.Sprintf("%d%%", w.duplicates), answered, records,
		report.Seconds.Format(seconds), report.Seconds.Format(seconds/float64(a.input.records)*1e6), peak, store)
	return nil
}

// claims compares the last size with the first.
func (g *growth) claims(sizes []int) *report.Table {
	n := len(sizes) - 1
	first, last := report.Count.Format(float64(sizes[0])), report.Count.Format(float64(sizes[n]))
	t := report.NewClaims("At " + last + " records, beside " + first)
	add := func(what string, value float64, unit report.Unit, bound report.Bound) {
		t.AddClaim(what, report.Claim{Sample: report.Sample{value}, Unit: unit, Bound: bound})
	}
	asked := g.efforts[workload{service: "hosted"}]
	add("peak memory, hosted, 0% duplicates, of that at "+first, float64(asked[n].peak)/float64(asked[0].peak), report.Ratio, report.AtMost(1.1))
	add("peak memory, hosted, 0% duplicates", float64(asked[n].peak), report.MiB, report.AtMost(200<<20))
	for _, w := range slices.SortedFunc(maps.Keys(g.efforts), compareWorkloads) {
		e := g.efforts[w]
		growth := e[n].wall.Seconds() / e[0].wall.Seconds() * float64(sizes[0]) / float64(sizes[n])
		add("time a record, "+w.String()+", of that at "+first, growth, report.Ratio, report.Bound{})
	}
	return t
}

func compareWorkloads(a, b workload) int { return strings.Compare(a.String(), b.String()) }
