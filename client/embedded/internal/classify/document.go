package classify

import "github.com/bulkcat/bulkcat/client/embedded/internal/words"

const (
	// MaxDocumentWords is the most words that are read of a document, in all fields together: far more than the subject needs.
	MaxDocumentWords = 20_000

	maxFieldWeight = 100

	// The first occurrence of a word in a short text weighs 1/(1+saturation), and later occurrences less and less. In a long
	// text, words recur by chance.
	saturation       = 3
	saturationOfWord = 1.0 / 120 // added for every word of the text

	repeated         = 0.5  // the weight of a term in further phrases of a category
	commonplaceShare = 0.2  // the weight of a commonplace
	apart            = 0.6  // the weight of a phrase whose terms are not adjacent
	inherited        = 0.4  // the share of a parent's score that a category inherits
	topShare         = 0.4  // the share of a score that depends on the top level
	aside            = 0.75 // the weight of the top levels in asides
)

// asides are top-level categories whose texts also have another subject, which is more important: a sale is of dresses, and an
// award is for a film.
var asides = map[string]bool{"Sensitive Topics": true, "Shopping": true, "Events": true}

// readFields counts the fields' terms and pairs, and reports whether there were words among them. It reads up to MaxDocumentWords
// words, and at most a megabyte of each field.
func (e *Engine) readFields(s *scratch, fields []Field) bool {
	before := s.words
	for _, f := range fields {
		if !(f.Weight > 0) { // NaN too
			continue
		}
		weight := float32(min(f.Weight, maxFieldWeight))
		previous := int32(noTerm)
		s.reader.Reset(f.Text)
		for s.words < MaxDocumentWords && s.reader.Next() {
			s.words++
			if words.Stop[string(s.reader.Word)] {
				continue
			}
			if s.reader.Gap != 0 {
				previous = noTerm
			}
			previous = e.count(s, s.reader.Word, weight, previous)
		}
	}
	return s.words > before
}

// count counts a word, and its pair with the term before it. It returns the word's term.
func (e *Engine) count(s *scratch, word []byte, weight float32, previous int32) int32 {
	first, t := e.index.resolve(word)
	if first != noTerm {
		s.terms.add(first, weight)
		previous = first
	}
	if t == noTerm {
		return noTerm
	}
	s.terms.add(t, weight)
	if previous != noTerm {
		if p, ok := e.index.pairs[pairKey(previous, t)]; ok {
			s.pairs.add(p, weight)
		}
	}
	return t
}

// saturate converts counts to weights below 1: further occurrences of a word add little.
func (e *Engine) saturate(s *scratch) {
	half := float32(saturation + saturationOfWord*float64(s.words))
	for _, t := range s.terms.set {
		s.terms.value[t] /= s.terms.value[t] + half
		if e.index.commonplace[t] {
			s.terms.value[t] *= commonplaceShare
		}
	}
	for _, p := range s.pairs.set {
		s.pairs.value[p] /= s.pairs.value[p] + half
	}
}

// sumPhrases sums the weights of the text's terms for every category and for every top level. A term counts for a category with
// the best of the phrases that hold it, and only a little with the others.
func (e *Engine) sumPhrases(s *scratch) {
	e.hitPhrases(s)
	e.hitPairs(s)
	for _, p := range s.phrases {
		phrase, h := &e.index.phrases[p], &s.hits[p]
		h.overlap = phrase.documentScore(h) / h.covered
	}
	for _, t := range s.terms.set {
		e.sumTerm(s, t)
	}
}

// documentScore is the score of a phrase's terms in the text. A phrase of several terms gets its
// full score only if they are adjacent.
func (p *phrase) documentScore(h *hit) float32 {
	switch {
	case p.terms == 1:
		return p.weight * h.overlap
	case h.pairs > 0 && h.pairs == p.pairs:
		return h.pair * p.mass
	}
	return apart * p.score(h)
}

// sumTerm adds a term to the scores of the categories and top levels whose phrases hold it. Phrases are in the order of their
// categories, so the phrases of a category, and of a top level, are consecutive.
func (e *Engine) sumTerm(s *scratch, t int32) {
	category, top := int32(noCategory), int32(noCategory)
	best, bestOfTop, sum := float32(0), float32(0), float32(0)
	for _, p := range e.index.byTerm[t] {
		if c := e.index.phrases[p].category; c != category {
			s.scores.add(category, best+repeated*(sum-best))
			category, best, sum = c, 0, 0
			if e.top[c] != top {
				s.tops.add(top, bestOfTop)
				top, bestOfTop = e.top[c], 0
			}
		}
		score := s.hits[p].overlap * e.index.idf[t]
		sum += score
		best, bestOfTop = max(best, score), max(bestOfTop, score)
	}
	s.scores.add(category, best+repeated*(sum-best))
	s.tops.add(top, bestOfTop)
}

// hitPairs adds the pairs to the hits of their phrases.
func (e *Engine) hitPairs(s *scratch) {
	for _, pair := range s.pairs.set {
		weight := s.pairs.value[pair]
		for _, p := range e.index.byPair[pair] {
			h := &s.hits[p]
			if h.pairs == 0 || weight < h.pair {
				h.pair = weight
			}
			h.pairs++
		}
	}
}

// rankSums ranks the categories. It adds the scores of ancestors, multiplied by share for each level, raises categories under
// the best top level, and lowers asides.
func (e *Engine) rankSums(s *scratch, share float32) {
	best := float32(0)
	for _, c := range s.tops.set {
		best = max(best, s.tops.value[c])
	}
	for _, c := range s.scores.set {
		score, part := s.scores.value[c], share
		for p := e.taxonomy.Categories[c].Parent; p >= 0; p = e.taxonomy.Categories[p].Parent {
			score += part * s.scores.value[p]
			part *= share
		}
		score *= 1 - topShare + topShare*s.tops.value[e.top[c]]/best
		if asides[e.taxonomy.Categories[e.top[c]].Name] {
			score *= aside
		}
		s.ranked = append(s.ranked, ranked{c, score})
	}
}
