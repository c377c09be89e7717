package cascade

import (
	"math"

	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

// levelOf returns the confidence level of the bound of a step, from 1. The error probabilities of all steps sum to at most 5%:
// 2.5% for the first step, and half of the previous for each further step.
func levelOf(step int) float64 { return 1 - 0.05*math.Pow(0.5, float64(step)) }

// Restated returns the audit with Level and Bound computed from its counts. Bound is rounded down to six digits, because the last digits of a float differ between
// processors.
func Restated(a account.Audit) account.Audit {
	a.Level, a.Bound = 0, 0
	if a.Step > 0 && a.Sample > 0 {
		a.Level = levelOf(a.Step)
		a.Bound = math.Floor(1e6*learn.LowerBound(a.Sample-a.Disagreed-a.Missing, a.Sample, a.Level)) / 1e6
	}
	return a
}
