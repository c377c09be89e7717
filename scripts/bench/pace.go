package main

import (
	"context"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

// pacedRecords is small enough for the first seconds, in which a run learns the rate, to matter.
const pacedRecords = 100_000

// measurePace measures the cost of learning the rate of a service without a limit. Each run
// begins with a new store, which has no rate from an earlier run.
func (r *rig) measurePace(ctx context.Context, s scale, t *report.Table) error {
	r.say("with and without --rate 0: %d records", pacedRecords)
	server, err := r.serve(ctx, clienttest.Lean{})
	if err != nil {
		return err
	}
	defer server.close()
	a := arm{
		url: server.url, cores: r.cores.client, inFlight: inFlight[0], format: "csv",
		input: input{kind: client.Website, records: pacedRecords},
	}
	var unlimited, learning report.Sample // seconds
	for range s.paceRounds {
		a.learns = false
		e, err := r.run(ctx, a)
		if err != nil {
			return err
		}
		unlimited = append(unlimited, e.wall.Seconds())
		a.learns = true
		if e, err = r.run(ctx, a); err != nil {
			return err
		}
		learning = append(learning, e.wall.Seconds())
	}
	t.AddClaim("100,000 records at 0 ms without --rate, of the time with --rate 0", report.Claim{
		Sample: report.Ratios(learning, unlimited), Unit: report.Ratio, Bound: report.AtMost(1.30),
	})
	return nil
}
