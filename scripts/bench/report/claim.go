package report

// Bound is what a claim has to keep. The zero value is no bound.
type Bound struct {
	value float64
	kind  string // "at least", "at most" or ""
}

// AtLeast is kept by values from v on.
func AtLeast(v float64) Bound { return Bound{v, "at least"} }

// AtMost is kept by values up to v.
func AtMost(v float64) Bound { return Bound{v, "at most"} }

// Keeps says whether a value keeps the bound; any keeps none.
func (b Bound) Keeps(v float64) bool {
	switch b.kind {
	case "at least":
		return v >= b.value
	case "at most":
		return v <= b.value
	}
	return true
}

// Claim is a figure, and the bound that its median has to keep.
type Claim struct {
	Sample Sample
	Unit   Unit
	Bound  Bound
}

// Figure is the claim's value in words, with its spread if there were several rounds.
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

// Verdict is the claim's bound in words, and whether it is kept; "" without a bound.
func (c Claim) Verdict() string {
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
