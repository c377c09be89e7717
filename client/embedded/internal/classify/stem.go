package classify

// stem shortens an English plural to its singular, in place, by spelling rules. It keeps all other endings, because a stronger
// stemmer shortens "earrings" to "ear". variants has the exceptions.
//
// It also changes -ie to -y, so that "hoodie", "hoody" and "hoodies" become equal.
func stem(w []byte) []byte {
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

// variants maps irregular plurals, British spellings and abbreviations to the spellings of the taxonomies. Both are stemmed
// when the index is built.
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
