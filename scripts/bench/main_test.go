package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/scripts/bench/report"
)

func TestParseMillions(t *testing.T) {
	for text, want := range map[string][]int{
		"1,2,5,10": {1_000_000, 2_000_000, 5_000_000, 10_000_000},
		"0.01":     {10_000},
		"":         nil,
		"1,":       nil,
		"0":        nil,
		"-1":       nil,
		"NaN":      nil,
		"1e9":      nil,
		"many":     nil,
	} {
		got, err := parseMillions(text)
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestCores(t *testing.T) {
	var c cores
	if err := c.Set("2,5"); err != nil || c != (cores{"2", "5"}) || c.both() != "2,5" {
		t.Errorf("got %+v, %v", c, err)
	}
	for _, text := range []string{"", "1", "1,", ",1", "1,2,3"} {
		if err := c.Set(text); err == nil {
			t.Errorf("%q is taken for two cores", text)
		}
	}
}

func TestRecordsIn(t *testing.T) {
	for _, test := range []struct {
		rate float64
		in   time.Duration
		want int
	}{
		{20_000, 3 * time.Second, 60_000},
		{1_234, time.Second, 1_200},
		{1, time.Second, 100},
	} {
		if got := recordsIn(test.rate, test.in); got != test.want {
			t.Errorf("%v/s in %v: got %d, want %d", test.rate, test.in, got, test.want)
		}
	}
}

func TestTally(t *testing.T) {
	var got measurements
	got.add(effort{wall: 2 * time.Second, cpu: time.Second, peak: 1 << 20, calls: 3000}, 1000)
	if got.rate[0] != 500 || got.cpu[0] != 0.001 || got.peak[0] != 1<<20 || got.calls[0] != 3 {
		t.Errorf("got %+v", got)
	}
}

func TestAllocations(t *testing.T) {
	before, after := allocations{Objects: 100, Bytes: 1000}, allocations{Objects: 300, Bytes: 5000}
	if got, want := after.since(before, 4), (allocations{Objects: 50, Bytes: 1000}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := after.since(before, 0); got != (allocations{Objects: 200, Bytes: 4000}) {
		t.Errorf("of no record: %+v", got)
	}
}

// A loss is reported, a gain is not.
func TestCompare(t *testing.T) {
	c := comparison{table: new(report.Table)}
	before := measurements{rate: report.Sample{100, 100, 100}, cpu: report.Sample{1, 1, 1}}
	c.compare("as before", before, measurements{rate: report.Sample{91, 100, 80}, cpu: report.Sample{1, 1, 1}})
	c.compare("slower", before, measurements{rate: report.Sample{89, 120, 80}, cpu: report.Sample{1, 1, 1}})
	c.compare("faster", before, measurements{rate: report.Sample{189, 120, 180}, cpu: report.Sample{1, 1, 1}})
	if !slices.Equal(c.slower, []string{"slower"}) || len(c.table.Rows) != 3 {
		t.Errorf("slower are %v; rows %v", c.slower, c.table.Rows)
	}
	if !strings.Contains(c.table.Rows[0][3], "0.91 (0.80 to 1.00)") {
		t.Errorf("got %v", c.table.Rows[0])
	}
}
