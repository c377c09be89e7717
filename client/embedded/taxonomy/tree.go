package taxonomy

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

// Find returns the index of a category by its path (in any case, with any spaces), its code or its id; -1
// if there is none.
func (t *Taxonomy) Find(name string) int {
	path := fold(name)
	return slices.IndexFunc(t.Categories, func(c Category) bool { return c.ID == name || fold(c.Path) == path })
}

// WriteTree writes the category with the index from and its descendants, or all categories if from is -1: one per line,
// indented by two spaces per level. It writes at most the given number of levels; 0 for all.
func (t *Taxonomy) WriteTree(out io.Writer, from, levels int) error {
	var b strings.Builder
	top, first := 0, max(from, 0)
	if from >= 0 {
		top = t.Categories[from].Depth
	}
	for i := first; i < len(t.Categories); i++ { // descendants follow
		category := &t.Categories[i]
		below := category.Depth - top
		if from >= 0 && i > from && below <= 0 {
			break
		}
		if levels > 0 && below >= levels {
			continue
		}
		fmt.Fprintf(&b, "%s%s\n", strings.Repeat("  ", below), category.label())
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// label returns the name of a category, after its code and before its id.
func (c *Category) label() string {
	text := c.Name
	if c.Code != "" {
		text = c.Code + "  " + text
	}
	if c.ID != c.Code {
		text += "  (" + c.ID + ")"
	}
	return text
}

// Index finds the categories of a taxonomy by the values in answers.
type Index struct {
	categories []Category
	exact      map[string]int        // by path
	folded     func() map[string]int // by the folded path; -1 if two paths fold to the same
}

// NewIndex makes the index of a taxonomy.
func NewIndex(t *Taxonomy) *Index {
	x := &Index{t.Categories, make(map[string]int, len(t.Categories)), sync.OnceValue(func() map[string]int { return foldAll(t.Categories) })}
	for i := range t.Categories {
		x.exact[t.Categories[i].Path] = i
	}
	return x
}

// foldAll returns the categories by their folded paths. It takes longer than the rest of an index, and services mostly
// answer with exact paths.
func foldAll(categories []Category) map[string]int {
	folded := make(map[string]int, len(categories))
	for i := range categories {
		key := fold(categories[i].Path)
		if _, taken := folded[key]; taken {
			i = -1
		}
		folded[key] = i
	}
	return folded
}

// Find returns the category of a value: a path or, for NAICS, a code; false if there is none.
// Case and spaces of a path may differ if the result is unique. The last level alone is not
// enough: other editions have other categories with the same name.
func (x *Index) Find(value string) (Category, bool) {
	i, ok := x.exact[value]
	if !ok {
		i, ok = x.folded()[fold(value)]
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
		levels[i] = foldSpace(level)
	}
	return strings.Join(levels, ">")
}
