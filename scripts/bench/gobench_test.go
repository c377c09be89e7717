package main

import (
	"reflect"
	"testing"
)

func TestParseBenchmarks(t *testing.T) {
	got, err := parseBenchmarks(`goos: linux
pkg: github.com/bulkcat/bulkcat/reader
BenchmarkRead/csv-2         	      10	  50000000 ns/op	 176.5 MB/s	  120 B/op	       3 allocs/op
BenchmarkRead/csv-2         	      12	  25000000 ns/op	 352.5 MB/s	  120 B/op	       3 allocs/op
BenchmarkCommit/1024        	      31	     40000 ns/op	  25000 answers/s
Benchmark
PASS
`)
	want := benchmarks{
		"Read/csv": {
			"sec/op": {0.05, 0.025}, "B/s": {176.5e6, 352.5e6}, "B/op": {120, 120}, "allocs/op": {3, 3},
		},
		"Commit/1024": {"sec/op": {40e-6}, "answers/s": {25000}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if _, err := parseBenchmarks("BenchmarkBroken 	 1 	 x ns/op\n"); err == nil {
		t.Error("a malformed line is taken for a figure")
	}
}
