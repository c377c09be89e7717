package taxonomy

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// customReader reads the file of a custom taxonomy.
type customReader struct {
	forest
	file    string
	form    string   // see Custom.Form
	unread  []string // columns that the form does not read
	repeats []repeat // of nodes

	problems []error // a *SyntaxError for each of the first malformed lines
	more     int     // number of further malformed lines
}

const maxProblems = 20

// report adds a problem of a line.
func (c *customReader) report(line int, problem string) {
	if len(c.problems) == maxProblems {
		c.more++
		return
	}
	c.problems = append(c.problems, &SyntaxError{File: c.file, Line: max(line, 1), Problem: problem})
}

// err returns the problems as one error; nil for none.
func (c *customReader) err() error {
	if c.more > 0 {
		return errors.Join(append(c.problems, fmt.Errorf("and %d more lines", c.more))...)
	}
	return errors.Join(c.problems...)
}

// read detects the form of the file, and reads its categories.
func (c *customReader) read(text string) {
	if strings.HasPrefix(text, "PK\x03\x04") || strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		c.report(1, "an Excel file or UTF-16: save the file as CSV in UTF-8")
		return
	}
	if first := strings.TrimLeft(text, " \t\r\n"); strings.HasPrefix(first, "{") || strings.HasPrefix(first, "[") {
		c.readJSON(text)
		return
	}
	if comma, ok := customHeader(text); ok {
		c.readCSV(text, comma)
		return
	}
	if ext := strings.ToLower(filepath.Ext(c.file)); ext == ".csv" || ext == ".tsv" {
		c.report(1, "the header names no categories: write path,id,aliases, or id,parent_id,name, or level_1,level_2,..., or name the file .txt for one path a line")
		return
	}
	c.readText(text)
}

// add adds the category of a row, whose path has the names, and its missing ancestors. It reports the problem of a malformed row, or
// else the given problem. ok is false if the names are not a path.
func (c *customReader) add(row tableRow, names []string, problem string) (ok bool) {
	id := strings.TrimSpace(row.cell(idColumns...))
	if problem = cmp.Or(row.check(), problem, checkPath(id, names)); problem != "" {
		c.report(row.line, problem)
		return false
	}
	links := listOf(row.cell(linksColumn), "|")
	problem = checkLinks(links)
	path := strings.Join(names, PathSeparator)
	at, end := -1, 0
	for depth, name := range names {
		end += len(name)
		at = c.grow(at, depth, name, path[:end]) // shares the memory of the whole path
		end += len(PathSeparator)
	}
	if len(c.nodes) > maxCustomCategories {
		problem = cmp.Or(problem, fmt.Sprintf("there are over %d categories: that is no taxonomy to choose from", maxCustomCategories))
	}
	if problem != "" {
		c.report(row.line, problem)
		return true
	}
	n := &c.nodes[at]
	if n.line == 0 {
		n.line = row.line
	} else {
		c.repeats = append(c.repeats, repeat{at, row.line})
	}
	n.ID = cmp.Or(n.ID, id)
	n.Aliases = union(n.Aliases, listOf(row.cell(aliasColumns...), "|;"))
	n.Links = union(n.Links, links)
	return true
}

// checkPath returns the problem of a category's id and names; "" for none.
func checkPath(id string, names []string) string {
	if strings.Contains(id, ">") {
		return fmt.Sprintf("id %.80q holds a >: put a path with a separator in it into quotes", id)
	}
	if len(names) > maxCustomLevels {
		return fmt.Sprintf("path of %d levels: keep to %d", len(names), maxCustomLevels)
	}
	for _, name := range names {
		if strings.Contains(name, ">") {
			return fmt.Sprintf("the name %.80q holds a >, which separates levels: replace it", name)
		}
	}
	return ""
}

// checkLinks returns the problem of the first malformed link; "" if there is none.
func checkLinks(links []string) string {
	for _, text := range links {
		if _, problem := parseLink(text); problem != "" {
			return problem
		}
	}
	return ""
}

// custom returns the taxonomy that was read.
func (c *customReader) custom(name string) *Custom {
	categories, place := c.categories()
	custom := &Custom{
		Taxonomy: Taxonomy{Name: name, Categories: categories}, File: c.file, Form: c.form, Lines: make([]int, len(place)), unread: c.unread,
	}
	for i, at := range place {
		custom.Lines[at] = c.nodes[i].line
	}
	for _, r := range c.repeats {
		custom.repeats = append(custom.repeats, repeat{place[r.category], r.line})
	}
	return custom
}
