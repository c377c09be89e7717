package main

import (
	"context"
	"os"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
)

// loopOfTheTargets is the rate of the bare loop, in records per second, on the machine on which the targets of work without
// requests were set. Speeds vary between machines and over time, so these targets are also stated as multiples of the rate of
// the loop in the same rounds.
const loopOfTheTargets = 41_000

// addTarget adds a row with rates a second, and a row with multiples of the loop's rates in the
// same rounds.
func addTarget(t *table, name string, rate, loop sample, target float64) {
	t.addClaim(name, claim{rate, perSecond, atLeast(target)})
	t.addClaim("the same, of what the bare loop asks beside it on one core", claim{ratios(rate, loop), ratio, atLeast(target / loopOfTheTargets)})
}

// measureTitles measures the embedded service with product titles, on both cores.
func (r *rig) measureTitles(ctx context.Context, s scale, bareRate float64, t *table) error {
	r.say("product titles, categorized here: %d records", s.titles)
	titles, loop, err := r.beside(ctx, s, bareRate, arm{cores: bothCores, input: input{kind: client.Product, records: s.titles}, format: "parquet"})
	if err == nil {
		addTarget(t, "product titles by the embedded service, on two cores, to parquet", titles[0].rate, loop, 60_000)
	}
	return err
}

// pacedRecords is so small that the first seconds, in which a run learns the rate, matter.
const pacedRecords = 100_000

// measurePace measures the cost of learning the rate of a service without a limit. Each run
// begins with a new store, which has no rate from an earlier run.
func (r *rig) measurePace(ctx context.Context, s scale, t *table) error {
	r.say("with and without --rate 0: %d records", pacedRecords)
	server, err := r.serve(ctx, clienttest.Lean{})
	if err != nil {
		return err
	}
	defer server.close()
	unlimited := arm{url: server.url, cores: clientCore, inFlight: inFlight[0], format: "csv", input: input{kind: client.Website, records: pacedRecords}}
	learning := unlimited
	learning.learns = true
	sides, err := r.rounds(ctx, s.paceRounds, nil, unlimited, learning)
	if err == nil {
		t.addClaim("100,000 records at 0 ms without --rate, of the time with --rate 0", claim{ratios(sides[0].rate, sides[1].rate), ratio, atMost(1.30)})
	}
	return err
}

// measureStart measures the size of the program and its start-up time.
func (r *rig) measureStart(ctx context.Context, s scale, t *table) error {
	r.say("start-up")
	var help, request sample
	for range s.starts {
		e, err := r.complete(ctx, clientCore, nil, r.bulkcat, "--help")
		if err != nil {
			return err
		}
		help = append(help, e.wall.Seconds())
		took, err := r.untilRequest(ctx)
		if err != nil {
			return err
		}
		request = append(request, took.Seconds())
	}
	info, err := os.Stat(r.bulkcat)
	if err != nil {
		return err
	}
	t.addClaim("start-up to the first request", claim{request, milliseconds, atMost(0.100)})
	t.addClaim("bulkcat --help", claim{help, milliseconds, atMost(0.030)})
	t.addClaim("stripped binary", claim{sample{float64(info.Size())}, mebibytes, atMost(40 << 20)})
	return nil
}

// untilRequest returns the time from the start of bulkcat to its first categorization, including the request for the quota.
func (r *rig) untilRequest(ctx context.Context) (time.Duration, error) {
	service := clienttest.New(clienttest.Options{Answer: clienttest.AppendTypical})
	url, stop := service.Listen()
	defer stop()
	a := arm{url: url, cores: clientCore, inFlight: 1, format: "csv", input: input{kind: client.Website, records: 1}}
	if _, err := a.input.write(r.dir); err != nil { // writing the input is not part of the start
		return 0, err
	}
	began := time.Now()
	if _, err := r.run(ctx, a); err != nil {
		return 0, err
	}
	return service.Visits()[0].Arrived.Sub(began), nil
}
