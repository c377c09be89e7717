package main

import (
	"reflect"
	"slices"
	"testing"

	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

func TestParseBenchmarks(t *testing.T) {
	got := parseBenchmarks(`goos: linux
pkg: github.com/bulkcat/bulkcat/reader
BenchmarkRead/csv-2         	      10	  50000000 ns/op	 176.40 MB/s	  120 B/op	       3 allocs/op
BenchmarkRead/csv-2         	      12	  25000000 ns/op	 352.80 MB/s	  120 B/op	       3 allocs/op
BenchmarkCommit/1024        	      31	     40000 ns/op	  25000 answers/s
BenchmarkBroken 	 1 	 x ns/op
Benchmark
PASS
`)
	want := benchmarks{
		"BenchmarkRead/csv": {
			"ns/op": {50000000, 25000000}, "MB/s": {176.4, 352.8}, "B/op": {120, 120}, "allocs/op": {3, 3},
		},
		"BenchmarkCommit/1024": {"ns/op": {40000}, "answers/s": {25000}},
		"BenchmarkBroken":      {},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMetrics(t *testing.T) {
	m := metrics{"ns/op": {2000, 4000}, "MB/s": {3}, "rows/s": {7}}
	for metric, want := range map[string]report.Sample{
		perSecond: {500_000, 250_000}, "MB/s": {3e6}, "rows/s": {7}, "answers/s": nil,
	} {
		if got := m.sample(metric); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", metric, got, want)
		}
	}
}
