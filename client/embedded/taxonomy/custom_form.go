package taxonomy

import (
	"fmt"
	"path/filepath"
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

// form is the form of a taxonomy in a file.
type form struct {
	name  string                                             // for users
	lines func(t *table, problems *problemList) []customLine // the valid lines
	read  func(column string) bool                           // whether the form reads a column
}

// formOf finds the form of a table by its columns.
func formOf(t *table) (form, bool) {
	has := func(names []string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(t.header, n) })
	}
	common := func(more ...[]string) func(string) bool {
		all := slices.Concat(append(more, idColumns, aliasColumns, []string{linksColumn})...)
		return func(column string) bool { return slices.Contains(all, column) }
	}
	switch {
	case has(pathColumns):
		separator := separatorOf(t.column(pathColumns...))
		return form{"paths with " + strings.TrimSpace(separator), func(t *table, problems *problemList) []customLine {
			return pathLines(t, separator, problems)
		}, common(pathColumns)}, true
	case has(idColumns) && has(parentColumns) && has(nameColumns):
		return form{"names with the ids of their parents", parentLines, common(parentColumns, nameColumns)}, true
	case len(levelsOf(t.header)) > 0:
		known := common()
		return form{"a column for each level", levelLines, func(c string) bool { return known(c) || levelColumn.MatchString(c) }}, true
	}
	return form{}, false
}

// readLines detects the form of a file, and returns the valid lines, the name of the form, and the columns that the form does
// not read.
func readLines(file, text string, problems *problemList) (lines []customLine, name string, unread []string) {
	if strings.HasPrefix(text, "PK\x03\x04") || strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") {
		problems.add(1, "an Excel file or UTF-16: save the file as CSV in UTF-8")
		return nil, "", nil
	}
	if first := strings.TrimLeft(text, " \t\r\n"); strings.HasPrefix(first, "{") || strings.HasPrefix(first, "[") {
		return jsonLines(text, problems)
	}
	if t, ok := csvTable(text, problems); ok {
		f, ok := formOf(t)
		if !ok { // the header has broken quotes: csvTable has reported them
			return nil, "", nil
		}
		return f.lines(t, problems), f.name, t.unread(f)
	}
	if ext := strings.ToLower(filepath.Ext(file)); ext == ".csv" || ext == ".tsv" {
		problems.add(1, "the header names no categories: write path,id,aliases, or id,parent_id,name, or level_1,level_2,..., or name the file .txt for one path a line")
		return nil, "", nil
	}
	lines, name = readText(text, problems)
	return lines, name, nil
}

// pathLines reads one path per row.
func pathLines(t *table, separator string, problems *problemList) (lines []customLine) {
	for _, row := range t.valid(problems) {
		names, problem := splitPath(row.cell(pathColumns...), separator)
		lines = appendLine(lines, row, names, problem, problems)
	}
	return lines
}

// levelLines reads rows with a column for each level. A path ends at the first empty level.
func levelLines(t *table, problems *problemList) (lines []customLine) {
	levels := levelsOf(t.header)
	for _, row := range t.valid(problems) {
		var names []string
		gap, problem := false, ""
		for _, column := range levels {
			switch name := foldSpace(row.at(column)); {
			case name == "":
				gap = true
			case gap:
				problem = fmt.Sprintf("the level %q has a name, and one above it has none: fill the levels from the first", t.header[column])
			default:
				names = append(names, name)
			}
		}
		if len(names) == 0 && problem == "" {
			problem = "all levels are empty: write a name in the first"
		}
		lines = appendLine(lines, row, names, problem, problems)
	}
	return lines
}

// levelsOf returns the columns of the levels 1, 2, ... up to the first missing level; nil if there is no level 1.
func levelsOf(header []string) (columns []int) {
	for level := 1; ; level++ {
		i := slices.IndexFunc(header, func(c string) bool {
			m := levelColumn.FindStringSubmatch(c)
			return m != nil && m[1] == fmt.Sprint(level)
		})
		if i < 0 {
			return columns
		}
		columns = append(columns, i)
	}
}

// parentLines reads names with the ids of their parents. The rows may be in any order. A row without a parent, or with a parent
// 0 that does not exist, is at the top level.
func parentLines(t *table, problems *problemList) (lines []customLine) {
	rows := t.valid(problems)
	byID := make(map[string]tableRow, len(rows))
	for _, row := range rows {
		id := strings.TrimSpace(row.cell(idColumns...))
		if id == "" {
			problems.add(row.line, "there is no id: give each category its own")
			continue
		}
		if first, taken := byID[id]; taken {
			problems.add(row.line, fmt.Sprintf("the id %.80q is also on line %d: give each category its own id", id, first.line))
			continue
		}
		byID[id] = row
	}
	for _, row := range rows {
		names, problem := pathOf(row, byID)
		lines = appendLine(lines, row, names, problem, problems)
	}
	return lines
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

func appendLine(lines []customLine, row tableRow, names []string, problem string, problems *problemList) []customLine {
	var line customLine
	if problem == "" {
		line, problem = newLine(row, names)
	}
	if problem != "" {
		problems.add(row.line, problem)
		return lines
	}
	return append(lines, line)
}
