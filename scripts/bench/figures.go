package main

import (
	"slices"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// sample is one figure, measured in several rounds.
type sample []float64

// median returns the median; 0 without values.
func (s sample) median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return (sorted[(len(s)-1)/2] + sorted[len(s)/2]) / 2
}

// ratios divides round by round, because other load on the machine affects both sides of a round.
// It leaves out rounds that one side lacks and rounds whose divisor is 0.
func ratios(over, under sample) sample {
	var ratios sample
	for i := range min(len(over), len(under)) {
		if under[i] != 0 {
			ratios = append(ratios, over[i]/under[i])
		}
	}
	return ratios
}

// unit is the unit and the format of a figure.
type unit struct {
	name   string
	digits int     // after the decimal point
	scale  float64 // the divisor of a figure
}

// The units. Times are measured in seconds, sizes in bytes.
var (
	ratio        = unit{"", 2, 1}
	percent      = unit{"%", 0, 0.01}
	count        = unit{"", 0, 1}
	perSecond    = unit{"/s", 0, 1}
	seconds      = unit{" s", 1, 1}
	milliseconds = unit{" ms", 1, 1e-3}
	microseconds = unit{" µs", 1, 1e-6}
	mebibytes    = unit{" MiB", 1, 1 << 20}
)

// format writes a figure with its unit.
func (u unit) format(v float64) string { return u.number(v) + u.name }

// number writes a figure with commas between thousands.
func (u unit) number(v float64) string {
	return message.NewPrinter(language.English).Sprintf("%.*f", u.digits, v/u.scale)
}

// bound is the target of a claim. The zero value is no bound.
type bound struct {
	value float64
	kind  string // "at least", "at most" or ""
}

// atLeast returns a bound that values of v and more keep.
func atLeast(v float64) bound { return bound{v, "at least"} }

// atMost returns a bound that values of v and less keep.
func atMost(v float64) bound { return bound{v, "at most"} }

// claim is a figure with the bound of its median.
type claim struct {
	sample sample
	unit   unit
	bound  bound
}

// figure formats the median, with the minimum and the maximum if there were several rounds.
func (c claim) figure() string {
	switch len(c.sample) {
	case 0:
		return "not measured"
	case 1:
		return c.unit.format(c.sample[0])
	}
	return c.unit.format(c.sample.median()) + " (" + c.unit.number(slices.Min(c.sample)) + " to " + c.unit.number(slices.Max(c.sample)) + ")"
}

// status formats the bound, and says whether the median keeps the bound; "" without a bound.
func (c claim) status() string {
	if c.bound.kind == "" {
		return ""
	}
	text, median := c.bound.kind+" "+c.unit.format(c.bound.value)+": ", c.sample.median()
	switch {
	case len(c.sample) == 0:
		return text + "not measured"
	case c.bound.kind == "at least" && median >= c.bound.value, c.bound.kind == "at most" && median <= c.bound.value:
		return text + "met"
	}
	return text + "**not met**"
}
