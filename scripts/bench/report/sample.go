package report

import (
	"slices"

	"golang.org/x/perf/benchmath"
)

// Sample is one figure, measured in several rounds.
type Sample []float64

// Median is the median; 0 without values.
func (s Sample) Median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// Spread returns the minimum and the maximum; 0 and 0 without values.
func (s Sample) Spread() (least, most float64) {
	if len(s) == 0 {
		return 0, 0
	}
	return slices.Min(s), slices.Max(s)
}

// Difference returns the probability p of such a difference between samples of the same speed, and their size, as
// benchstat does.
func Difference(before, now Sample) string {
	sample := func(s Sample) *benchmath.Sample {
		return benchmath.NewSample(slices.Clone(s), &benchmath.DefaultThresholds)
	}
	return benchmath.AssumeNothing.Compare(sample(before), sample(now)).String()
}

// Ratios divides round by round, because other load on the machine affects both sides of a round.
// It leaves out rounds that one side lacks and rounds whose divisor is 0.
func Ratios(over, under Sample) Sample {
	var ratios Sample
	for i := range min(len(over), len(under)) {
		if under[i] != 0 {
			ratios = append(ratios, over[i]/under[i])
		}
	}
	return ratios
}
