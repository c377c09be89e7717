package classify

import "math"

// The confidence of an entry is the chance that it is right, as far as labelled
// samples tell. It is a logistic function of the entry's evidence, with its own
// coefficients for each kind of text, all of them 0 or more but the base: more
// evidence never lowers a confidence.
//
// The coefficients are fitted by weighted logistic regression on the first three
// entries of every answer: the first counts 1, the others 0.5, and each set of
// samples of a kind as much as any other. Fit them again whenever the taxonomies,
// their aliases or the scores have changed:
//
//	go test ./client/embedded/classify -run TestReliability -samples DIR -update
//
// DIR is an absolute path; see reliability_test.go for what it holds.
var (
	titleFit       = calibration{base: -4.797, score: 1.736, margin: 1.507, share: 0.199, coverage: 1.112}
	pageFit        = calibration{base: -1.457, score: 0.876, margin: 0.566, share: 2.742, coverage: 0.000}
	companyFit     = calibration{base: -3.674, score: 1.227, margin: 0.134, share: 4.895, coverage: 1.288}
	companyNameFit = calibration{base: -2.832, score: 0.916, margin: 0.000, share: 1.784, coverage: 0.482}
	nameFit        = calibration{base: -1.589, score: 1.265, margin: 0.000, share: 0.552, coverage: 0.550}
)

// calibration holds the coefficients for one kind of text.
type calibration struct {
	base     float64 // for an entry with no evidence
	score    float64 // for the logarithm of its score
	margin   float64 // for its lead over the best entry of another branch
	share    float64 // for the share of all scores that is under its top level
	coverage float64 // for the share of the text that speaks of it
}

// evidence is what an entry's confidence depends on.
type evidence struct {
	score    float64 // natural logarithm
	margin   float64 // natural logarithm of the quotient, between -maxMargin and maxMargin
	share    float64 // 0 to 1
	coverage float64 // 0 to 1
}

// maxMargin is that of an entry without a rival.
const maxMargin = 1.5

// confidence is the probability with four decimals, so that the last bits of
// floating-point arithmetic, which may differ between processors, do not show.
func (c *calibration) confidence(v evidence) float64 {
	return math.Round(1e4*c.probability(v)) / 1e4
}

func (c *calibration) probability(v evidence) float64 {
	z := c.base + c.score*v.score + c.margin*v.margin + c.share*v.share + c.coverage*v.coverage
	return 1 / (1 + math.Exp(-z))
}

// evidence collects that of the i-th of the leaders.
func (e *Engine) evidence(s *scratch, leaders []ranked, i int) evidence {
	entry := leaders[i]
	margin := maxMargin
	for _, rival := range leaders {
		if !e.related(entry.category, rival.category) {
			margin = math.Log(float64(entry.score / rival.score))
			break
		}
	}
	all := float32(0)
	for _, top := range s.topList {
		all += s.tops[top]
	}
	return evidence{
		score:    math.Log(float64(entry.score)),
		margin:   min(max(margin, -maxMargin), maxMargin),
		share:    float64(s.tops[e.top[entry.category]] / all),
		coverage: min(float64(s.scores[entry.category]/s.mass), 1),
	}
}

// related reports whether one of two categories is the other's ancestor, or the
// other itself.
func (e *Engine) related(a, b int32) bool {
	return e.isUnder(a, b) || e.isUnder(b, a)
}

func (e *Engine) isUnder(a, b int32) bool {
	for c := int(a); c >= int(b); c = e.taxonomy.Categories[c].Parent { // parents come before their children
		if c == int(b) {
			return true
		}
	}
	return false
}
