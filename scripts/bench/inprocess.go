package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

// pipelineMode runs the packages of bulkcat within this program, in the same way as the command,
// to count their allocations.
func pipelineMode(ctx context.Context, args []string, stdout io.Writer) error {
	var url, input, output string
	inFlight := 0
	flags := flag.NewFlagSet("pipeline", flag.ContinueOnError)
	flags.StringVar(&url, "url", "", "of the service")
	flags.StringVar(&input, "input", "", "file of websites")
	flags.StringVar(&output, "output", "", "file to write")
	flags.IntVar(&inFlight, "in-flight", 1, "requests at once")
	if err := flags.Parse(args); err != nil {
		return err
	}
	before := countAllocations()
	records, err := runPipeline(ctx, url, input, output, inFlight)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(countAllocations().since(before, records))
}

func runPipeline(ctx context.Context, url, input, output string, inFlight int) (records int64, err error) {
	c, err := client.New(client.Options{BaseURL: url, APIKey: apiKey, Connections: inFlight})
	if err != nil {
		return 0, err
	}
	defer c.Close()
	dir, err := os.MkdirTemp(filepath.Dir(output), "run-") // for the files beside the output
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	session, err := pipeline.Open(ctx, pipeline.SessionOptions{
		Kind: client.Website, Classifications: []string{client.TaxonomyV3},
		Service: pipeline.HostedService(c), Limits: limits.Options{Rate: math.Inf(1), InFlight: inFlight},
		Input:  reader.Options{Paths: []string{input}},
		Output: pipeline.OutputOptions{Path: filepath.Join(dir, filepath.Base(output)), Levels: 4, Carry: "all"},
	})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	account, err := session.Run(ctx)
	if err != nil {
		return 0, err
	}
	return account.Counts.Written, nil
}

// measureAllocations counts the allocations per record in the bare loop and in a run.
func (r *rig) measureAllocations(ctx context.Context, records int, t *report.Table) error {
	r.say("allocations: %d records", records)
	server, err := r.serve(ctx, clienttest.Lean{})
	if err != nil {
		return err
	}
	defer server.close()
	_, loop, err := r.bare(ctx, server, records, inFlight[0])
	if err != nil {
		return err
	}
	path, err := input{kind: client.Website, records: records}.write(r.dir)
	if err != nil {
		return err
	}
	e, err := command{
		cores: r.cores.client,
		args:  []string{r.self, "pipeline", "-url", server.url, "-input", path, "-output", r.output("csv"), "-in-flight", fmt.Sprint(inFlight[0])},
	}.run(ctx)
	if err != nil {
		return err
	}
	var whole allocations
	if err := json.Unmarshal(e.said, &whole); err != nil {
		return err
	}
	for _, side := range []struct {
		name string
		of   allocations
	}{{"in the bare loop", loop}, {"in the whole run, to csv", whole}} {
		t.AddClaim("allocations a record "+side.name, report.Claim{Sample: report.Sample{side.of.Objects}, Unit: report.Decimal})
		t.AddClaim("allocated bytes a record "+side.name, report.Claim{Sample: report.Sample{side.of.Bytes}, Unit: report.Count})
	}
	return nil
}
