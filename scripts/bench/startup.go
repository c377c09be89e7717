package main

import (
	"context"
	"os"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

// measureStart measures the size of the program and its start-up time.
func (r *rig) measureStart(ctx context.Context, s scale, t *report.Table) error {
	r.say("start-up")
	var help, request report.Sample
	for range s.starts {
		e, err := command{cores: r.cores.client, args: []string{r.bulkcat, "--help"}}.run(ctx)
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
	t.AddClaim("start-up to the first request", report.Claim{Sample: request, Unit: report.Milliseconds, Bound: report.AtMost(0.100)})
	t.AddClaim("bulkcat --help", report.Claim{Sample: help, Unit: report.Milliseconds, Bound: report.AtMost(0.030)})
	t.AddClaim("stripped binary", report.Claim{Sample: report.Sample{float64(info.Size())}, Unit: report.MiB, Bound: report.AtMost(42 << 20)})
	return nil
}

// untilRequest is the time from the start of bulkcat to its first categorization, including the
// request for the quota.
func (r *rig) untilRequest(ctx context.Context) (time.Duration, error) {
	service := clienttest.New(clienttest.Options{Answer: clienttest.AppendTypical})
	url, stop := service.Listen()
	defer stop()
	a := arm{
		url: url, cores: r.cores.client, inFlight: 1, format: "csv",
		input: input{kind: client.Website, records: 1},
	}
	if _, err := a.input.write(r.dir); err != nil { // writing the input is not part of the start
		return 0, err
	}
	began := time.Now()
	if _, err := r.run(ctx, a); err != nil {
		return 0, err
	}
	return service.Visits()[0].Arrived.Sub(began), nil
}
