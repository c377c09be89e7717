package classify

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// index finds phrases by the terms they hold. It is read-only once built.
type index struct {
	language    *words.Language
	vocabulary  map[string]int32  // word, stemmed, to term
	pairs       map[uint64]int32  // two terms in a row, to pair
	compounds   map[string]pairOf // two terms written as one word that is no term itself
	idf         []float32         // by term: log(1 + categories/categories with the term)
	heads       []bool            // by term: the term is the head of a phrase
	idioms      []bool            // by pair: the pair is an idiom
	commonplace []bool            // by term: every document has the term
	phrases     []phrase
	byTerm      [][]int32 // phrases by term
	byPair      [][]int32 // phrases by pair
	names       [][]int32 // by category: the terms in its name
	ancestry    [][]int32 // by category: the distinct terms in its ancestors' names
}

// phrase is a wording of a category.
type phrase struct {
	category int32
	head     int32   // "table" in "dining room table", "bed" in "bed with drawers"
	mass     float32 // the sum of its terms' idf
	weight   float32 // 1, or bareWeight
	terms    int32
	pairs    int32
}

// pairOf is two terms in a row.
type pairOf struct{ first, second int32 }

// pairKey joins two terms into a key of index.pairs.
func pairKey(a, b int32) uint64 { return uint64(uint32(a))<<32 | uint64(uint32(b)) }

// lookup returns the term of a word; noTerm if no phrase holds it. It stems w in place.
func (x *index) lookup(w []byte) int32 {
	if t, ok := x.vocabulary[string(x.language.Stem(w))]; ok {
		return t
	}
	return noTerm
}

// resolve returns the term of a word as second, or both terms of a compound: "bed" and "sheet" for "bedsheets". Missing terms
// are noTerm. It stems w in place.
func (x *index) resolve(w []byte) (first, second int32) {
	word := ""
	if x.language.Compounds {
		word = string(w)
	}
	w = x.language.Stem(w)
	if t, ok := x.vocabulary[string(w)]; ok {
		return noTerm, t
	}
	if p, ok := x.compounds[string(w)]; ok {
		return p.first, p.second
	}
	return x.parts(word)
}

// parts returns the term of the longest known last part of a compound, and the term of the part before it. Unknown terms are
// noTerm.
func (x *index) parts(word string) (first, last int32) {
	for from := range x.language.LastParts(word) {
		if last = x.lookup([]byte(word[from:])); last == noTerm {
			continue
		}
		for part := range words.FirstParts(word, from) {
			if first = x.lookup([]byte(part)); first != noTerm {
				return first, last
			}
		}
		return noTerm, last
	}
	return noTerm, noTerm
}

type indexer struct {
	*index
	commonplaces map[string]bool // stemmed
	words        []string        // by term
	seen         map[string]bool // the phrases of the present category, by key
	key          []byte          // buffer for the key of a phrase: its terms
}

// leastCategories is the least number of categories that idf assumes. In a taxonomy of ten categories all words would count as
// common, and no score would be high enough for an answer.
const leastCategories = 700

// buildIndex indexes the phrases of all categories.
func buildIndex(t *taxonomy.Taxonomy, lang *words.Language) *index {
	b := indexer{
		index: &index{
			language:   lang,
			vocabulary: make(map[string]int32),
			pairs:      make(map[uint64]int32),
			compounds:  make(map[string]pairOf),
		},
		commonplaces: make(map[string]bool, len(commonplaces)),
		seen:         make(map[string]bool),
	}
	for w := range commonplaces {
		b.commonplaces[string(lang.Stem([]byte(w)))] = true
	}
	categoriesWith := b.addCategories(t)
	b.addVariants()
	b.addCompounds()
	b.weigh(categoriesWith, max(len(t.Categories), leastCategories))
	b.findIdioms(t)
	b.ancestry = ancestry(t, b.names)
	return b.index
}

// addCategories adds every category's phrases and returns, by term, the number
// of categories that use it.
func (b *indexer) addCategories(t *taxonomy.Taxonomy) []int32 {
	var categoriesWith, last []int32
	for c := range t.Categories {
		category := &t.Categories[c]
		name, _ := b.terms(category.Name)
		b.names = append(b.names, name)
		if isRepeated(t, c) {
			continue
		}
		clear(b.seen)
		for _, w := range categoryPhrases(category) {
			terms, head := b.terms(w.text)
			b.addPhrase(c, terms, head, w.bare)
			for _, term := range terms {
				for int(term) >= len(last) {
					last, categoriesWith = append(last, -1), append(categoriesWith, 0)
				}
				if last[term] != int32(c) {
					last[term] = int32(c)
					categoriesWith[term]++
				}
			}
		}
	}
	return append(categoriesWith, make([]int32, len(b.byTerm)-len(categoriesWith))...)
}

// isRepeated reports whether the next category is a child of c with the same name, such as the only six-digit industry of a
// five-digit NAICS industry. Then only the child has the phrases, because the more specific category is the better answer.
func isRepeated(t *taxonomy.Taxonomy, c int) bool {
	return c+1 < len(t.Categories) && t.Categories[c+1].Parent == c && t.Categories[c+1].Name == t.Categories[c].Name
}

// terms returns the terms of a text, and the index of its head. It adds unknown words to the vocabulary.
func (b *indexer) terms(text string) (terms []int32, head int) {
	head = b.language.EachTerm(text, func(term []byte) {
		t, ok := b.vocabulary[string(term)]
		if !ok {
			t = b.addTerm(string(term))
		}
		terms = append(terms, t)
	})
	return terms, head
}

func (b *indexer) addTerm(word string) int32 {
	t := int32(len(b.byTerm))
	b.vocabulary[word] = t
	b.words = append(b.words, word)
	b.byTerm = append(b.byTerm, nil)
	b.heads = append(b.heads, false)
	b.commonplace = append(b.commonplace, b.commonplaces[word])
	return t
}

// addPhrase adds a phrase unless the category has it already.
func (b *indexer) addPhrase(category int, terms []int32, headAt int, bare bool) {
	key := b.key[:0]
	for _, t := range terms {
		key = binary.LittleEndian.AppendUint32(key, uint32(t))
	}
	b.key = key
	if len(terms) == 0 || b.seen[string(key)] {
		return
	}
	b.seen[string(key)] = true
	id := int32(len(b.phrases))
	head := terms[headAt]
	b.heads[head] = true
	p := phrase{category: int32(category), head: head, weight: 1}
	if bare {
		p.weight = bareWeight
	}
	for i, t := range terms {
		if i > 0 {
			p.pairs += b.addPair(id, terms[i-1], t)
		}
		if !slices.Contains(terms[:i], t) {
			b.byTerm[t] = append(b.byTerm[t], id)
			p.terms++
		}
	}
	b.phrases = append(b.phrases, p)
}

// addPair adds a phrase to the list of a pair, and returns 1, or 0 if the list has it already.
func (b *indexer) addPair(id, first, second int32) int32 {
	key := pairKey(first, second)
	pair, ok := b.pairs[key]
	if !ok {
		pair = int32(len(b.byPair))
		b.pairs[key] = pair
		b.byPair = append(b.byPair, nil)
	}
	if list := b.byPair[pair]; len(list) > 0 && list[len(list)-1] == id {
		return 0
	}
	b.byPair[pair] = append(b.byPair[pair], id)
	return 1
}

// addVariants maps variant spellings to their terms.
func (b *indexer) addVariants() {
	for from, to := range b.language.Variants() {
		if t, ok := b.vocabulary[to]; ok {
			b.vocabulary[from] = t
		}
	}
}

// addCompounds indexes pairs by their spelling as one word. It skips pairs with a part of one or two letters, which also occurs
// in unrelated words.
func (b *indexer) addCompounds() {
	for key := range b.pairs {
		p := pairOf{int32(key >> 32), int32(uint32(key))}
		first, second := b.words[p.first], b.words[p.second]
		if len(first) < 3 || len(second) < 3 {
			continue
		}
		word := first + second
		if _, known := b.vocabulary[word]; known {
			continue
		}
		if other, taken := b.compounds[word]; !taken || p.first < other.first { // does not depend on the order of the map
			b.compounds[word] = p
		}
	}
}

// findIdioms finds the pairs that are a whole phrase under one top level, while most phrases with their second term are under
// another top level.
func (b *indexer) findIdioms(t *taxonomy.Taxonomy) {
	top := topLevels(t)
	b.idioms = make([]bool, len(b.byPair))
	for key, pair := range b.pairs {
		for _, p := range b.byPair[pair] {
			if phrase := &b.phrases[p]; phrase.terms == 2 && phrase.pairs == 1 {
				b.idioms[pair] = !b.isCommonest(top, top[phrase.category], int32(uint32(key)))
				break
			}
		}
	}
}

// isCommonest reports whether no top level has more phrases with a term than want. The phrases under a top level are
// consecutive.
func (b *indexer) isCommonest(top []int32, want, term int32) bool {
	own, most, run, last := 0, 0, 0, int32(noCategory)
	for _, p := range b.byTerm[term] {
		if at := top[b.phrases[p].category]; at != last {
			last, run = at, 0
		}
		run++
		most = max(most, run)
		if last == want {
			own = run
		}
	}
	return own == most
}

// weigh computes the idf of terms and the mass of phrases.
func (b *indexer) weigh(categoriesWith []int32, categories int) {
	b.idf = make([]float32, len(categoriesWith))
	for t, n := range categoriesWith {
		// A term that occurs only in the exceptions of names is in no phrase.
		b.idf[t] = float32(math.Log(1 + float64(categories)/float64(max(n, 1))))
		for _, p := range b.byTerm[t] {
			b.phrases[p].mass += b.idf[t]
		}
	}
}

// ancestry returns, by category, the distinct terms in its ancestors' names.
func ancestry(t *taxonomy.Taxonomy, names [][]int32) [][]int32 {
	all := make([][]int32, len(t.Categories))
	for c := range t.Categories {
		p := t.Categories[c].Parent
		if p < 0 {
			continue
		}
		all[c] = slices.Clone(all[p])
		for _, term := range names[p] {
			if !slices.Contains(all[c], term) {
				all[c] = append(all[c], term)
			}
		}
	}
	return all
}

// topLevels returns, by category, its top-level ancestor.
func topLevels(t *taxonomy.Taxonomy) []int32 {
	top := make([]int32, len(t.Categories))
	for c := range t.Categories {
		top[c] = int32(c)
		if p := t.Categories[c].Parent; p >= 0 {
			top[c] = top[p]
		}
	}
	return top
}
