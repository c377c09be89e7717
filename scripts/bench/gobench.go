package main

import (
	"fmt"
	"strings"

	"golang.org/x/perf/benchfmt"

	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

// benchmarks are the figures of Go benchmarks by name, without the number of processors, and by unit, with a value for
// each round. Package benchfmt has turned ns/op into sec/op and MB/s into B/s.
type benchmarks map[string]map[string]report.Sample

// parseBenchmarks reads what a program of tests prints. A malformed line of a benchmark is an error.
func parseBenchmarks(text string) (benchmarks, error) {
	all := make(benchmarks)
	lines := benchfmt.NewReader(strings.NewReader(text), "benchmarks")
	for lines.Scan() {
		switch line := lines.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, line
		case *benchfmt.Result:
			base, parts := line.Name.Parts()
			name := string(base)
			for _, part := range parts {
				if part[0] == '/' {
					name += string(part)
				}
			}
			if all[name] == nil {
				all[name] = make(map[string]report.Sample)
			}
			for _, v := range line.Values {
				all[name][v.Unit] = append(all[name][v.Unit], v.Value)
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("the figures of the benchmarks: %w", err)
	}
	return all, nil
}
