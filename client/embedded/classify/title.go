package classify

import (
	"cmp"
	"slices"
	"strings"
)

const (
	maxTitleWords   = 64 // the product is named early; later words are features and keywords
	maxTitleMatches = 3
	maxBrandWords   = 5
	maxBrand        = 40 // bytes

	linkWeight     = 0.35 // what follows "for", "with", "in": the product's use, parts, material
	bracketWeight  = 0.5  // in brackets: sizes, variants, codes
	brandWeight    = 0.2  // in a brand before the title
	laterWeight    = 0.85 // after a dash, comma or bar: a restatement, or features
	modifierWeight = 0.6  // colours, sizes, materials
	headBonus      = 1.5  // the last noun of a segment names the product

	contextWeight = 0.15 // for a title's term in an ancestor's name
	topWeight     = 0.3  // for the share of all scores under the same top level
	depthPenalty  = 0.02 // per level: of equals, the more general one
	candidate     = 0.25 // of the best phrase's score: what else is worth a closer look
)

// Title returns up to three categories for a product's title, best first, and
// none when nothing fits. It reads the first 64 words.
func (e *Engine) Title(title string) []Match {
	s := e.borrow()
	defer e.giveBack(s)
	e.scoreTitle(s, title)
	return e.answer(s, maxTitleMatches, &titleFit)
}

// scoreTitle ranks the categories for a title.
func (e *Engine) scoreTitle(s *scratch, title string) {
	brand := brandPrefix(title)
	e.readBrand(s, title[:brand])
	e.readTitle(s, title[brand:])
	e.weighTitle(s)
	e.hitBest(s)
	e.scorePhrases(s)
	e.scoreCandidates(s)
}

// brandPrefix returns the length of a brand of the form "Bank of Scotland - "
// at the start of a title. It would be taken for the product: "Furniture of
// America - Lamp".
func brandPrefix(title string) int {
	brand, _, ok := strings.Cut(title, " - ")
	if !ok || len(brand) > maxBrand || strings.Count(brand, " ") >= maxBrandWords || strings.Index(brand, " of ") < 1 {
		return 0
	}
	return len(brand)
}

// readBrand lists a brand's tokens. It has no head.
func (e *Engine) readBrand(s *scratch, brand string) {
	s.reader.reset(brand)
	for s.reader.next() {
		if !stopWords[string(s.reader.word)] {
			s.tokens = append(s.tokens, token{e.index.lookup(s.reader.word), brandWeight, noSegment})
		}
	}
}

// segment is a part of a title while it is read. Punctuation and link words part
// a title into segments, each with its own weight and head.
type segment struct {
	number  int32
	weight  float32
	outside float32 // the weight to return to after a bracket
	word    [2 * maxWord]byte
	length  int // of the last word, unstemmed; it is in word
}

// begin opens the next segment.
func (g *segment) begin(weight float32) {
	g.number++
	g.weight = weight
	g.length = 0
}

// punctuate opens a segment after punctuation.
func (g *segment) punctuate(gap rune) {
	switch gap {
	case '(', '[':
		g.begin(bracketWeight)
		g.outside = laterWeight
	case ')', ']':
		g.begin(g.outside)
	default:
		g.begin(laterWeight)
	}
}

// readTitle lists the title's tokens.
func (e *Engine) readTitle(s *scratch, title string) {
	g := segment{weight: 1, outside: 1}
	s.reader.reset(title)
	for n := 0; n < maxTitleWords && s.reader.next(); n++ {
		r := &s.reader
		if r.gap != 0 && n > 0 {
			g.punctuate(r.gap)
		}
		switch k := roleOf(r); {
		case k&link != 0:
			g.begin(min(g.weight, linkWeight))
		case k&genitive != 0:
			g.begin(g.weight)
		case k&(stopWord|noiseWord) == 0:
			e.readWord(s, &g, k)
		}
	}
}

// roleOf is what the reader's word does. "für", which opens what a product is for, is
// told from "fur" by its spelling.
func roleOf(r *reader) role {
	if string(r.word) == "fur" && r.at-r.start > len("fur") {
		return link
	}
	return roles[string(r.word)]
}

// readWord lists the tokens of the reader's word, and stems it.
func (e *Engine) readWord(s *scratch, g *segment, k role) {
	r := &s.reader
	if g.length > 0 { // "key chain" may be known as "keychain"
		if t := e.index.lookup(append(g.word[:g.length], r.word...)); t != noTerm {
			s.tokens = append(s.tokens, token{t, g.weight, g.number})
		}
	}
	g.length = copy(g.word[:maxWord], r.word)
	weight, number := g.weight, g.number
	if r.hasDigit || k&modifier != 0 { // it cannot be its segment's head, and is in none
		weight, number = weight*modifierWeight, noSegment
	}
	first, t := e.index.resolve(r.word)
	if first != noTerm {
		s.tokens = append(s.tokens, token{first, weight, noSegment})
	}
	s.tokens = append(s.tokens, token{t, weight, number})
}

// weighTitle turns tokens into weights of terms, raising every segment's head:
// its last term that is the head of some phrase.
func (e *Engine) weighTitle(s *scratch) {
	done := int32(noSegment)
	for i := len(s.tokens) - 1; i >= 0; i-- {
		tok := s.tokens[i]
		if tok.term == noTerm {
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

// hitBest gathers the hits of the phrases that hold a weighted term and whose score can
// reach that of a candidate. The weightiest terms come first. Once what is left of the
// terms is together worth less than a candidate, they can add to phrases but begin none:
// those are the words of a thousand categories, and to follow them all took most of the
// time.
func (e *Engine) hitBest(s *scratch) {
	x := e.index
	worth := func(t int32) float32 { return s.weight[t] * x.idf[t] }
	slices.SortFunc(s.terms, func(a, b int32) int {
		return cmp.Or(cmp.Compare(worth(b), worth(a)), cmp.Compare(a, b))
	})
	for _, t := range s.terms {
		s.mass += worth(t)
	}
	left, best := s.mass, float32(0)
	for _, t := range s.terms {
		begins := left >= candidate*best
		left -= worth(t)
		for _, p := range x.byTerm.at(t) {
			h := &s.hits[p]
			if h.covered == 0 {
				if !begins {
					continue
				}
				s.phrases = append(s.phrases, p)
			}
			phrase := &x.phrases[p]
			h.covered += x.idf[t]
			h.overlap += worth(t)
			h.head = h.head || phrase.head == t
			if h.covered >= phrase.mass { // whole: the score of its category is this at least
				best = max(best, phrase.weight*h.overlap)
			}
		}
	}
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
