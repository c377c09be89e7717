package classify

// Field is a part of a document.
type Field struct {
	Text   string
	Weight float64 // how much a word counts: 1 for a body, 3 for a title; a field of 0 or less is not read
}

const (
	maxDocumentWords = 20_000 // of all fields together: far more than it takes to see a subject
	maxFieldWeight   = 100

	saturation       = 3   // occurrences after which another one adds less than half
	commonplaceShare = 0.2 // of a word that stands in every document
	apart            = 0.4 // for the terms of a phrase that do not stand together
	inherited        = 0.3 // of a parent's own score
	topShare         = 0.3 // of a score that depends on the top level's share
)

// Document returns up to limit categories for a web page or a description, best
// first, and none when nothing fits. It reads the first 20,000 words of the
// fields, and at most a megabyte of each.
func (e *Engine) Document(fields []Field, limit int) []Match {
	s := e.scratch.Get().(*scratch)
	words := 0
	for _, f := range fields {
		words = e.readField(s, f, words)
	}
	e.saturate(s)
	e.hitPhrases(s)
	e.hitPairs(s)
	e.sumPhrases(s)
	e.scoreDocument(s)
	matches := e.answer(s, limit, documentConfidence)
	s.clear()
	e.scratch.Put(s)
	return matches
}

// readField counts a field's terms and pairs, and returns the words read so far.
func (e *Engine) readField(s *scratch, f Field, words int) int {
	if !(f.Weight > 0) { // NaN too
		return words
	}
	weight := float32(min(f.Weight, maxFieldWeight))
	previous := int32(-1)
	s.reader.reset(f.Text)
	for words < maxDocumentWords && s.reader.next() {
		words++
		r := &s.reader
		if stopWords[string(r.word)] {
			continue
		}
		if r.gap != 0 {
			previous = -1
		}
		t := e.index.lookup(r.word)
		if t >= 0 {
			s.count(t, weight)
		}
		if t >= 0 && previous >= 0 {
			if p, ok := e.index.pairs[pairKey(previous, t)]; ok {
				s.countPair(p, weight)
			}
		}
		previous = t
	}
	return words
}

// saturate turns counts into weights below 1: the tenth occurrence says little
// that the third did not.
func (e *Engine) saturate(s *scratch) {
	for _, t := range s.terms {
		s.weight[t] /= s.weight[t] + saturation
		if e.index.commonplace[t] {
			s.weight[t] *= commonplaceShare
		}
	}
	for _, p := range s.pairList {
		s.pairs[p] /= s.pairs[p] + saturation
	}
}

// hitPairs adds the pairs to the hits of the phrases they are from.
func (e *Engine) hitPairs(s *scratch) {
	for _, pair := range s.pairList {
		weight := s.pairs[pair]
		for _, p := range e.index.byPair.at(pair) {
			h := &s.hits[p]
			if h.pairs == 0 || weight < h.pair {
				h.pair = weight
			}
			h.pairs++
		}
	}
}

// sumPhrases gives every category the sum of its phrases' scores. A phrase of
// several terms counts in full only where they stand together.
func (e *Engine) sumPhrases(s *scratch) {
	for _, p := range s.phrases {
		phrase, h := &e.index.phrases[p], &s.hits[p]
		score := h.overlap
		switch {
		case phrase.terms == 1:
		case h.pairs > 0 && h.pairs == phrase.pairs:
			score = h.pair * phrase.mass
		default:
			score = apart * phrase.score(h)
		}
		c := phrase.category
		if s.scores[c] == 0 {
			s.categories = append(s.categories, c)
		}
		s.scores[c] += score
	}
}

// scoreDocument ranks the categories, weighing in their ancestors' scores and
// how much of the document points under the same top level.
func (e *Engine) scoreDocument(s *scratch) {
	best := float32(0)
	for _, c := range s.categories {
		best = max(best, s.addTop(e.top[c], s.scores[c]))
	}
	for _, c := range s.categories {
		score, share := s.scores[c], float32(inherited)
		for p := e.taxonomy.Categories[c].Parent; p >= 0; p = e.taxonomy.Categories[p].Parent {
			score += share * s.scores[p]
			share *= inherited
		}
		score *= 1 - topShare + topShare*s.tops[e.top[c]]/best
		s.ranked = append(s.ranked, ranked{c, score})
	}
}
