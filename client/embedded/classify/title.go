package classify

import "math"

const (
	maxTitleWords   = 64 // the product is named early; later words are features and keywords
	maxTitleMatches = 3

	linkWeight     = 0.35 // what follows "for", "with", "in": the product's use, parts, material
	bracketWeight  = 0.5  // in brackets: sizes, variants, codes
	laterWeight    = 0.8  // after a dash, comma or bar: a restatement, or features
	modifierWeight = 0.6  // colours, sizes, materials
	headBonus      = 1.5  // the last noun of a segment names the product

	headless      = 0.25 // for a phrase whose head is not in the text
	contextWeight = 0.2  // for a title's term in an ancestor's name
	topWeight     = 0.3  // for the share of all scores under the same top level
	depthPenalty  = 0.01 // per level: of equals, the more general one
	candidate     = 0.25 // of the best phrase's score: what else is worth a closer look
)

// Title returns up to three categories for a product's title, best first, and
// none when nothing fits. It reads the first 64 words.
func (e *Engine) Title(title string) []Match {
	s := e.scratch.Get().(*scratch)
	e.readTitle(s, title)
	e.weighTitle(s)
	e.hitPhrases(s)
	e.scorePhrases(s)
	e.scoreCandidates(s)
	matches := e.answer(s, maxTitleMatches, titleConfidence)
	s.clear()
	e.scratch.Put(s)
	return matches
}

// readTitle lists the title's tokens. Punctuation and link words part it into
// segments, each with its own weight and head.
func (e *Engine) readTitle(s *scratch, title string) {
	var buf [2 * maxWord]byte
	previous := buf[:0] // the word before in the same segment, unstemmed
	segment, weight, outside := int32(0), float32(1), float32(1)
	s.reader.reset(title)
	for n := 0; n < maxTitleWords && s.reader.next(); n++ {
		r := &s.reader
		if r.gap != 0 && n > 0 {
			segment, previous = segment+1, buf[:0]
			switch r.gap {
			case '(', '[':
				weight, outside = bracketWeight, laterWeight
			case ')', ']':
				weight = outside
			default:
				weight = laterWeight
			}
		}
		if links[string(r.word)] {
			segment, previous = segment+1, buf[:0]
			weight = min(weight, linkWeight)
			continue
		}
		if stopWords[string(r.word)] {
			continue
		}
		if len(previous) > 0 { // "key chain" may be known as "keychain"
			if t := e.index.lookup(append(previous, r.word...)); t >= 0 {
				s.tokens = append(s.tokens, token{t, weight, segment})
			}
		}
		previous = append(buf[:0], r.word...)
		s.tokens = append(s.tokens, e.token(r, weight, segment))
	}
}

// token makes a token of the reader's word, and stems it. A modifier cannot be
// its segment's head and is in none.
func (e *Engine) token(r *reader, weight float32, segment int32) token {
	if r.hasDigit || modifiers[string(r.word)] {
		weight, segment = weight*modifierWeight, noSegment
	}
	return token{e.index.lookup(r.word), weight, segment}
}

// weighTitle turns tokens into weights of terms, raising every segment's head:
// its last term that is the head of some phrase.
func (e *Engine) weighTitle(s *scratch) {
	done := int32(noSegment)
	for i := len(s.tokens) - 1; i >= 0; i-- {
		tok := s.tokens[i]
		if tok.term < 0 {
			continue
		}
		if tok.segment != noSegment && tok.segment != done && e.index.heads[tok.term] {
			tok.weight *= headBonus
			done = tok.segment
		}
		if s.weight[tok.term] == 0 {
			s.terms = append(s.terms, tok.term)
		}
		s.weight[tok.term] = max(s.weight[tok.term], tok.weight)
	}
}

// hitPhrases gathers the hits of all phrases that hold a weighted term.
func (e *Engine) hitPhrases(s *scratch) {
	x := e.index
	for _, t := range s.terms {
		idf := x.idf[t]
		overlap := s.weight[t] * idf
		for _, p := range x.byTerm.at(t) {
			h := &s.hits[p]
			if h.covered == 0 {
				s.phrases = append(s.phrases, p)
			}
			h.covered += idf
			h.overlap += overlap
			h.head = h.head || x.phrases[p].head == t
		}
	}
}

// score is what a phrase's terms in the text are worth: their weighted idf, less
// for every term that is missing.
func (p *phrase) score(h *hit) float32 {
	score := h.overlap * sqrt(h.covered/p.mass)
	if !h.head {
		score *= headless
	}
	return score
}

// scorePhrases gives every category the score of its best phrase.
func (e *Engine) scorePhrases(s *scratch) {
	for _, p := range s.phrases {
		phrase := &e.index.phrases[p]
		c := phrase.category
		if s.scores[c] == 0 {
			s.categories = append(s.categories, c)
		}
		s.scores[c] = max(s.scores[c], phrase.score(&s.hits[p]))
	}
}

// scoreCandidates ranks the better categories, weighing in their ancestors and
// how much of the title points under the same top level.
func (e *Engine) scoreCandidates(s *scratch) {
	best := float32(0)
	for _, c := range s.categories {
		best = max(best, s.scores[c])
	}
	total := float32(0)
	for _, c := range s.categories {
		if s.scores[c] < candidate*best {
			continue
		}
		context := float32(0)
		for _, t := range e.index.ancestry.at(c) {
			context += s.weight[t] * e.index.idf[t]
		}
		score := s.scores[c] + contextWeight*context
		score *= 1 - depthPenalty*float32(e.taxonomy.Categories[c].Depth)
		s.ranked = append(s.ranked, ranked{c, score})
		s.addTop(e.top[c], score*score)
		total += score * score
	}
	for i := range s.ranked {
		r := &s.ranked[i]
		r.score *= 1 + topWeight*s.tops[e.top[r.category]]/total
	}
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }
