package taxonomy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// customLine is one line of a custom taxonomy.
type customLine struct {
	number  int
	names   []string // of the path's levels
	id      string
	aliases []string
	links   []string // paths or ids of the product taxonomy
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

// newLine makes a line from the names of its levels and the other fields of the row, or returns a problem.
func newLine(row tableRow, names []string) (customLine, string) {
	line := customLine{
		number: row.line, names: names, id: strings.TrimSpace(row.cell(idColumns...)),
		aliases: listOf(row.cell(aliasColumns...), "|;"), links: listOf(row.cell(linksColumn), "|"),
	}
	if strings.Contains(line.id, ">") {
		return line, fmt.Sprintf("id %.80q holds a >: put a path with a separator in it into quotes", line.id)
	}
	if len(names) > maxCustomLevels {
		return line, fmt.Sprintf("path of %d levels: keep to %d", len(names), maxCustomLevels)
	}
	for _, name := range names {
		if strings.Contains(name, ">") {
			return line, fmt.Sprintf("the name %.80q holds a >, which separates levels: replace it", name)
		}
	}
	return line, ""
}

// check returns the first problem of a row's texts; "" for none.
func (r tableRow) check() string {
	for i, text := range r.cells {
		column := "path"
		if i < len(r.header) {
			column = cmp.Or(r.header[i], column)
		}
		switch {
		case len(text) > maxLine:
			return fmt.Sprintf("%s of %d bytes: keep it under %d", column, len(text), maxLine)
		case !utf8.ValidString(text):
			return "not UTF-8: save the file as UTF-8"
		case strings.ContainsFunc(strings.TrimSpace(text), unicode.IsControl):
			return fmt.Sprintf("%s %.80q holds a tab, line feed or other control character: remove it", column, text)
		}
	}
	return ""
}

// listOf splits a cell with several values.
func listOf(cell, separators string) (list []string) {
	for value := range strings.FieldsFuncSeq(cell, func(r rune) bool { return strings.ContainsRune(separators, r) }) {
		if value = foldSpace(value); value != "" {
			list = append(list, value)
		}
	}
	return list
}

// foldSpace trims a name, and replaces runs of white space by a space.
func foldSpace(s string) string { return strings.Join(strings.Fields(s), " ") }
