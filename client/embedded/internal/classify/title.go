package classify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
)

const (
	maxTitleWords = 64 // the product is named early; later words are features and keywords
	maxBrandWords = 5
	maxBrand      = 40 // bytes

	linkWeight     = 0.35 // after "with" or "in": parts or material of the product
	purposeWeight  = 0.8  // after "for"
	unnamedWeight  = 0.7  // after a link that no product precedes: "By Arden, oak table"
	bracketWeight  = 0.5  // in brackets: sizes, variants, codes
	brandWeight    = 0.2  // in a brand before the title
	laterWeight    = 0.85 // after a dash, comma or bar: a restatement, or features
	modifierWeight = 0.6  // colours, sizes, materials
	idiomWeight    = 0.3  // the second word of a "hot dog" before the head
	headBonus      = 1.5  // the head of a segment names the product

	// The weights of a phrase by the place of its head in the title. A segment's head has the place of the segment. A phrase
	// without its head has the weight headless.
	mainPlace    = 1
	laterPlace   = 0.75 // in a segment after a segment that names a product
	purposePlace = 0.6  // after "for", and after "of" in other languages
	linkPlace    = 0
	attributive  = 0.85 // before the segment's head; times the segment's place

	contextWeight = 0.15 // weight of a title's term in an ancestor's name
	topWeight     = 0.3  // weight of the share of all scores under the same top level
	depthPenalty  = 0.02 // per level: of equal categories the more general category is preferred
	candidate     = 0.3  // share of the best phrase's score: lower scores are not ranked
)

// scoreTitle ranks the categories for a title.
func (e *Engine) scoreTitle(s *scratch, title string) {
	if e.spaceless != nil {
		title = e.spaceless.Separate(title, false)
	}
	brand := brandPrefix(title)
	e.readBrand(s, title[:brand])
	named := e.readTitle(s, title[brand:])
	e.weighTitle(s, named)
	e.hitBest(s)
	e.scorePhrases(s)
	e.scoreCandidates(s)
	if e.links != nil {
		e.scoreLinked(s, title)
	}
}

// brandPrefix returns the length of a brand with "of" before " - " at the start of a title, such as "Furniture of America -
// Lamp", whose words would otherwise name the product.
func brandPrefix(title string) int {
	brand, _, ok := strings.Cut(title, " - ")
	if !ok || len(brand) > maxBrand || strings.Count(brand, " ") >= maxBrandWords || strings.Index(brand, " of ") < 1 {
		return 0
	}
	return len(brand)
}

// readBrand lists a brand's tokens, none of which is a head.
func (e *Engine) readBrand(s *scratch, brand string) {
	s.reader.Reset(brand)
	for s.reader.Next() {
		if !words.Stop[string(s.reader.Word)] {
			s.tokens = append(s.tokens, token{term: e.index.lookup(s.reader.Word), weight: brandWeight, segment: noSegment, modifier: true})
		}
	}
}

// segment is the part of a title that is being read. Punctuation and links split a title into segments, each with its own
// weight, place and head.
type segment struct {
	number  int32
	weight  float32
	place   float32
	outside float32             // the weight to return to after a bracket
	named   bool                // this segment or an earlier one has a word that can name the product
	measure measure             // of the last word
	word    [words.MaxWord]byte // the last word, unstemmed
	length  int                 // of the last word
}

// measure says whether a word is a number or a weight.
type measure uint8

const (
	measuresNothing measure = iota
	measuresNumber          // without a unit of weight: "12", "50mm"
	measuresWeight          // "75g", and "g" after a number
)

// begin opens the next segment.
func (g *segment) begin(weight, place float32) {
	g.number++
	g.weight, g.place = weight, place
	g.length = 0
}

// punctuate opens a segment after punctuation.
func (g *segment) punctuate(gap rune) {
	place := float32(mainPlace)
	if g.named {
		place = laterPlace
	}
	switch gap {
	case '(', '[':
		g.begin(bracketWeight, place)
		g.outside = laterWeight
	case ')', ']':
		g.begin(g.outside, place)
	default:
		g.begin(laterWeight, place)
	}
}

// link opens a segment after a link. If no segment has named the product yet, the next segment may.
func (g *segment) link(k role) {
	switch {
	case !g.named:
		g.begin(min(g.weight, unnamedWeight), mainPlace)
	case k&genitive != 0:
		g.begin(g.weight, purposePlace)
	case k&purpose != 0:
		g.begin(min(g.weight, purposeWeight), purposePlace)
	default:
		g.begin(min(g.weight, linkWeight), linkPlace)
	}
}

// readTitle lists the tokens of a title, and reports whether a token that is not a modifier can name a product.
func (e *Engine) readTitle(s *scratch, title string) bool {
	g := segment{weight: 1, place: mainPlace, outside: 1}
	s.reader.Reset(title)
	for n := 0; n < maxTitleWords && s.reader.Next(); n++ {
		r := &s.reader
		if r.Gap != 0 && n > 0 {
			g.punctuate(r.Gap)
		}
		k := roleOf(r) | roleIn(e.index.language, r.Word)
		switch {
		case startsSegment(r, k, g.measure):
			g.link(k)
		case k&(link|genitive) != 0:
			g.length = 0
		case k&(stopWord|noiseWord) == 0:
			e.readWord(s, &g, k)
		}
		g.measure = measureOf(r, k, g.measure)
	}
	return g.named
}

// roleOf returns the role of the reader's word. Folding makes "für", which precedes a purpose, "fur", so the length of its
// spelling decides.
func roleOf(r *words.Reader) role {
	if string(r.Word) == "fur" && r.Spelled() > len("fur") {
		return link | purpose
	}
	return roles[string(r.Word)]
}

// startsSegment reports whether the reader's word starts a segment: it is a link, not a part of a compound ("clip-in"), and not
// after a number ("24 in", "2 in 1").
func startsSegment(r *words.Reader, k role, before measure) bool {
	return k&(link|genitive) != 0 && !r.IsInCompound() && !(k&unit != 0 && before == measuresNumber)
}

func measureOf(r *words.Reader, k role, before measure) measure {
	if r.HasDigit {
		k = roles[strings.TrimLeft(string(r.Word), "0123456789")]
	} else if before != measuresNumber {
		return measuresNothing
	}
	switch {
	case k&(unit|link) == unit:
		return measuresWeight
	case r.HasDigit:
		return measuresNumber
	}
	return measuresNothing
}

// readWord lists the tokens of the reader's word, and stems it.
func (e *Engine) readWord(s *scratch, g *segment, k role) {
	r := &s.reader
	if g.length > 0 { // "key chain" may be known as "keychain"
		s.joined = append(append(s.joined[:0], g.word[:g.length]...), r.Word...)
		if t := e.index.lookup(s.joined); t != noTerm {
			s.tokens = append(s.tokens, token{t, g.weight, g.place, noSegment, true})
		}
	}
	g.length = copy(g.word[:], r.Word)
	tok := token{weight: g.weight, place: g.place, segment: g.number}
	tok.modifier = r.HasDigit || r.IsOwner || k&modifier != 0 || k&container != 0 && g.named && g.measure == measuresWeight
	if tok.modifier {
		tok.weight *= modifierWeight
	}
	first, t := e.index.resolve(r.Word)
	if first != noTerm {
		s.tokens = append(s.tokens, token{first, tok.weight, tok.place, tok.segment, true})
	}
	tok.term = t
	if !tok.modifier {
		s.naming++
		if t == noTerm {
			s.unknown++
		}
	}
	s.tokens = append(s.tokens, tok)
	g.named = g.named || t != noTerm && !tok.modifier && e.index.heads[t]
}

// weighTitle sets the weights and places of terms from their tokens. It raises the weight of each segment's head: the last term
// that is the head of a phrase, or the first in languages with the noun first. A modifier is a head only if no other term is.
func (e *Engine) weighTitle(s *scratch, named bool) {
	done := int32(noSegment - 1)
	for k := range s.tokens {
		i := len(s.tokens) - 1 - k
		if e.index.language.NounFirst {
			i = k
		}
		tok := s.tokens[i]
		switch {
		case tok.term == noTerm:
			continue
		case tok.segment == done:
			tok.place *= attributive
			if i > 0 && e.isIdiom(s.tokens[i-1], tok) {
				tok.weight *= idiomWeight
			}
		case e.index.heads[tok.term] && !(tok.modifier && named):
			tok.weight *= headBonus
			done = tok.segment
		}
		if s.terms.value[tok.term] == 0 {
			s.terms.set = append(s.terms.set, tok.term)
		}
		s.terms.value[tok.term] = max(s.terms.value[tok.term], tok.weight)
		s.place[tok.term] = max(s.place[tok.term], tok.place)
	}
}

func (e *Engine) isIdiom(first, second token) bool {
	if first.segment != second.segment {
		return false
	}
	pair, ok := e.index.pairs[pairKey(first.term, second.term)]
	return ok && e.index.idioms[pair]
}

// hitBest collects the hits of the phrases whose score can be a candidate's score. It begins with the heaviest terms. Once the
// remaining terms together weigh less than a candidate's score, they only add to existing hits. Common words are in thousands of
// phrases, which would take most of the time.
func (e *Engine) hitBest(s *scratch) {
	x := e.index
	worth := func(t int32) float32 { return s.terms.value[t] * x.idf[t] }
	slices.SortFunc(s.terms.set, func(a, b int32) int {
		return cmp.Or(cmp.Compare(worth(b), worth(a)), cmp.Compare(a, b))
	})
	for _, t := range s.terms.set {
		s.mass += worth(t)
	}
	left, best := s.mass, float32(0)
	for _, t := range s.terms.set {
		begins := left >= candidate*best
		left -= worth(t)
		for _, p := range x.byTerm[t] {
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
			if phrase.head == t {
				h.head = s.place[t]
			}
			if h.covered >= phrase.mass { // the phrase is complete: no later term changes its score
				best = max(best, phrase.score(h))
			}
		}
	}
}

// scorePhrases sets the score of each category to the score of its best phrase.
func (e *Engine) scorePhrases(s *scratch) {
	for _, p := range s.phrases {
		phrase := &e.index.phrases[p]
		c := phrase.category
		if s.scores.value[c] == 0 {
			s.scores.set = append(s.scores.set, c)
		}
		if score := phrase.score(&s.hits[p]); score > s.scores.value[c] {
			s.scores.value[c], s.best[c] = score, p+1
		}
	}
}

// scoreCandidates ranks the candidates. It adds the title's terms in ancestors' names, and raises categories under the best top
// levels.
func (e *Engine) scoreCandidates(s *scratch) {
	best := float32(0)
	for _, c := range s.scores.set {
		best = max(best, s.scores.value[c])
	}
	total := float32(0)
	for _, c := range s.scores.set {
		if s.scores.value[c] < candidate*best {
			continue
		}
		context := float32(0)
		for _, t := range e.index.ancestry[c] {
			context += s.terms.value[t] * e.index.idf[t]
		}
		score := s.scores.value[c] + contextWeight*context
		score *= 1 - depthPenalty*float32(e.taxonomy.Categories[c].Depth)
		s.ranked = append(s.ranked, ranked{c, score})
		s.tops.add(e.top[c], score*score)
		total += score * score
	}
	for i := range s.ranked {
		r := &s.ranked[i]
		r.score *= 1 + topWeight*s.tops.value[e.top[r.category]]/total
	}
}
