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
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/progress"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/scripts/bench/report"
	"github.com/bulkcat/bulkcat/writer"
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
	source, err := reader.Open(reader.Options{Paths: []string{input}, Candidates: []string{"url"}})
	if err != nil {
		return 0, err
	}
	defer source.Close()
	store, err := answers.Open(answers.Options{Dir: filepath.Clean(output) + ".answers", Source: c.Source()})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close(), os.RemoveAll(output+".answers"), os.Remove(output)) }()
	schema := writer.Schema{Levels: 4, Carry: source.Columns()}
	sink, err := writer.Open(writer.Options{Path: output, Schema: schema})
	if err != nil {
		return 0, err
	}
	parts := pipeline.Parts{
		Source: source, Categorizer: client.NewDiagnoser(c), Store: store, Sink: sink, Counters: new(progress.Counters),
		Limits: limits.New(limits.Options{Rate: math.Inf(1), InFlight: inFlight}, time.Now()),
	}
	_, err = pipeline.Run(ctx, parts, pipeline.Options{
		Kind: client.Website, Classifications: []pipeline.Classification{{Name: client.TaxonomyV3}}, SourceName: c.Source(),
		Retry: client.DefaultRetryPolicy(), Schema: schema, Carry: places(source.Columns()),
	})
	return parts.Counters.Snapshot().Written, err
}

// places are the indexes of all columns, to carry them.
func places(columns []string) []int {
	all := make([]int, len(columns))
	for i := range all {
		all[i] = i
	}
	return all
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
