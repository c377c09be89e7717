package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

// stage is a part of a run that a Go benchmark measures alone.
type stage struct {
	name      string
	folder    string // of the package
	benchmark string // the function without Benchmark, with "/" and the case if it has several
	metric    string // of its output
	unit      report.Unit
	target    float64 // that is wanted; 0 for none
}

// stages are in the order in which a record passes them.
var stages = []stage{
	{"read csv", "reader", "Read/csv", "B/s", report.MBPerSecond, 0},
	{"read csv, quoted", "reader", "Read/quoted", "B/s", report.MBPerSecond, 0},
	{"read csv.gz", "reader", "Read/gzip", "B/s", report.MBPerSecond, 0},
	{"read csv.zst", "reader", "Read/zstd", "B/s", report.MBPerSecond, 0},
	{"read jsonl", "reader", "Read/jsonl", "B/s", report.MBPerSecond, 0},
	{"look up stored answers, as they arrived", "client/answers", "Lookup/as_they_arrived/256", "lookups/s", report.PerSecond, 400_000},
	{"look up stored answers, half of them again", "client/answers", "Lookup/half_come_again/256", "lookups/s", report.PerSecond, 0},
	{"look up stored answers, scattered", "client/answers", "Lookup/scattered/256", "lookups/s", report.PerSecond, 0},
	{"commit answers, 1 at once", "client/answers", "Commit/1", "answers/s", report.PerSecond, 0},
	{"commit answers, 32 at once", "client/answers", "Commit/32", "answers/s", report.PerSecond, 0},
	{"commit answers, 1,024 at once", "client/answers", "Commit/1024", "answers/s", report.PerSecond, 0},
	{"flatten and write records as long rows, csv", "writer", "Write/csv/long", "records/s", report.PerSecond, 0},
	{"flatten and write records as long rows, csv.gz", "writer", "Write/csv.gz/long", "records/s", report.PerSecond, 0},
	{"flatten and write records as long rows, csv.zst", "writer", "Write/csv.zst/long", "records/s", report.PerSecond, 0},
	{"flatten and write records as long rows, jsonl", "writer", "Write/jsonl/long", "records/s", report.PerSecond, 0},
	{"flatten and write records as long rows, jsonl.zst", "writer", "Write/jsonl.zst/long", "records/s", report.PerSecond, 0},
	{"flatten and write records as long rows, parquet", "writer", "Write/parquet/long", "records/s", report.PerSecond, 0},
}

// measureStages runs the benchmarks of each package once, all rounds of them, on one core.
func (r *rig) measureStages(ctx context.Context, s scale, bareRate float64) (*report.Table, error) {
	t := &report.Table{
		Title: "The stages alone, on one core (Go benchmarks)",
		Head:  []string{"stage", "result", "wanted"},
	}
	results := make(map[string]benchmarks)
	for _, st := range stages {
		if results[st.folder] == nil {
			r.say("the benchmarks of %s", st.folder)
			found, err := r.benchmark(ctx, s, st.folder)
			if err != nil {
				return nil, err
			}
			results[st.folder] = found
		}
		rounds := results[st.folder][st.benchmark][st.metric]
		if len(rounds) == 0 {
			return nil, fmt.Errorf("%s has no benchmark %s with %s: correct the list of stages", st.folder, st.benchmark, st.metric)
		}
		if st.target == 0 {
			t.AddClaim(st.name, report.Claim{Sample: rounds, Unit: st.unit})
			continue
		}
		var loop report.Sample
		for range rounds {
			rate, err := r.bareRate(ctx, recordsIn(bareRate, s.arm))
			if err != nil {
				return nil, err
			}
			loop = append(loop, rate)
		}
		addTarget(t, st.name, rounds, loop, st.target)
	}
	return t, nil
}

// benchmark builds a package's tests and runs its benchmarks pinned to the client's core, in the
// package's folder, where the tests find their files. The build is not pinned.
func (r *rig) benchmark(ctx context.Context, s scale, folder string) (benchmarks, error) {
	program := filepath.Join(r.dir, filepath.Base(folder)+".test")
	build := command{args: []string{"go", "test", "-c", "-o", program, "./" + folder}}
	if _, err := build.run(ctx); err != nil {
		return nil, err
	}
	e, err := command{
		cores: r.cores.client, dir: folder,
		env: []string{"TMPDIR=" + r.dir}, // stores are on the disk that is measured
		args: []string{program, "-test.run", "^$", "-test.bench", "Read|Lookup|Commit|Write",
			"-test.benchtime", s.benchTime.String(), "-test.count", strconv.Itoa(s.benchCount)},
	}.run(ctx)
	if err != nil {
		return nil, err
	}
	return parseBenchmarks(string(e.said))
}
