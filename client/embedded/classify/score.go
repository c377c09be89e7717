package classify

import "math"

const (
	headless   = 0.35 // for a phrase whose head is not in the text
	bareWeight = 0.5  // for an alternative without the words it shares: "Boots" of "Wetsuit Hoods, Gloves & Boots"
)

// hitPhrases gathers the hits of all phrases that hold a weighted term, and the
// worth of all terms.
func (e *Engine) hitPhrases(s *scratch) {
	x := e.index
	for _, t := range s.terms {
		idf := x.idf[t]
		overlap := s.weight[t] * idf
		s.mass += overlap
		for _, p := range x.byTerm.at(t) {
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

// score is what a phrase's terms in the text are worth: their weighted idf, less
// for every term that is missing, and for a head that is not the text's.
func (p *phrase) score(h *hit) float32 {
	return p.weight * h.overlap * sqrt(h.covered/p.mass) * max(h.head, headless)
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
