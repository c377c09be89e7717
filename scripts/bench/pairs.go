package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

// pair is bulkcat beside the bare loop, in one situation.
type pair struct {
	latency, spread time.Duration
	inFlight        int
	records         int
	rounds          int
	rate, cpu       report.Bound // of bulkcat's over the loop's
}

var (
	formats  = []string{"csv", "parquet"}
	inFlight = []int{64, 256}
)

const (
	distance       = 50 * time.Millisecond // of a service across a network
	distanceSpread = 20 * time.Millisecond
)

// measurePairs measures all of them, those that are answered at once first.
func (r *rig) measurePairs(ctx context.Context, s scale, bareRate float64) (*report.Table, error) {
	t := &report.Table{
		Title: "bulkcat against a bare loop of net/http and encoding/json (CSV in; asked, stored durably, flattened, ordered, written)",
		Head: []string{"latency", "in flight", "output", "records/s", "of the loop's", "wanted",
			"CPU a record", "of the loop's", "wanted", "peak memory", "reads and writes a record", "the loop's"},
	}
	for _, n := range inFlight {
		p := pair{inFlight: n, records: recordsIn(bareRate, s.arm), rounds: s.rounds, rate: report.AtLeast(0.70), cpu: report.AtMost(1.5)}
		if err := r.measurePair(ctx, p, t); err != nil {
			return nil, err
		}
	}
	for _, n := range inFlight {
		p := pair{
			latency: distance, spread: distanceSpread, inFlight: n, rounds: s.distantRounds,
			records: recordsIn(min(bareRate, float64(n)/distance.Seconds()), s.distantArm), rate: report.AtLeast(0.98),
		}
		if err := r.measurePair(ctx, p, t); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// measurePair adds a row for each format.
func (r *rig) measurePair(ctx context.Context, p pair, t *report.Table) error {
	r.say("the bare loop and bulkcat: latency %v, %d in flight, %d records", p.latency, p.inFlight, p.records)
	server, err := r.serve(ctx, p.latency, p.spread)
	if err != nil {
		return err
	}
	defer server.close()
	var loop tally
	whole := make([]tally, len(formats))
	for range p.rounds {
		e, _, err := r.bare(ctx, server.url, p.records, p.inFlight)
		if err != nil {
			return err
		}
		loop.add(e, p.records)
		for i, format := range formats {
			e, err := r.run(ctx, arm{
				url: server.url, cores: r.cores.client, inFlight: p.inFlight, format: format,
				input: input{kind: client.Website, records: p.records},
			})
			if err != nil {
				return err
			}
			whole[i].add(e, p.records)
		}
	}
	for i, format := range formats {
		p.addRow(t, format, whole[i], loop)
	}
	return nil
}

func (p pair) addRow(t *report.Table, format string, whole, loop tally) {
	rate := report.Claim{Sample: report.Ratios(whole.rate, loop.rate), Unit: report.Ratio, Bound: p.rate}
	cpu := report.Claim{Sample: report.Ratios(whole.cpu, loop.cpu), Unit: report.Ratio, Bound: p.cpu}
	latency := "0 ms"
	if p.latency > 0 {
		latency = fmt.Sprintf("%d ± %d ms", p.latency.Milliseconds(), p.spread.Milliseconds())
	}
	t.Add(latency, strconv.Itoa(p.inFlight), format,
		report.Count.Format(whole.rate.Median()), rate.Figure(), rate.Verdict(),
		report.Microseconds.Format(whole.cpu.Median()), cpu.Figure(), cpu.Verdict(),
		report.MiB.Format(whole.peak.Median()),
		report.Decimal.Format(whole.calls.Median()), report.Decimal.Format(loop.calls.Median()))
}
