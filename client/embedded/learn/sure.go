package learn

import (
	"cmp"
	"math"
	"slices"
)

// Agreement is how often the first answers of a cross-validation agree with the labels: those with at least a confidence.
// Repeated inputs count once.
type Agreement struct {
	Confidence float64 `json:"confidence"`
	Rows       int64   `json:"rows"`
	Equal      int64   `json:"equal"` // rows whose first answer is an allowed category
	Right      int64   `json:"right"` // rows whose first answer is an allowed category or lies below one
}

const (
	sureLevel      = 0.6   // of the bound of Sure; with 0.95 a few hundred labels are sure of nearly nothing
	mostAgreements = 250   // of a model: steps of less than 0.4% of the rows say nothing
	leastTerm      = 1e-30 // of a sum of terms, the largest of which is 1
)

// Sure returns the lowest confidence from which on the first answers of the model are equal to labels as its own at least as
// often as precision, 0 to 1: the one-sided 60% lower bound of the cross-validation reaches it. It is false if none does;
// for 0.95 a model needs at least 18 inputs with such answers. The bound is that of a choice, not of a proof: it lies a little below
// the estimate, so that the true share is as often above the precision as below. A proof is a sample of the answers.
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

// From returns the agreement of the first answers with at least a confidence; zero if there are none.
func (m *Model) From(confidence float64) (from Agreement) {
	for _, a := range m.Agreements {
		if a.Confidence >= confidence {
			from = a
		}
	}
	return from
}

// LowerBound is the one-sided lower bound of Clopper and Pearson of a share, at a level such as 0.95, when right of a random
// sample are right. It is 0 for a sample of 0.
func LowerBound(right, of int64, level float64) float64 {
	least, most := 0.0, 1.0 // of the share that is wrong
	for range 64 {
		if middle := (least + most) / 2; atMost(of-right, of, middle) > 1-level {
			least = middle
		} else {
			most = middle
		}
	}
	return 1 - most
}

// atMost is the probability that at most k of n are wrong, when the share wrong is between 0 and 1. It adds up the terms of
// the binomial distribution from the largest on, in both directions, until they are negligible.
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

// answered is the confidence of a first answer of the cross-validation.
type answered struct {
	confidence       float64
	isEqual, isRight bool
}

// agreements adds answers up from the most confident one on.
func agreements(list []answered) []Agreement {
	slices.SortFunc(list, func(a, b answered) int { return cmp.Compare(b.confidence, a.confidence) })
	var all []Agreement
	var sum Agreement
	counted := int64(0) // in the last step
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
