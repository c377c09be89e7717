package main

import (
	"context"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

// measureTitles measures the embedded service with product titles, on both cores.
func (r *rig) measureTitles(ctx context.Context, s scale, bareRate float64, t *report.Table) error {
	r.say("product titles, categorized here: %d records", s.titles)
	a := arm{cores: r.cores.both(), input: input{kind: client.Product, records: s.titles}, format: "parquet"}
	var (
		titles measurements
		loop   report.Sample
	)
	for range s.rounds {
		rate, err := r.bareRate(ctx, recordsIn(bareRate, s.arm))
		if err != nil {
			return err
		}
		loop = append(loop, rate)
		e, err := r.run(ctx, a)
		if err != nil {
			return err
		}
		titles.add(e, s.titles)
	}
	addTarget(t, "product titles by the embedded service, on two cores, to parquet", titles.rate, loop, 60_000)
	return nil
}
