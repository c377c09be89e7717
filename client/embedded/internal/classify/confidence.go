package classify

import "math"

// The confidence of an entry is the probability that the entry is right, as far as labelled samples
// show. It is a logistic function of the entry's evidence, with coefficients for each kind of
// text. All coefficients but the base are 0 or more: more evidence never lowers a confidence.
//
// scripts/calibrate fits the coefficients by weighted logistic regression to the first three
// entries of every answer. The first entry weighs 1, the others half or, for names, less; all
// sets of samples of a kind weigh the same. Run it again when the taxonomies, their aliases or
// the scores have changed. linkFit was fitted to taxonomies that were made of the labels of two sets of titles.
var (
	titleFit       = calibration{base: -5.765, score: 2.252, margin: 1.293, share: 0.000, coverage: 0.989, head: 0.000, domain: 0.000}
	pageFit        = calibration{base: -1.468, score: 0.886, margin: 0.553, share: 2.722, coverage: 0.000, head: 0.000, domain: 0.000}
	companyFit     = calibration{base: -3.684, score: 1.229, margin: 0.149, share: 4.935, coverage: 1.239, head: 0.000, domain: 0.000}
	companyNameFit = calibration{base: -2.273, score: 0.336, margin: 0.000, share: 0.792, coverage: 0.186, head: 0.613, domain: 3.315}
	linkFit        = calibration{base: -2.807, score: 1.198, margin: 1.942, share: 0.188, coverage: 2.304, head: 0.000, domain: 0.000}
	nameFit        = calibration{base: -2.133, score: 1.307, margin: 0.000, share: 0.462, coverage: 1.359, head: 0.164, domain: 0.000}
)

// calibration holds the coefficients for one kind of text.
type calibration struct {
	base     float64 // for an entry without evidence
	score    float64 // for the logarithm of the score
	margin   float64 // for the distance to the best entry of another branch
	share    float64 // for the share of all scores under the same top level
	coverage float64 // for the share of the text that matches the category; of linked categories, for the confidence of the other taxonomy's
	head     float64 // for a name whose last word matches the category
	domain   float64 // for a name whose top-level domain matches the category
}

// evidence holds the variables that an entry's confidence depends on.
type evidence struct {
	score    float64 // natural logarithm
	margin   float64 // natural logarithm of the quotient, between -maxMargin and maxMargin
	share    float64 // 0 to 1
	coverage float64 // 0 to 1
	head     float64 // 0 or 1
	domain   float64 // 0 or 1
}

// maxMargin is the margin of an entry without a rival.
const maxMargin = 1.5

// confidence is the probability rounded to four decimals: floating-point results may differ
// between processors in their last bits.
func (c *calibration) confidence(v evidence) float64 {
	return math.Round(1e4*c.probability(v)) / 1e4
}

func (c *calibration) probability(v evidence) float64 {
	z := c.base + c.score*v.score + c.margin*v.margin + c.share*v.share + c.coverage*v.coverage + c.head*v.head + c.domain*v.domain
	return 1 / (1 + math.Exp(-z))
}

// evidence returns the evidence of the i-th leader.
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
	v := evidence{
		score:    math.Log(float64(entry.score)),
		margin:   min(max(margin, -maxMargin), maxMargin),
		share:    float64(s.tops[e.top[entry.category]] / all),
		coverage: min(float64(s.scores[entry.category]/s.mass), 1),
	}
	if e.links != nil {
		v.coverage = s.known
	}
	if len(s.name) > 0 {
		e.addNameEvidence(&v, s, entry.category)
	}
	return v
}

// addNameEvidence adds the evidence that a host name gives. Most words in names do not have their
// usual meaning, least of all words that are a small part of the letters or that precede another
// word: Applebee's is no apple farm.
func (e *Engine) addNameEvidence(v *evidence, s *scratch, category int32) {
	speaking, letters := 0, 0
	for _, w := range s.name {
		letters += w.letters
		if holds, _ := e.holdsTerm(w.term, category); holds {
			speaking += w.letters
		}
	}
	v.coverage = float64(speaking) / float64(letters)
	_, isHead := e.holdsTerm(s.nameHead, category)
	v.head = share(isHead)
	_, isHead = e.holdsTerm(s.domain, category)
	v.domain = share(isHead)
}

func share(all bool) float64 {
	if all {
		return 1
	}
	return 0
}

// holdsTerm reports whether a phrase of the category, an ancestor or a descendant holds a term, and
// whether such a phrase ends in the term.
func (e *Engine) holdsTerm(term, category int32) (holds, ends bool) {
	if term == noTerm {
		return false, false
	}
	for _, p := range e.index.byTerm.at(term) {
		phrase := &e.index.phrases[p]
		if e.top[phrase.category] != e.top[category] || !e.related(phrase.category, category) {
			continue
		}
		if holds = true; phrase.head == term {
			return true, true
		}
	}
	return holds, false
}

// related reports whether two categories are the same, or one is an ancestor of the other.
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
