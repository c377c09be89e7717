package main

import (
	"context"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

// measureTitles has the embedded service categorize product titles, on both cores.
func (r *rig) measureTitles(ctx context.Context, s scale, t *report.Table) error {
	r.say("product titles, categorized here: %d records", s.titles)
	a := arm{cores: r.cores.both(), input: input{kind: client.Product, records: s.titles}, format: "parquet"}
	var titles tally
	for range s.rounds {
		e, err := r.run(ctx, a)
		if err != nil {
			return err
		}
		titles.add(e, s.titles)
	}
	t.AddClaim("product titles by the embedded service, on two cores, to parquet", report.Claim{
		Sample: titles.rate, Unit: report.PerSecond, Bound: report.AtLeast(60_000),
	})
	return nil
}
