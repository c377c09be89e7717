package words

import "strings"

// Stem shortens an English plural to its singular, in place, by spelling rules. It keeps all other endings, because a stronger
// stemmer shortens "earrings" to "ear". variants has the exceptions.
//
// It also changes -ie to -y, so that "hoodie", "hoody" and "hoodies" become equal.
func Stem(w []byte) []byte {
	n := len(w)
	if n > 4 && w[n-1] == 'e' && w[n-2] == 'i' {
		w[n-2] = 'y'
		return w[:n-1]
	}
	if n < 4 || w[n-1] != 's' {
		return w
	}
	switch w[n-2] {
	case 's', 'u', 'i':
		return w
	case 'e':
		return stemES(w)
	}
	return w[:n-1]
}

// stemES handles the words in -es.
func stemES(w []byte) []byte {
	n := len(w)
	if n < 5 {
		return w[:n-1]
	}
	switch c := w[n-3]; {
	case c == 'i':
		w[n-3] = 'y'
		return w[:n-2]
	case c == 's' && w[n-4] == 's', c == 'x', c == 'z' && w[n-4] == 'z',
		c == 'h' && (w[n-4] == 'c' || w[n-4] == 's'):
		return w[:n-2]
	case c == 'o' && w[n-4] == 't':
		return w[:n-2] // potatoes, tomatoes
	}
	return w[:n-1]
}

// variants maps irregular plurals, British spellings and abbreviations to the spellings of the taxonomies.
var variants = map[string]string{
	"women": "woman", "men": "man", "children": "child", "feet": "foot", "teeth": "tooth", "mice": "mouse",
	"knives": "knife", "shelves": "shelf", "scarves": "scarf", "leaves": "leaf", "lens": "lense", "loaves": "loaf",
	"halves": "half", "wives": "wife", "wolves": "wolf", "calves": "calf", "people": "person",
	"jewellery": "jewelry", "jewelery": "jewelry", "tyre": "tire", "pyjama": "pajama", "aluminium": "aluminum", "theatre": "theater",
	"centre": "center", "colour": "color", "fibre": "fiber", "grey": "gray", "mould": "mold", "moustache": "mustache",
	"yoghurt": "yogurt", "doughnut": "donut", "licence": "license", "organiser": "organizer", "kurti": "kurta",
	"moisturiser": "moisturizer", "plough": "plow", "cheque": "check", "farming": "farm", "axe": "ax", "armour": "armor", "flavour": "flavor",
	"ladies": "woman",
}

// Variants maps spellings to the spellings of the taxonomies, both stemmed in the language. The map must not be modified.
func (l *Language) Variants() map[string]string {
	l.once.Do(func() {
		l.variants = make(map[string]string, len(variants))
		for from, to := range variants {
			l.variants[string(l.Stem([]byte(from)))] = string(l.Stem([]byte(to)))
		}
	})
	return l.variants
}

// EachTerm calls take for each term of a text: the words as an engine compares them, folded, stemmed, in the spelling of Variants,
// without stop words and, except in English, without function words. A term is valid only during the call. head is the index of the
// head of the text as a phrase: the last term, or the last before "with" or "for", or the first in a language with the noun first.
func (l *Language) EachTerm(text string, take func(term []byte)) (head int) {
	head = -1
	if l.NounFirst {
		head = 0
	}
	variants, n := l.Variants(), 0
	for word := range All(text) {
		if w := string(word); head < 0 && (w == "with" || w == "for") {
			head = n - 1
		}
		if Stop[string(word)] || l != English && l.Function[string(word)] {
			continue
		}
		term := l.Stem(word)
		if common, ok := variants[string(term)]; ok {
			term = append(term[:0], common...)
		}
		take(term)
		n++
	}
	if head < 0 {
		head = n - 1
	}
	return head
}

// Terms returns the terms of an English text.
func Terms(text string) (terms []string) {
	English.EachTerm(text, func(term []byte) { terms = append(terms, string(term)) })
	return terms
}

// Key returns the terms of an English text, joined by spaces: texts with equal keys match each other.
func Key(text string) string { return strings.Join(Terms(text), " ") }

// Stop are the stop words, which are left out of phrases and texts.
var Stop = Set(`a an and are as at be but by de etc for from has have if in is it its la le no not of off on or our per
	so that the their them they this to until up us we who will with you your i he she his her was were been do does did can into than then
	also all any other more most such about what which when where how why there here general miscellaneous misc n s t my me out over new`)

// Set returns the words of a list, which spaces separate.
func Set(list string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}
