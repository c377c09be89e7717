package main

import (
	"slices"
	"testing"
	"time"
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

func TestMeasurements(t *testing.T) {
	var got measurements
	got.add(effort{wall: 2 * time.Second, cpu: time.Second, peak: 1 << 20}, 1000)
	if got.rate[0] != 500 || got.cpu[0] != 0.001 || got.peak[0] != 1<<20 {
		t.Errorf("got %+v", got)
	}
}
