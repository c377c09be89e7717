package classify

import "math"

// The confidence of an entry is the probability that the entry is right, estimated from labelled samples. It is a logistic
// function of the entry's evidence, with coefficients for each kind of text. All coefficients except the base are 0 or more:
// more evidence never lowers a confidence.
//
// TestCalibrate fits the coefficients to the first three entries of every answer, by weighted logistic regression. The first
// entry weighs 1. The others weigh 0.5 for titles and companies, and 0.3 for pages and names. All sets of samples of a kind weigh
// the same. Run it again when the taxonomies, their aliases or the scores have changed. The taxonomies for linkFit consist of the
// labels of two sets of titles.
var (
	titleFit       = calibration{ofBase: -6.755, ofScore: 1.429, ofMargin: 0.925, ofShare: 0.425, ofCoverage: 0.768, ofWhole: 3.276, ofHeight: 0.133, ofLeaf: 0.455}
	pageFit        = calibration{ofBase: -7.082, ofScore: 0.631, ofLeaf: 0.597, ofWords: 0.852, ofWordsTop: 0.238, ofKin: 2.089}
	companyFit     = calibration{ofBase: -3.684, ofScore: 1.229, ofMargin: 0.149, ofShare: 4.935, ofCoverage: 1.239}
	companyNameFit = calibration{ofBase: -2.273, ofScore: 0.336, ofShare: 0.792, ofCoverage: 0.186, ofHead: 0.613, ofDomain: 3.315}
	linkFit        = calibration{ofBase: -2.807, ofScore: 1.198, ofMargin: 1.942, ofShare: 0.188, ofCoverage: 2.304}
	nameFit        = calibration{ofBase: -2.137, ofScore: 1.310, ofShare: 0.492, ofCoverage: 1.365, ofHead: 0.147}
)

// The variables of a confidence.
const (
	ofBase     = iota // 1
	ofScore           // the natural logarithm of the score
	ofMargin          // the natural logarithm of the score divided by the best score of an unrelated category, between -maxMargin and maxMargin
	ofShare           // the share of all scores under the same top level
	ofCoverage        // the share of the text that matches the category; with links, the confidence of the base's best category
	ofHead            // 1 for a name whose last word matches the category
	ofDomain          // 1 for a name whose top-level domain matches the category
	ofWhole           // for a title: the share of the category's best phrase that is in the title
	ofHeight          // the negative number of levels above the category, each of which can be wrong
	ofLeaf            // 1 for a category without children; else a descendant may be the right category
	ofWords           // the natural logarithm of the number of the category's phrases: with few phrases, a single word decides
	ofWordsTop        // the natural logarithm of the number of phrases under the same top level
	ofKin             // the share of the leaders that are under the same top level
	variables
)

// evidence holds the variables of an entry.
type evidence [variables]float64

// calibration holds the coefficients of the variables for one kind of text.
type calibration [variables]float64

// maxMargin is the margin of an entry without a rival.
const maxMargin = 1.5

// confidence is the probability rounded to four decimals, because the last bits of floating-point results differ between
// processors.
func (c *calibration) confidence(v evidence) float64 {
	return math.Round(1e4*c.probability(v)) / 1e4
}

func (c *calibration) probability(v evidence) float64 {
	z := 0.0
	for i, x := range v {
		z += c[i] * x
	}
	return 1 / (1 + math.Exp(-z))
}

// evidence returns the evidence of the i-th leader.
func (e *Engine) evidence(s *scratch, leaders []ranked, i int) evidence {
	entry := leaders[i]
	margin := maxMargin
	for _, rival := range leaders {
		if !e.taxonomy.AreKin(entry.category, rival.category) {
			margin = math.Log(float64(entry.score / rival.score))
			break
		}
	}
	all, kin, top := float32(0), 0, e.top[entry.category]
	for _, top := range s.tops.set {
		all += s.tops.value[top]
	}
	for _, other := range leaders {
		if e.top[other.category] == top {
			kin++
		}
	}
	v := evidence{
		ofBase:     1,
		ofScore:    math.Log(float64(entry.score)),
		ofMargin:   min(max(margin, -maxMargin), maxMargin),
		ofShare:    float64(s.tops.value[top] / all),
		ofCoverage: min(float64(s.scores.value[entry.category]/s.mass), 1),
		ofHeight:   -float64(e.taxonomy.Categories[entry.category].Depth),
		ofLeaf:     share(e.isLeaf(entry.category)),
		ofWords:    e.words[entry.category],
		ofWordsTop: e.wordsUnder[top],
		ofKin:      float64(kin) / float64(len(leaders)),
	}
	if best := s.best[entry.category]; best > 0 {
		v[ofWhole] = float64(s.hits[best-1].covered / e.index.phrases[best-1].mass)
	}
	if e.links != nil {
		v[ofCoverage] = s.linkConfidence
	}
	if len(s.name) > 0 {
		e.addNameEvidence(&v, s, entry.category)
	}
	return v
}

// addNameEvidence adds the evidence of a host name. Words in names rarely have their usual meaning, in particular short words
// and words before another word: Applebee's is no apple farm.
func (e *Engine) addNameEvidence(v *evidence, s *scratch, category int32) {
	speaking, letters := 0, 0
	for _, w := range s.name {
		letters += w.letters
		if holds, _ := e.holdsTerm(w.term, category); holds {
			speaking += w.letters
		}
	}
	v[ofCoverage] = float64(speaking) / float64(letters)
	_, isHead := e.holdsTerm(s.nameHead, category)
	v[ofHead] = share(isHead)
	_, isHead = e.holdsTerm(s.domain, category)
	v[ofDomain] = share(isHead)
}

func share(all bool) float64 {
	if all {
		return 1
	}
	return 0
}

// holdsTerm reports whether a phrase of the category, an ancestor or a descendant holds a term, and whether the term is the
// head of such a phrase.
func (e *Engine) holdsTerm(term, category int32) (holds, isHead bool) {
	if term == noTerm {
		return false, false
	}
	for _, p := range e.index.byTerm[term] {
		phrase := &e.index.phrases[p]
		if e.top[phrase.category] != e.top[category] || !e.taxonomy.AreKin(phrase.category, category) {
			continue
		}
		if holds = true; phrase.head == term {
			return true, true
		}
	}
	return holds, false
}

// isLeaf reports whether a category has no children, which would follow it.
func (e *Engine) isLeaf(c int32) bool {
	next := int(c) + 1
	return next == len(e.taxonomy.Categories) || e.taxonomy.Categories[next].Parent != int(c)
}
