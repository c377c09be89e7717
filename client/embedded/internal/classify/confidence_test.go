package classify

import (
	"math"
	"testing"
)

func TestMoreEvidenceMoreConfidence(t *testing.T) {
	for name, c := range map[string]calibration{
		"title": titleFit, "page": pageFit, "company": companyFit, "name": nameFit, "company's name": companyNameFit,
	} {
		little := evidence{ofBase: 1, ofMargin: -1, ofShare: 0.1, ofCoverage: 0.1, ofHeight: -3}
		for variable := ofScore; variable < variables; variable++ {
			more := little
			more[variable]++
			if c.confidence(more) < c.confidence(little) {
				t.Errorf("%s: less confidence with more of variable %d: %v, %v", name, variable, c.confidence(more), c.confidence(little))
			}
		}
		for _, score := range []float64{-1e9, 1e9} {
			if p := c.confidence(evidence{ofBase: 1, ofScore: score}); !(p >= 0 && p <= 1) {
				t.Errorf("%s: confidence %v of score %v", name, p, score)
			}
		}
	}
}

func TestEvidence(t *testing.T) {
	e := small(t, "Boats\n\tDinghies\n\tRafts\nCars\n\tVans\n")
	tests := []struct {
		name, title string
		want        evidence
	}{
		{"alone", "dinghy", evidence{ofMargin: maxMargin, ofShare: 1, ofCoverage: 1, ofWhole: 1, ofHeight: -1, ofLeaf: 1, ofWords: math.Log(2), ofWordsTop: math.Log(4), ofKin: 1}},
		{"a child and its parent", "dinghy boat", evidence{ofMargin: maxMargin, ofShare: 1, ofCoverage: 0.6, ofWhole: 1, ofWords: math.Log(2), ofWordsTop: math.Log(4), ofKin: 1}},
		{"a rival, but the last noun is the head", "dinghy van", evidence{ofMargin: 0.702, ofShare: 0.757, ofCoverage: 0.6, ofWhole: 1, ofHeight: -1, ofLeaf: 1, ofWords: math.Log(2), ofWordsTop: math.Log(3), ofKin: 0.5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := e.borrow()
			defer e.giveBack(s)
			e.scoreTitle(s, tt.title)
			got := e.evidence(s, e.leaders(s), 0)
			for variable := ofMargin; variable < variables; variable++ {
				if math.Abs(got[variable]-tt.want[variable]) > 0.001 {
					t.Errorf("variable %d is %v, want %v", variable, got[variable], tt.want[variable])
				}
			}
		})
	}
}
