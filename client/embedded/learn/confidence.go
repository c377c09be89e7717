package learn

import (
	"math"
	"slices"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// The variables of a confidence.
const (
	trustBase   = iota // 1
	trustChance        // the log odds of the candidate's chance, by the utilities
	trustKin           // the log odds of the summed chances of the candidate and its kin: ancestors and descendants
	trustMargin        // the utility minus the utility of the best candidate that is no kin, -5 to 5
	trustEngine        // the confidence of the engine in the candidate, an ancestor or a descendant
	trustKnown         // the share of the input's words that examples have
	trustClass         // the log odds of the summed chances of the candidate, its kin and the candidates of its class
	trustRival         // the utility minus the utility of the best candidate outside trustClass, -5 to 5
	trustShare         // the log odds of the share of the candidate's class
	trustLead          // trustShare minus the same log odds of the best other class
	trusts
)

// confidences holds the coefficients of a logistic function.
type confidences [trusts]float64

const (
	mostMargin    = 5.0
	entriesFitted = 3 // of an answer
	ridge         = 1
	trustSteps    = 1500 // many, because several variables are nearly equal
)

// evidence returns the variables of the first candidates of a ranked list, at most limit.
func evidence(t *taxonomy.Taxonomy, list []candidate, known float64, limit int) [][trusts]float64 {
	chances := make([]float64, len(list))
	for i, c := range list {
		chances[i] = c.utility
	}
	softmax(chances)
	all := make([][trusts]float64, min(limit, len(list)))
	for i := range all {
		c := &list[i]
		kin, margin, class, rival, other := 0.0, mostMargin, 0.0, mostMargin, 0.0
		for j, o := range list {
			isKin := t.AreKin(c.category, o.category)
			if isKin {
				kin += chances[j]
			} else if margin == mostMargin {
				margin = c.utility - o.utility
			}
			if isKin || c.class != noClass && c.class == o.class {
				class += chances[j]
			} else {
				if rival == mostMargin {
					rival = c.utility - o.utility
				}
				other = max(other, o.classShare)
			}
		}
		v := c.variables
		all[i] = [trusts]float64{
			trustBase: 1, trustChance: logOdds(chances[i]), trustKin: logOdds(kin), trustMargin: clamp(margin),
			trustEngine: max(v[useEngine], v[useBelow], v[useAbove]), trustKnown: known,
			trustClass: logOdds(class), trustRival: clamp(rival), trustShare: logOdds(c.classShare), trustLead: logOdds(c.classShare) - logOdds(other),
		}
	}
	return all
}

func clamp(margin float64) float64 { return min(max(margin, -mostMargin), mostMargin) }

// of returns the confidence of an entry, rounded to four decimals like the engine's.
func (c *confidences) of(v [trusts]float64) float64 {
	return math.Round(1e4*logistic(dot(c[:], v[:]))) / 1e4
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// judged is the evidence of an entry, and whether the entry is right.
type judged struct {
	evidence [trusts]float64
	isRight  bool
}

// fitConfidences fits the coefficients by logistic regression, with a weak penalty.
func fitConfidences(entries []judged) confidences {
	var c confidences
	c[trustChance] = 1
	penalty := func(k int) float64 {
		if k == trustBase {
			return 0
		}
		return ridge * c[k]
	}
	minimize(c[:], float64(max(len(entries), 1)), trustSteps, penalty, func(gradient []float64) {
		for _, e := range entries {
			d := logistic(dot(c[:], e.evidence[:]))
			if e.isRight {
				d--
			}
			for k, x := range e.evidence {
				gradient[k] += d * x
			}
		}
	})
	return c
}

// isRight reports whether a category is an allowed category or a descendant of an allowed category.
func isRight(t *taxonomy.Taxonomy, category int32, allowed []int32) bool {
	return slices.ContainsFunc(allowed, func(a int32) bool { return t.IsUnder(category, a) })
}
