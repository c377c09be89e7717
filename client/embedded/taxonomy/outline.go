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
	f := newForest()
	err := f.readOutline(file, text, false)
	categories, _ := f.categories()
	return categories, err
}

// readOutline adds the categories of an outline. An overlay is an outline of the categories with more aliases, and their ancestors:
// it only adds aliases. The error is a *[SyntaxError]. After an error, some categories and aliases may have been added.
func (f *forest) readOutline(file, text string, isOverlay bool) error {
	seen := make(map[int]bool)
	var open []int // open[d] is the category at depth d on the current branch
	return eachLine(file, text, func(line string) string {
		e, problem := parseEntry(line)
		if problem != "" {
			return problem
		}
		if e.depth > len(open) {
			return fmt.Sprintf("%q is indented by %d tabs under a parent indented by %d: remove tabs, or add the levels between", e.name, e.depth, len(open)-1)
		}
		open = open[:e.depth]
		parent, path := -1, e.name
		if e.depth > 0 {
			parent = open[e.depth-1]
			path = f.nodes[parent].Path + PathSeparator + e.name
		}
		if e.code != "" {
			path = e.code
		}
		known := len(f.nodes)
		i := f.grow(parent, e.depth, e.name, path)
		c := &f.nodes[i].Category
		switch {
		case isOverlay && (i == known || c.Name != e.name):
			return fmt.Sprintf("no category %q (%s): write an existing one, under its own ancestors", e.name, path)
		case seen[i]:
			return fmt.Sprintf("%q is there twice: merge the two lines", path)
		case e.code != "":
			c.ID, c.Code, c.Title = e.code, e.code, e.name
		case !isOverlay:
			c.ID = e.id
		}
		c.Aliases = union(c.Aliases, e.aliases)
		seen[i] = true
		open = append(open, i)
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

// eachLine calls read for every line that is neither blank nor a comment. If read returns a problem, the error is a *[SyntaxError]
// with the number of the line.
func eachLine(file, text string, read func(line string) (problem string)) error {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if problem := read(line); problem != "" {
			return &SyntaxError{File: file, Line: number, Problem: problem}
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
