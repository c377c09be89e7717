package taxonomy

import (
	"fmt"
	"io"
	"strings"
)

// Find returns the index of a category by its path (in any case, with any spaces around levels), its code or its id; -1
// if there is none.
func (t *Taxonomy) Find(name string) int {
	var levels []string
	for level := range strings.SplitSeq(name, ">") {
		levels = append(levels, strings.TrimSpace(level))
	}
	path := strings.Join(levels, PathSeparator)
	for i := range t.Categories {
		if strings.EqualFold(t.Categories[i].Path, path) || t.Categories[i].ID == name {
			return i
		}
	}
	return -1
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
