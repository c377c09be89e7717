package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

// leastRatio is the least ratio of the new rate to the base's that is not a loss: on busy
// machines rates differ by a few percent from round to round.
const leastRatio = 0.9

// compareMode compares this tree's bulkcat with another revision's. It returns an error if a
// workload has become slower.
func compareMode(ctx context.Context, args []string, stdout io.Writer) error {
	r := new(rig)
	flags := flag.NewFlagSet("bench compare", flag.ContinueOnError)
	base := flags.String("base", "", "the revision to compare with, as git names it")
	brief := flags.Bool("short", false, "look for a minute only")
	_, err := r.use(flags, args, stdout, func() (string, error) {
		if *base == "" {
			return "", errors.New("name a revision to compare with: -base REVISION")
		}
		s := full
		if *brief {
			s = short
		}
		heading := occasion(ctx, "make bench-compare BASE="+*base)
		program, err := r.buildRevision(ctx, *base)
		if err != nil {
			return "", err
		}
		c := comparison{rig: r, programs: [2]string{program, r.bulkcat}, rounds: s.rounds, table: &report.Table{
			Title: "This tree against " + *base,
			Head:  []string{"workload", "records/s before", "records/s now", "now, of before", "wanted", "p and rounds", "CPU a record, of before"},
		}}
		if err := c.measure(ctx, s); err != nil {
			return "", err
		}
		if len(c.slower) > 0 {
			err = fmt.Errorf("slower than %s: %s", *base, strings.Join(c.slower, "; "))
		}
		return heading + "\n\n" + c.table.Markdown(), err
	})
	return err
}

// comparison is under way.
type comparison struct {
	*rig
	programs [2]string // before and now
	rounds   int
	table    *report.Table
	slower   []string // workloads
}

func (c *comparison) measure(ctx context.Context, s scale) error {
	bareRate, err := c.bareRate(ctx, firstRecords)
	if err != nil {
		return err
	}
	server, err := c.serve(ctx, clienttest.Lean{})
	if err != nil {
		return err
	}
	defer server.close()
	asked := arm{
		url: server.url, cores: c.cores.client, inFlight: inFlight[1],
		input: input{kind: client.Website, records: recordsIn(bareRate, s.arm)},
	}
	answered := asked
	answered.input.records = recordsIn(bareRate, s.stored)
	titles := arm{cores: c.cores.both(), input: input{kind: client.Product, records: s.titles}}
	for _, format := range formats {
		asked.format, answered.format, titles.format = format, format, format
		if err := c.workload(ctx, "hosted, to "+format, asked, asked); err != nil {
			return err
		}
		if err := c.again(ctx, "hosted, all answered, to "+format, answered); err != nil {
			return err
		}
		if err := c.workload(ctx, "embedded titles, to "+format, titles, titles); err != nil {
			return err
		}
	}
	return nil
}

// again fills a store with each side's program, and measures runs with these stores.
func (c *comparison) again(ctx context.Context, name string, a arm) error {
	var sides [2]arm
	for i, program := range c.programs {
		sides[i] = a
		sides[i].store, sides[i].program = c.output("answers"), program
		if _, err := c.run(ctx, sides[i]); err != nil {
			return err
		}
		defer removeOutput(sides[i].store)
	}
	return c.workload(ctx, name, sides[0], sides[1])
}

// workload measures both sides alternately and adds a row.
func (c *comparison) workload(ctx context.Context, name string, before, now arm) error {
	c.say("%s: %d records", name, now.input.records)
	var tallies [2]measurements
	for range c.rounds {
		for i, a := range [2]arm{before, now} {
			a.program = c.programs[i]
			e, err := c.run(ctx, a)
			if err != nil {
				return err
			}
			tallies[i].add(e, a.input.records)
		}
	}
	c.compare(name, tallies[0], tallies[1])
	return nil
}

func (c *comparison) compare(name string, before, now measurements) {
	rate := report.Claim{Sample: report.Ratios(now.rate, before.rate), Unit: report.Ratio, Bound: report.AtLeast(leastRatio)}
	cpu := report.Claim{Sample: report.Ratios(now.cpu, before.cpu), Unit: report.Ratio}
	if !rate.Bound.Keeps(rate.Sample.Median()) {
		c.slower = append(c.slower, name)
	}
	c.table.Add(name, report.Count.Format(before.rate.Median()), report.Count.Format(now.rate.Median()),
		rate.Figure(), rate.Status(), report.Difference(before.rate, now.rate), cpu.Figure())
}
