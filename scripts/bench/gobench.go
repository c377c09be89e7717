package main

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

// benchmarks are the results of Go benchmarks by name, without the number of processors.
type benchmarks map[string]metrics

// metrics are the figures of a benchmark by unit, such as "ns/op", with a value for each round.
type metrics map[string]report.Sample

// perSecond is the metric of operations a second, which is computed from "ns/op".
const perSecond = "op/s"

// sample returns a metric's rounds; MB/s as bytes a second.
func (m metrics) sample(metric string) report.Sample {
	var s report.Sample
	switch metric {
	case perSecond:
		for _, ns := range m["ns/op"] {
			s = append(s, 1e9/ns)
		}
	case "MB/s":
		for _, mb := range m[metric] {
			s = append(s, mb*1e6)
		}
	default:
		s = m[metric]
	}
	return s
}

var processors = regexp.MustCompile(`-\d+$`)

// parseBenchmarks reads lines of the form "BenchmarkRead/csv-8  100  123 ns/op  4 MB/s"
// and skips other lines.
func parseBenchmarks(text string) benchmarks {
	all := make(benchmarks)
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasPrefix(fields[0], "Benchmark") {
			continue
		}
		name := processors.ReplaceAllString(fields[0], "")
		if all[name] == nil {
			all[name] = make(metrics)
		}
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil || value <= 0 && fields[i+1] == "ns/op" {
				break // the rest is not a list of values and units
			}
			all[name][fields[i+1]] = append(all[name][fields[i+1]], value)
		}
	}
	return all
}
