package main

import (
	"math"
	"testing"
)

func TestRates(t *testing.T) {
	for _, tt := range []struct {
		text string
		want float64
	}{
		{"10/s", 10}, {"600/m", 10}, {"36000/h", 10}, {"0.5/s", 0.5}, {"50", 50}, {"0", math.Inf(1)}, {"0/s", math.Inf(1)}, {"10 / s", 10},
	} {
		if got, err := parseRate(tt.text); err != nil || got != tt.want {
			t.Errorf("%q: got %v, %v; want %v", tt.text, got, err, tt.want)
		}
	}
	for _, text := range []string{"", "fast", "10/x", "-1/s", "NaN", "Inf", "1e99/s", "/s"} {
		if got, err := parseRate(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}
