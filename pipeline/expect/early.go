package expect

import (
	"math"

	"github.com/bulkcat/bulkcat/pipeline/account"
)

// Early predicts from the first records of an output that an expectation will not be met. It checks numbers and shares of
// statuses. An expectation is hopeless if even the best outcome of the remaining records does not meet it. A share is also
// hopeless if its Wilson confidence interval lies beyond the bound. The interval assumes that the first records are like the
// rest: a list that is sorted by outcome may be stopped too early.
type Early struct {
	list []Expectation
	next int64 // number of records at the next check
}

const (
	// earliest is the number of records at the first check.
	earliest = 200
	// deviations is the half-width of the interval in standard deviations. Chance exceeds it in one of 30,000 checks. So, of
	// runs of ten million records whose share is exactly the bound, it stops less than one in a hundred.
	deviations = 4
	// lookAgain sets the distance of the checks: the next check is due after 1/lookAgain more records.
	lookAgain = 20
)

// NewEarly returns an Early for a list of expectations.
func NewEarly(list []Expectation) *Early { return &Early{list, earliest} }

// Check judges the expectations. first counts the statuses so far; all is the number of all records, 0 if unknown. Both count a
// record once per classification. The error is a *BrokenError with the expectations that will not be met.
func (e *Early) Check(first account.Statuses, all int64) error {
	n := first.Sum()
	if n < e.next {
		return nil
	}
	e.next = n + n/lookAgain
	f := figures{records: n, statuses: first}
	var hopeless []account.Expected
	for _, x := range e.list {
		if figureOf(x.Figure).statuses != nil && !x.possible(f.value(x.Figure), float64(all)) {
			result := x.result(f.value(x.Figure))
			result.Value, result.Met = result.Value+" so far", false
			hopeless = append(hopeless, result)
		}
	}
	if hopeless == nil {
		return nil
	}
	return &BrokenError{Results: hopeless, Held: true, Early: true}
}

// possible reports whether the output may still meet the expectation. v is the value of the first records; all is the number of
// all records.
func (e Expectation) possible(v value, all float64) bool {
	least, most := v.number, math.Inf(1)
	if all >= v.of {
		most = v.number + all - v.of
	}
	if e.Share {
		low, high := interval(v)
		if all >= v.of {
			low, high = max(low, least/all), min(high, most/all)
		}
		least, most = 100*low, 100*high
	}
	return e.met(least) || e.met(most) || e.Op == "==" && least <= e.Bound && e.Bound <= most
}

// interval returns the Wilson score interval of a share (E. B. Wilson, Probable inference, 1927).
func interval(v value) (low, high float64) {
	const square = deviations * deviations
	share, n := v.number/v.of, v.of
	middle := (share + square/(2*n)) / (1 + square/n)
	half := deviations / (1 + square/n) * math.Sqrt(share*(1-share)/n+square/(4*n*n))
	return max(0, middle-half), min(1, middle+half)
}
