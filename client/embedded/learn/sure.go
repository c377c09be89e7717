package learn

import (
	"cmp"
	"math"
	"slices"
)

// Agreement counts the first answers of a cross-validation that have at least a confidence, and how many of these agree with
// their labels. Repeated inputs count once.
type Agreement struct {
	Confidence float64 `json:"confidence"`
	Rows       int64   `json:"rows"`
	Equal      int64   `json:"equal"` // rows whose first answer is an allowed category
	Right      int64   `json:"right"` // rows whose first answer is an allowed category or lies below an allowed category
}

const (
	sureLevel      = 0.6   // level of the bound in Sure: at 0.95, few answers would pass with a few hundred labels
	mostAgreements = 250   // of a model: each adds at least 0.4% of the rows
	leastTerm      = 1e-30 // smallest term of a sum whose largest term is 1
)

// Sure returns the lowest confidence at which the share of first answers that equal an allowed category is at least precision,
// 0 to 1. ok is false if there is none. The share is a one-sided 60% lower bound from the cross-validation. It selects a
// threshold, and proves nothing: the true share is about as often below precision as above. Only a new sample of answers is a
// proof. For 0.95, at least 18 inputs must have such answers.
func (m *Model) Sure(precision float64) (threshold float64, ok bool) {
	return m.sure(precision, func(a Agreement) int64 { return a.Equal })
}

func (m *Model) sure(precision float64, agreed func(Agreement) int64) (threshold float64, ok bool) {
	for _, a := range m.Agreements {
		if LowerBound(agreed(a), a.Rows, sureLevel) >= precision {
			threshold, ok = a.Confidence, true
		}
	}
	return threshold, ok
}

// From returns the Agreement of the first answers with at least a confidence; the zero value if there are none.
func (m *Model) From(confidence float64) (from Agreement) {
	for _, a := range m.Agreements {
		if a.Confidence >= confidence {
			from = a
		}
	}
	return from
}

// LowerBound returns the one-sided Clopper-Pearson lower bound of a share, at a level such as 0.95, if right elements of a random
// sample of size elements have the property. It is 0 for an empty sample.
func LowerBound(right, size int64, level float64) float64 {
	least, most := 0.0, 1.0 // of the share that is wrong
	for range 64 {
		if middle := (least + most) / 2; atMost(size-right, size, middle) > 1-level {
			least = middle
		} else {
			most = middle
		}
	}
	return 1 - most
}

// atMost is the probability that at most k of n are wrong, if the share wrong is between 0 and 1. It sums the terms of the
// binomial distribution in both directions from the largest, until they are negligible.
func atMost(k, n int64, wrong float64) float64 {
	if k >= n {
		return 1
	}
	if k < 0 || wrong >= 1 {
		return 0
	}
	from := min(k, int64(float64(n)*wrong))
	odds := wrong / (1 - wrong)
	sum, term := 1.0, 1.0 // in units of the largest term
	for i := from; i > 0 && term > leastTerm; i-- {
		term *= float64(i) / float64(n-i+1) / odds
		sum += term
	}
	term = 1
	for i := from; i < k && term > leastTerm; i++ {
		term *= float64(n-i) / float64(i+1) * odds
		sum += term
	}
	logOf := func(i int64) float64 { l, _ := math.Lgamma(float64(i + 1)); return l } // of i!
	largest := logOf(n) - logOf(from) - logOf(n-from) + float64(from)*math.Log(wrong) + float64(n-from)*math.Log1p(-wrong)
	return sum * math.Exp(largest)
}

// answered is a first answer of the cross-validation.
type answered struct {
	confidence       float64
	isEqual, isRight bool
}

// agreements sums the answers by falling confidence, in at most mostAgreements steps.
func agreements(list []answered) []Agreement {
	slices.SortFunc(list, func(a, b answered) int { return cmp.Compare(b.confidence, a.confidence) })
	var all []Agreement
	var sum Agreement
	counted := int64(0) // rows in the last Agreement
	for i, a := range list {
		sum.Confidence, sum.Rows = a.confidence, sum.Rows+1
		if a.isEqual {
			sum.Equal++
		}
		if a.isRight {
			sum.Right++
		}
		isLast := i+1 == len(list) || list[i+1].confidence < a.confidence
		if isLast && (sum.Rows-counted)*mostAgreements >= int64(len(list)) {
			all, counted = append(all, sum), sum.Rows
		}
	}
	return all
}
