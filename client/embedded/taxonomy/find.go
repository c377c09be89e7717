package taxonomy

import "strings"

// Index finds the categories of a taxonomy by the values in answers.
type Index struct {
	categories []Category
	exact      map[string]int // by path
	folded     map[string]int // by the folded path; -1 if two paths fold to the same
}

// NewIndex makes the index of a taxonomy.
func NewIndex(t *Taxonomy) *Index {
	x := &Index{t.Categories, make(map[string]int, len(t.Categories)), make(map[string]int, len(t.Categories))}
	for i := range t.Categories {
		path := t.Categories[i].Path
		x.exact[path] = i
		key := fold(path)
		if _, taken := x.folded[key]; taken {
			i = -1
		}
		x.folded[key] = i
	}
	return x
}

// Find returns the category of a value: a path or, for NAICS, a code; false if there is none.
// Case and spaces of a path may differ if the result is unique. The last level alone is not
// enough: other editions have other categories with the same name.
func (x *Index) Find(value string) (Category, bool) {
	i, ok := x.exact[value]
	if !ok {
		i, ok = x.folded[fold(value)]
	}
	if !ok || i < 0 {
		return Category{}, false
	}
	return x.categories[i], true
}

// fold returns a path in lower case, with single spaces between words and none around levels.
func fold(path string) string {
	levels := strings.Split(strings.ToLower(path), ">")
	for i, level := range levels {
		levels[i] = strings.Join(strings.Fields(level), " ")
	}
	return strings.Join(levels, ">")
}
