package report

// Bound is the target of a claim. The zero value is no bound.
type Bound struct {
	value float64
	kind  string // "at least", "at most" or ""
}

// AtLeast returns a bound that values of v and more keep.
func AtLeast(v float64) Bound { return Bound{v, "at least"} }

// AtMost returns a bound that values of v and less keep.
func AtMost(v float64) Bound { return Bound{v, "at most"} }

// Keeps reports whether a value keeps the bound. Every value keeps the zero Bound.
func (b Bound) Keeps(v float64) bool {
	switch b.kind {
	case "at least":
		return v >= b.value
	case "at most":
		return v <= b.value
	}
	return true
}

// Claim is a figure with the bound of its median.
type Claim struct {
	Sample Sample
	Unit   Unit
	Bound  Bound
}

// Figure is the median as text, with the spread if there were several rounds.
func (c Claim) Figure() string {
	if len(c.Sample) == 0 {
		return "not measured"
	}
	text := c.Unit.Format(c.Sample.Median())
	if len(c.Sample) == 1 {
		return text
	}
	least, most := c.Sample.Spread()
	return text + " (" + c.Unit.number(least) + " to " + c.Unit.number(most) + ")"
}

// Status is the bound as text, and whether the median keeps it; "" without a bound.
func (c Claim) Status() string {
	if c.Bound.kind == "" {
		return ""
	}
	text := c.Bound.kind + " " + c.Unit.Format(c.Bound.value) + ": "
	switch {
	case len(c.Sample) == 0:
		return text + "not measured"
	case c.Bound.Keeps(c.Sample.Median()):
		return text + "met"
	}
	return text + "**not met**"
}
