package classify

import (
	"math"
	"testing"
)

func TestMoreEvidenceMoreConfidence(t *testing.T) {
	for name, c := range map[string]calibration{
		"title": titleFit, "page": pageFit, "company": companyFit, "name": nameFit, "company's name": companyNameFit,
	} {
		little := evidence{score: 0, margin: -1, share: 0.1, coverage: 0.1}
		for what, more := range map[string]evidence{
			"a higher score":  {1, -1, 0.1, 0.1, 0, 0},
			"a larger margin": {0, 1, 0.1, 0.1, 0, 0},
			"a larger share":  {0, -1, 0.9, 0.1, 0, 0},
			"more coverage":   {0, -1, 0.1, 0.9, 0, 0},
			"a name's head":   {0, -1, 0.1, 0.1, 1, 0},
			"a domain":        {0, -1, 0.1, 0.1, 0, 1},
		} {
			if c.confidence(more) < c.confidence(little) {
				t.Errorf("%s: less confidence with %s: %v, %v", name, what, c.confidence(more), c.confidence(little))
			}
		}
		for _, score := range []float64{-1e9, 1e9} {
			if p := c.confidence(evidence{score: score}); !(p >= 0 && p <= 1) {
				t.Errorf("%s: confidence %v of score %v", name, p, score)
			}
		}
	}
}

func TestEvidence(t *testing.T) {
	e := small(t, "Boats\n\tDinghies\n\tRafts\nCars\n\tVans\n")
	tests := []struct {
		name, title             string
		margin, share, coverage float64
	}{
		{"alone", "dinghy", maxMargin, 1, 1},
		{"a child and its parent", "dinghy boat", maxMargin, 1, 0.6},
		{"a rival, but the last noun is the head", "dinghy van", 0.702, 0.757, 0.6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := e.borrow()
			defer e.giveBack(s)
			e.scoreTitle(s, tt.title)
			got := e.evidence(s, e.leaders(s), 0)
			near := func(a, b float64) bool { return math.Abs(a-b) < 0.001 }
			if !near(got.margin, tt.margin) || !near(got.share, tt.share) || !near(got.coverage, tt.coverage) {
				t.Errorf("got %+v, want %+v", got, tt)
			}
		})
	}
}
