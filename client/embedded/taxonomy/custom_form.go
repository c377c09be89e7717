package taxonomy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// The names of the columns of a custom taxonomy, and of the members in JSON.
var (
	pathColumns   = []string{"path", "category_path", "full_path", "breadcrumb"}
	idColumns     = []string{"id", "category_id", "code"}
	parentColumns = []string{"parent_id", "parent", "parent_category_id", "parentid"}
	nameColumns   = []string{"name", "title", "label", "category", "category_name"}
	aliasColumns  = []string{"aliases", "synonyms"}
	childColumns  = []string{"children", "subcategories", "categories", "items", "nodes"}
)

const linksColumn = "links"

// levelColumn matches the columns of files with a column for each level: level_1, level 2, l3, category_4.
var levelColumn = regexp.MustCompile(`^(?:level|lvl|l|category|cat|c)[ _-]?([1-9][0-9]?)$`)

// form is the form of a taxonomy in a table.
type form struct {
	name  string                          // for users
	lines func(c *customReader, t *table) // adds the categories
	read  func(column string) bool        // whether the form reads a column
}

// formOf finds the form of a table by its columns.
func formOf(t *table) (form, bool) {
	common := func(more ...[]string) func(string) bool {
		all := slices.Concat(append(more, idColumns, aliasColumns, []string{linksColumn})...)
		return func(column string) bool { return slices.Contains(all, column) }
	}
	switch {
	case t.has(pathColumns):
		separator := separatorOf(t.column(pathColumns...))
		return form{"paths with " + strings.TrimSpace(separator), func(c *customReader, t *table) { c.readPaths(t, separator) }, common(pathColumns)}, true
	case t.has(idColumns) && t.has(parentColumns) && t.has(nameColumns):
		return form{"names with the ids of their parents", (*customReader).readParents, common(parentColumns, nameColumns)}, true
	case len(levelsOf(t.header)) > 0:
		known := common()
		return form{"a column for each level", (*customReader).readLevels, func(c string) bool { return known(c) || levelColumn.MatchString(c) }}, true
	}
	return form{}, false
}

// readTable reads a table of a form; false if the columns are of no form. The name of the form ends with suffix.
func (c *customReader) readTable(t *table, suffix string) bool {
	f, ok := formOf(t)
	if ok {
		c.form, c.unread = f.name+suffix, t.unread(f)
		f.lines(c, t)
	}
	return ok
}

// readPaths reads one path per row.
func (c *customReader) readPaths(t *table, separator string) {
	for _, row := range t.rows {
		names, problem := splitPath(row.cell(pathColumns...), separator)
		c.add(row, names, problem)
	}
}

// separators are the separators of paths. Separators that do not occur in names come first.
var separators = []string{">", "::", "|", " / ", "/", `\`}

// separatorOf returns the separator of paths: the first of separators that occurs in some paths, by default ">". A slash, which
// also occurs in names, must be in half of the paths.
func separatorOf(paths []string) string {
	for _, separator := range separators {
		n := 0
		for _, path := range paths {
			if strings.Contains(path, separator) {
				n++
			}
		}
		if n > 0 && (strings.Trim(separator, " ") != "/" || 2*n >= len(paths)) {
			return separator
		}
	}
	return ">"
}

// splitPath returns the names of a path, or a problem.
func splitPath(path, separator string) (names []string, problem string) {
	if strings.TrimSpace(path) == "" {
		return nil, "there is no path: write one such as A > B > C"
	}
	path = strings.TrimSpace(path)
	if separator == "/" || separator == `\` {
		path = strings.Trim(path, separator) // as in folders
	}
	for name := range strings.SplitSeq(path, separator) {
		names = append(names, foldSpace(name))
	}
	if empty := slices.Index(names, ""); empty >= 0 {
		return nil, fmt.Sprintf("level %d of path %.80q is empty: write a name, or remove the %s beside it", empty+1, path, strings.TrimSpace(separator))
	}
	return names, ""
}

// readLevels reads rows with a column for each level. A path ends at the first empty level.
func (c *customReader) readLevels(t *table) {
	levels := levelsOf(t.header)
	for _, row := range t.rows {
		var names []string
		gap, problem := false, ""
		for _, column := range levels {
			switch name := foldSpace(row.cell(column)); {
			case name == "":
				gap = true
			case gap:
				problem = fmt.Sprintf("the level %q has a name, and one above it has none: fill the levels from the first", column)
			default:
				names = append(names, name)
			}
		}
		if len(names) == 0 {
			problem = cmp.Or(problem, "all levels are empty: write a name in the first")
		}
		c.add(row, names, problem)
	}
}

// levelsOf returns the columns of the levels 1, 2, ... up to the first missing level; nil if there is no level 1.
func levelsOf(header []string) (columns []string) {
	for level := 1; ; level++ {
		i := slices.IndexFunc(header, func(c string) bool {
			m := levelColumn.FindStringSubmatch(c)
			return m != nil && m[1] == fmt.Sprint(level)
		})
		if i < 0 {
			return columns
		}
		columns = append(columns, header[i])
	}
}

// readParents reads names with the ids of their parents. The rows may be in any order. A row without a parent, or with a parent 0
// that does not exist, is at the top level.
func (c *customReader) readParents(t *table) {
	byID := make(map[string]tableRow, len(t.rows))
	for _, row := range t.rows {
		id := strings.TrimSpace(row.cell(idColumns...))
		first, taken := byID[id]
		switch {
		case id == "":
			c.report(row.line, "there is no id: give each category its own")
		case taken:
			c.report(row.line, idIsTaken(id, first.line))
		default:
			byID[id] = row
		}
	}
	for _, row := range t.rows {
		names, problem := pathOf(row, byID)
		c.add(row, names, problem)
	}
}

// idIsTaken is the problem of a row whose id an earlier line has.
func idIsTaken(id string, line int) string {
	return fmt.Sprintf("the id %.80q is also on line %d: give each category its own id", id, line)
}

// pathOf returns the names from the top level to a row.
func pathOf(row tableRow, byID map[string]tableRow) (names []string, problem string) {
	for at := row; ; {
		name := foldSpace(at.cell(nameColumns...))
		if name == "" {
			return nil, fmt.Sprintf("the category %.80q has no name", strings.TrimSpace(at.cell(idColumns...)))
		}
		if names = append(names, name); len(names) > maxCustomLevels {
			return nil, fmt.Sprintf("over %d levels lead to the top, or a circle: correct the ids of the parents", maxCustomLevels)
		}
		parent := strings.TrimSpace(at.cell(parentColumns...))
		above, ok := byID[parent]
		switch {
		case !ok && (parent == "" || parent == "0" || parent == "-1" || strings.EqualFold(parent, "null")):
			slices.Reverse(names)
			return names, ""
		case !ok:
			return nil, fmt.Sprintf("no line has the id %.80q of the parent: add it, or leave the parent empty", parent)
		}
		at = above
	}
}
