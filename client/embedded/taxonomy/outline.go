package taxonomy

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// PathSeparator joins the names of a path.
const PathSeparator = " > "

// maxLine is the most bytes of a line. The longest lines have a few dozen aliases.
const maxLine = 8 << 10

// SyntaxError is a malformed line of an outline.
type SyntaxError struct {
	File    string
	Line    int    // 1-based
	Problem string // the problem, and what to write instead
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
}

// Parse reads an outline. Each line is one category:
//
//	Name
//	Name #id: alias, alias
//	11<TAB>Name: alias, alias
//
// The indent is one tab per level, and children follow their parent. The code before the inner tab is for NAICS: digits, or two
// groups of digits joined by a hyphen. It is the path and the id of its category. A name contains no colon, an id neither space
// nor colon, an alias neither comma nor colon. Parse skips blank lines and lines that start with '#'. Children of one parent
// must have different names.
//
// file is the name of the file in errors. The error is a *[SyntaxError].
func Parse(file, text string) ([]Category, error) {
	b := builder{seen: make(map[string]bool)}
	err := eachEntry(file, text, b.add)
	return b.categories, err
}

// addAliases adds the aliases of an overlay to categories. An overlay is an outline of the categories with more aliases, and
// their ancestors. The error is a *[SyntaxError]. After an error, some aliases may have been added.
func addAliases(categories []Category, file, text string) error {
	byPath := make(map[string]int, len(categories))
	for i := range categories {
		byPath[categories[i].Path] = i
	}
	b := builder{seen: make(map[string]bool)}
	return eachEntry(file, text, func(e entry) string {
		if problem := b.add(e); problem != "" {
			return problem
		}
		added := b.categories[len(b.categories)-1]
		i, ok := byPath[added.Path]
		if !ok || categories[i].Name != added.Name {
			return fmt.Sprintf("no category %q (%s): write an existing one, under its own ancestors", added.Name, added.Path)
		}
		categories[i].Aliases = union(categories[i].Aliases, added.Aliases)
		return ""
	})
}

// entry is one line of an outline, split into its parts.
type entry struct {
	depth   int
	code    string
	name    string
	id      string
	aliases []string
}

// eachEntry calls add for every entry of an outline. If add returns a problem, eachEntry returns
// an error with the entry's line.
func eachEntry(file, text string, add func(entry) string) error {
	line := 0
	for raw := range strings.Lines(text) {
		line++
		raw = strings.TrimSuffix(raw, "\n")
		if raw == "" || raw[0] == '#' {
			continue
		}
		e, problem := parseEntry(raw)
		if problem == "" {
			problem = add(e)
		}
		if problem != "" {
			return &SyntaxError{File: file, Line: line, Problem: problem}
		}
	}
	return nil
}

// parseEntry splits a line, or returns a problem.
func parseEntry(line string) (entry, string) {
	if len(line) > maxLine {
		return entry{}, fmt.Sprintf("line of %d bytes: keep it under %d", len(line), maxLine)
	}
	if !utf8.ValidString(line) {
		return entry{}, "not UTF-8: save the file as UTF-8"
	}
	rest := strings.TrimLeft(line, "\t")
	e := entry{depth: len(line) - len(rest)}
	if code, name, ok := strings.Cut(rest, "\t"); ok {
		if !isCode(code) {
			return entry{}, fmt.Sprintf("code %q: write digits, or two groups of digits joined by a hyphen", code)
		}
		e.code, rest = code, name
	}
	name, list, hasAliases := strings.Cut(rest, ": ")
	name, id, hasID := strings.Cut(name, " #")
	if hasID && (id == "" || strings.ContainsAny(id, " :")) {
		return entry{}, fmt.Sprintf("id %q: write one without space and colon, or remove the #", id)
	}
	e.id = id
	if problem := checkPhrase("name", name, ":>\t"); problem != "" {
		return entry{}, problem
	}
	e.name = name
	if !hasAliases {
		return e, ""
	}
	e.aliases = strings.Split(list, ", ")
	for _, a := range e.aliases {
		if problem := checkPhrase("alias", a, ":,>\t"); problem != "" {
			return entry{}, problem
		}
	}
	return e, ""
}

// checkPhrase returns the problem of a name or an alias; "" for none.
func checkPhrase(kind, phrase, forbidden string) string {
	switch {
	case phrase == "":
		return fmt.Sprintf("empty %s: write one, or remove the separator before it", kind)
	case strings.TrimSpace(phrase) != phrase:
		return fmt.Sprintf("%s %q has space around it: remove it", kind, phrase)
	case strings.ContainsAny(phrase, forbidden):
		return fmt.Sprintf("%s %q holds one of %q: leave it out", kind, phrase, forbidden)
	}
	return ""
}

// isCode reports whether s is a NAICS code: "11", "541511", "31-33".
func isCode(s string) bool {
	from, to, isRange := strings.Cut(s, "-")
	return isDigits(from) && (!isRange || isDigits(to))
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// builder places entries under their parents.
type builder struct {
	categories []Category
	seen       map[string]bool // paths
	open       []int           // open[d] is the category at depth d on the current branch
}

// add appends a category, or returns a problem.
func (b *builder) add(e entry) string {
	if e.depth > len(b.open) {
		return fmt.Sprintf("%q is indented by %d tabs under a parent indented by %d: remove tabs, or add the levels between", e.name, e.depth, len(b.open)-1)
	}
	b.open = b.open[:e.depth]
	c := Category{ID: e.id, Code: e.code, Name: e.name, Path: e.name, Parent: -1, Depth: e.depth, Aliases: e.aliases}
	if e.depth > 0 {
		c.Parent = b.open[e.depth-1]
		c.Path = b.categories[c.Parent].Path + PathSeparator + e.name
	}
	if e.code != "" {
		c.ID, c.Path, c.Title = e.code, e.code, e.name
	}
	if b.seen[c.Path] {
		return fmt.Sprintf("%q is there twice: merge the two lines", c.Path)
	}
	b.seen[c.Path] = true
	b.open = append(b.open, len(b.categories))
	b.categories = append(b.categories, c)
	return ""
}
