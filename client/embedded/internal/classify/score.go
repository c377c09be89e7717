package classify

import "math"

const (
	headless   = 0.35 // weight of a phrase whose head is not in the text
	bareWeight = 0.5  // weight of a bare phrase: "Boots" of "Wetsuit Hoods, Gloves & Boots"
)

// hitPhrases collects the hits of all phrases that hold a weighted term, and the weighted idf of
// all terms.
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

// score is the weighted idf of a phrase's terms in the text, lowered for missing terms and for the place of its head.
func (p *phrase) score(h *hit) float32 {
	return p.weight * h.overlap * sqrt(h.covered/p.mass) * max(h.head, headless)
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
