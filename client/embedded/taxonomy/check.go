package taxonomy

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Finding is a fault or a likely mistake in the file of a custom taxonomy.
type Finding struct {
	File    string `json:"file"`
	Line    int    `json:"line"` // 1-based
	Problem string `json:"problem"`
}

func (f Finding) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Problem) }

// maxPhrase is the maximum length of a name or an alias in characters. Titles contain no longer phrases. The longest in the
// product taxonomy has 66.
const maxPhrase = 80

// Check returns findings on repeated paths, missing parents, repeated ids, long names and unknown columns.
func (c *Custom) Check() []Finding {
	var found []Finding
	for _, column := range c.unread {
		found = append(found, c.Finding(1, "the column %q is not read: the columns are path (or id, parent_id and name, or level_1, level_2, ...), id, aliases and links, each once", column))
	}
	if warning := c.Warning(); warning != "" {
		found = append(found, c.Finding(1, "%s", warning))
	}
	for _, r := range c.repeats {
		found = append(found, c.Finding(r.line, "%q is there already, on line %d: merge the two lines", c.Categories[r.category].Path, c.Lines[r.category]))
	}
	lines := map[string]int{} // by id
	for i := range c.Categories {
		found = append(found, c.checkCategory(i)...)
		id := c.Categories[i].ID
		if id == "" {
			continue
		}
		if first, ok := lines[id]; ok {
			found = append(found, c.Finding(c.Lines[i], "the id %q is also on line %d: give each category its own id", id, first))
			continue
		}
		lines[id] = c.Lines[i]
	}
	return found
}

// Warning returns a message if the form of the file was probably guessed wrong; else "".
func (c *Custom) Warning() string {
	if c.Levels() > 1 {
		return ""
	}
	for i := range c.Categories {
		if name := c.Categories[i].Name; strings.ContainsAny(name, `/|\`) || strings.Contains(name, "::") {
			return fmt.Sprintf("all %d categories are at 1 level, read as %s, but %.80q looks like a path: write > between levels", len(c.Categories), c.Form, name)
		}
	}
	return ""
}

// Finding returns a finding in the taxonomy's file.
func (c *Custom) Finding(line int, format string, args ...any) Finding {
	return Finding{File: c.File, Line: line, Problem: fmt.Sprintf(format, args...)}
}

// Line returns the line of a category. For a parent without a line, it is the line of the first descendant.
func (c *Custom) Line(category int) int {
	for i := category; i < len(c.Lines); i++ { // descendants follow
		if c.Lines[i] > 0 {
			return c.Lines[i]
		}
	}
	return 1
}

func (c *Custom) checkCategory(i int) (found []Finding) {
	category, line := &c.Categories[i], c.Line(i)
	if c.Lines[i] == 0 {
		found = append(found, c.Finding(line, "the parent %q has no line of its own: it was made; add a line for it", category.Path))
	}
	if n := utf8.RuneCountInString(category.Name); n > maxPhrase {
		found = append(found, c.Finding(line, "the name %.40q... has %d characters: no title says that; keep it under %d and write aliases", category.Name, n, maxPhrase))
	}
	for _, alias := range category.Aliases {
		switch n := utf8.RuneCountInString(alias); {
		case n > maxPhrase:
			found = append(found, c.Finding(line, "the alias %.40q... has %d characters: keep it under %d", alias, n, maxPhrase))
		case strings.EqualFold(alias, category.Name):
			found = append(found, c.Finding(line, "the alias %q is the category's own name: remove it", alias))
		}
	}
	return found
}
