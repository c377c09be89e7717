package classify

import "math"

// The confidence of an entry is the chance that it is right, as far as labelled
// samples tell. It is a logistic function of the entry's evidence, with its own
// coefficients for each kind of text, all of them 0 or more but the base: more
// evidence never lowers a confidence.
//
// The coefficients are fitted by weighted logistic regression on the first three
// entries of every answer: the first counts 1, the others half or, for names, less,
// and each set of samples of a kind as much as any other. Fit them again whenever the taxonomies,
// their aliases or the scores have changed:
//
//	go test ./client/embedded/classify -run TestReliability -samples DIR -update
//
// DIR is an absolute path; see reliability_test.go for what it holds.
var (
	titleFit       = calibration{base: -5.765, score: 2.252, margin: 1.293, share: 0.000, coverage: 0.989, head: 0.000, domain: 0.000}
	pageFit        = calibration{base: -1.468, score: 0.886, margin: 0.553, share: 2.722, coverage: 0.000, head: 0.000, domain: 0.000}
	companyFit     = calibration{base: -3.684, score: 1.229, margin: 0.149, share: 4.935, coverage: 1.239, head: 0.000, domain: 0.000}
	companyNameFit = calibration{base: -2.273, score: 0.336, margin: 0.000, share: 0.792, coverage: 0.186, head: 0.613, domain: 3.315}
	nameFit        = calibration{base: -2.133, score: 1.307, margin: 0.000, share: 0.462, coverage: 1.359, head: 0.164, domain: 0.000}
)

// calibration holds the coefficients for one kind of text.
type calibration struct {
	base     float64 // for an entry with no evidence
	score    float64 // for the logarithm of its score
	margin   float64 // for its lead over the best entry of another branch
	share    float64 // for the share of all scores that is under its top level
	coverage float64 // for the share of the text that speaks of it
	head     float64 // for a name whose last word speaks of it
	domain   float64 // for a name whose top-level domain does
}

// evidence is what an entry's confidence depends on.
type evidence struct {
	score    float64 // natural logarithm
	margin   float64 // natural logarithm of the quotient, between -maxMargin and maxMargin
	share    float64 // 0 to 1
	coverage float64 // 0 to 1
	head     float64 // 0 or 1
	domain   float64 // 0 or 1
}

// maxMargin is that of an entry without a rival.
const maxMargin = 1.5

// confidence is the probability with four decimals, so that the last bits of
// floating-point arithmetic, which may differ between processors, do not show.
func (c *calibration) confidence(v evidence) float64 {
	return math.Round(1e4*c.probability(v)) / 1e4
}

func (c *calibration) probability(v evidence) float64 {
	z := c.base + c.score*v.score + c.margin*v.margin + c.share*v.share + c.coverage*v.coverage + c.head*v.head + c.domain*v.domain
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
	v := evidence{
		score:    math.Log(float64(entry.score)),
		margin:   min(max(margin, -maxMargin), maxMargin),
		share:    float64(s.tops[e.top[entry.category]] / all),
		coverage: min(float64(s.scores[entry.category]/s.mass), 1),
	}
	if len(s.name) > 0 {
		e.addNameEvidence(&v, s, entry.category)
	}
	return v
}

// addNameEvidence takes into account what the words are by which a name is judged. Most
// names are made of words that mean something else there, above all when these are few of
// the letters, or stand before another word: Applebee's grows no apples.
func (e *Engine) addNameEvidence(v *evidence, s *scratch, category int32) {
	speaking, letters := 0, 0
	for _, w := range s.name {
		letters += w.letters
		if speaks, _ := e.speaks(w.term, category); speaks {
			speaking += w.letters
		}
	}
	v.coverage = float64(speaking) / float64(letters)
	_, isHead := e.speaks(s.nameHead, category)
	v.head = share(isHead)
	_, isHead = e.speaks(s.domain, category)
	v.domain = share(isHead)
}

func share(all bool) float64 {
	if all {
		return 1
	}
	return 0
}

// speaks reports whether a phrase of the category or of its family holds a term, and
// whether one ends in it.
func (e *Engine) speaks(term, category int32) (holds, ends bool) {
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
