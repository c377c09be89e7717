package words

import (
	"strings"
	"sync"
)

// Stem shortens an English plural to its singular, in place, by spelling rules. It keeps all other endings, because a stronger
// stemmer shortens "earrings" to "ear". Variants has the exceptions.
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

// Variants maps irregular plurals, British spellings and abbreviations to the spellings of the taxonomies. Both are stemmed
// when the index is built.
var Variants = map[string]string{
	"women": "woman", "men": "man", "children": "child", "feet": "foot", "teeth": "tooth", "mice": "mouse",
	"knives": "knife", "shelves": "shelf", "scarves": "scarf", "leaves": "leaf", "lens": "lense", "loaves": "loaf",
	"halves": "half", "wives": "wife", "wolves": "wolf", "calves": "calf", "people": "person",
	"jewellery": "jewelry", "jewelery": "jewelry", "tyre": "tire", "pyjama": "pajama", "aluminium": "aluminum", "theatre": "theater",
	"centre": "center", "colour": "color", "fibre": "fiber", "grey": "gray", "mould": "mold", "moustache": "mustache",
	"yoghurt": "yogurt", "doughnut": "donut", "licence": "license", "organiser": "organizer", "kurti": "kurta",
	"moisturiser": "moisturizer", "plough": "plow", "cheque": "check", "farming": "farm", "axe": "ax", "armour": "armor", "flavour": "flavor",
	"ladies": "woman",
}

// stemmedVariants is Variants with both spellings stemmed.
var stemmedVariants = sync.OnceValue(func() map[string]string {
	stemmed := make(map[string]string, len(Variants))
	for from, to := range Variants {
		stemmed[string(Stem([]byte(from)))] = string(Stem([]byte(to)))
	}
	return stemmed
})

// Terms returns the words of a text as an engine compares them: folded, stemmed, in the spelling of Variants, and without stop
// words.
func Terms(text string) []string {
	var terms []string
	var r Reader
	for r.Reset(text); r.Next(); {
		if Stop[string(r.Word)] {
			continue
		}
		term := string(Stem(r.Word))
		if common, ok := stemmedVariants()[term]; ok {
			term = common
		}
		terms = append(terms, term)
	}
	return terms
}

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
