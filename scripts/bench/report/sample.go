package report

import "slices"

// Sample is one figure, measured in several rounds.
type Sample []float64

// Median is the value in the middle, or between the two in the middle; 0 of none.
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

// Spread is the smallest and the largest value; 0 and 0 of none.
func (s Sample) Spread() (least, most float64) {
	if len(s) == 0 {
		return 0, 0
	}
	return slices.Min(s), slices.Max(s)
}

// Ratios divides round by round, for what the machine does besides meets both sides of a
// round alike. Rounds that only one side has, or whose divisor is 0, are left out.
func Ratios(over, under Sample) Sample {
	var ratios Sample
	for i := range min(len(over), len(under)) {
		if under[i] != 0 {
			ratios = append(ratios, over[i]/under[i])
		}
	}
	return ratios
}
