package classify

import "math"

const (
	tie      = 0.97 // share of the best score: higher scores count as equal to it
	runnerUp = 0.3  // share of the best score: lower scores are left out

	// LeastConfidence is the least confidence of an entry: of entries below, fewer than one in ten is right.
	LeastConfidence = 0.08

	maxLeaders = 16 // categories that are compared with each other: more than any sensible limit
)

// candidates returns the best of the ranked categories whose confidence is at least least.
func (e *Engine) candidates(s *scratch, limit int, fit *calibration, least float64) []Match {
	leaders := e.leaders(s)
	var buf [maxLeaders]Match
	matches := buf[:0]
	ceiling := e.ceiling(s)
	for i := range leaders[:max(0, min(limit, len(leaders)))] {
		// No entry has a higher confidence than the entry before it.
		v := e.evidence(s, leaders, i)
		ceiling = min(ceiling, fit.confidence(v))
		if fit == &companyNameFit && v[ofDomain] == 0 {
			ceiling = min(ceiling, mostByName)
		}
		if ceiling < least {
			break
		}
		matches = append(matches, Match{int(leaders[i].category), ceiling})
	}
	return append([]Match(nil), matches...)
}

// mostDoubt is the highest confidence for a few words of which half or more are unknown. Of 27 such samples with a higher
// confidence, 15 were right.
const mostDoubt = 0.55

// mostByName is the highest confidence in an industry by a host name alone, unless the top-level domain matches it, such as .edu.
// Of 21 answers with a higher confidence, 7 were right; of 76 answers above 0.3, 30.
const mostByName = 0.4

// ceiling is the highest confidence of an entry for the text. In a title of up to three words, half of them unknown, the known
// word is often a name: a "Stan Smith" is no smith. With links, the base has its own ceiling.
func (e *Engine) ceiling(s *scratch) float64 {
	if e.links == nil && s.naming <= 3 && s.unknown > 0 && 2*s.unknown >= s.naming {
		return mostDoubt
	}
	return 1
}

// leaders returns at most maxLeaders of the ranked categories, the best first. If siblings tie for
// the best score, their parent replaces them.
func (e *Engine) leaders(s *scratch) []ranked {
	if len(s.ranked) == 0 {
		return nil
	}
	if e.links == nil {
		e.promote(s)
	}
	n := min(len(s.ranked), maxLeaders)
	for i := range n { // selects a few of many, which is faster than sorting
		first := i
		for j := i + 1; j < len(s.ranked); j++ {
			if s.ranked[j].before(s.ranked[first]) {
				first = j
			}
		}
		s.ranked[i], s.ranked[first] = s.ranked[first], s.ranked[i]
		if s.ranked[i].score < runnerUp*s.ranked[0].score {
			return s.ranked[:i]
		}
	}
	return s.ranked[:n]
}

// before orders by score, and equal scores by position in the taxonomy.
func (r ranked) before(other ranked) bool {
	return r.score > other.score || r.score == other.score && r.category < other.category
}

// promote replaces siblings that tie for the best score by their parent, because the text does not distinguish the siblings.
func (e *Engine) promote(s *scratch) {
	best := s.ranked[0]
	for _, r := range s.ranked {
		if r.before(best) {
			best = r
		}
	}
	parent := e.taxonomy.Categories[best.category].Parent
	if parent < 0 {
		return
	}
	ties := func(r ranked) bool {
		return r.score >= tie*best.score && e.taxonomy.Categories[r.category].Parent == parent
	}
	n := 0
	for _, r := range s.ranked {
		if ties(r) {
			n++
		}
	}
	if n < 2 {
		return
	}
	rest := s.ranked[:0]
	for _, r := range s.ranked {
		if !ties(r) && int(r.category) != parent {
			rest = append(rest, r)
		}
	}
	s.ranked = append(rest, ranked{int32(parent), best.score})
	s.scores.value[parent] = max(s.scores.value[parent], s.scores.value[best.category])
	s.scores.set = append(s.scores.set, int32(parent)) // to be cleared
}

const (
	headless   = 0.35 // weight of a phrase whose head is not in the text
	bareWeight = 0.5  // weight of a bare phrase: "Boots" of "Wetsuit Hoods, Gloves & Boots"
)

// hitPhrases collects the hits of all phrases that hold a weighted term, and the weighted idf of
// all terms.
func (e *Engine) hitPhrases(s *scratch) {
	x := e.index
	for _, t := range s.terms.set {
		idf := x.idf[t]
		overlap := s.terms.value[t] * idf
		s.mass += overlap
		for _, p := range x.byTerm[t] {
			h := &s.hits[p]
			if h.covered == 0 {
				s.phrases = append(s.phrases, p)
			}
			h.covered += idf
			h.overlap += overlap
			if x.phrases[p].head == t {
				h.head = 1
			}
		}
	}
}

// score is the weighted idf of a phrase's terms in the text, lowered for missing terms and for the place of its head.
func (p *phrase) score(h *hit) float32 {
	return p.weight * h.overlap * sqrt(h.covered/p.mass) * max(h.head, headless)
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
