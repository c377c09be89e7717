package taxonomy

import (
	"encoding/csv"
	"errors"
	"fmt"
	"path/filepath"
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
}

// The columns of a custom taxonomy.
const (
	pathColumn    = "path"
	idColumn      = "id"
	aliasesColumn = "aliases"
)

// eachCustomLine calls add for every valid line, and adds the others to problems. It returns the
// unknown columns.
func eachCustomLine(file, text string, problems *SyntaxErrors, add func(customLine) string) (unread []string) {
	take := func(number int, path, id, aliases string) {
		line, problem := parseCustomLine(path, id, aliases)
		if problem == "" {
			line.number = number
			problem = add(line)
		}
		if problem != "" {
			problems.add(number, problem)
		}
	}
	if comma, ok := customHeader(text); ok {
		return eachRow(text, comma, problems, take)
	}
	if ext := strings.ToLower(filepath.Ext(file)); ext == ".csv" || ext == ".tsv" {
		problems.add(1, "the header has no column path: write one such as path,id,aliases, or name the file .txt for one path a line")
		return nil
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			take(number, line, "", "")
		}
	}
	return nil
}

// customHeader returns the separator of the columns, and whether the first line that is not blank
// is a header.
func customHeader(text string) (comma rune, ok bool) {
	first := ""
	for line := range strings.Lines(text) {
		if first = strings.TrimSpace(line); first != "" {
			break
		}
	}
	if len(first) > maxLine {
		return 0, false
	}
	for _, comma := range ",;\t" {
		if slices.Contains(columnNames(strings.Split(first, string(comma))), pathColumn) {
			return comma, true
		}
	}
	return 0, false
}

func columnNames(row []string) []string {
	names := make([]string, len(row))
	for i, name := range row {
		names[i] = strings.ToLower(strings.Trim(name, "\" \t"))
	}
	return names
}

// eachRow reads CSV with a header, and continues after a malformed row.
func eachRow(text string, comma rune, problems *SyntaxErrors, take func(number int, path, id, aliases string)) (unread []string) {
	rows := csv.NewReader(strings.NewReader(text))
	rows.Comma, rows.FieldsPerRecord, rows.ReuseRecord = comma, -1, true
	var header []string
	for {
		row, err := rows.Read()
		var broken *csv.ParseError
		switch {
		case errors.As(err, &broken):
			problems.add(broken.StartLine, "the quotes are broken: a field with a quote in it needs quotes around it, and each quote doubled")
			continue
		case err != nil: // io.EOF, for a string cannot fail
			return unreadColumns(header)
		case strings.TrimSpace(strings.Join(row, "")) == "":
			continue
		case header == nil:
			header = columnNames(row)
			continue
		}
		number, _ := rows.FieldPos(0)
		if len(row) > len(header) {
			problems.add(number, fmt.Sprintf("there are %d fields under a header of %d: put a path with a separator in it into quotes", len(row), len(header)))
			continue
		}
		take(number, cell(header, row, pathColumn), cell(header, row, idColumn), cell(header, row, aliasesColumn))
	}
}

// cell is a row's field under a column, "" where there is none.
func cell(header, row []string, column string) string {
	if i := slices.Index(header, column); i >= 0 && i < len(row) {
		return row[i]
	}
	return ""
}

func unreadColumns(header []string) (unread []string) {
	for i, column := range header {
		isOurs := column == pathColumn || column == idColumn || column == aliasesColumn
		if !isOurs || slices.Contains(header[:i], column) {
			unread = append(unread, column)
		}
	}
	return unread
}

// parseCustomLine splits the fields of a line. The second result says what is
// wrong with it.
func parseCustomLine(path, id, aliases string) (customLine, string) {
	for _, field := range []struct{ name, text string }{{pathColumn, path}, {idColumn, id}, {aliasesColumn, aliases}} {
		switch {
		case len(field.text) > maxLine:
			return customLine{}, fmt.Sprintf("%s of %d bytes: keep it under %d", field.name, len(field.text), maxLine)
		case !utf8.ValidString(field.text):
			return customLine{}, "not UTF-8: save the file as UTF-8"
		case strings.ContainsFunc(strings.TrimSpace(field.text), unicode.IsControl):
			return customLine{}, fmt.Sprintf("%s %.80q holds a tab, line feed or other control character: remove it", field.name, field.text)
		}
	}
	line := customLine{id: strings.TrimSpace(id)}
	if strings.Contains(line.id, ">") {
		return line, fmt.Sprintf("id %.80q holds a >: put a path with a separator in it into quotes", line.id)
	}
	for alias := range strings.FieldsFuncSeq(aliases, func(r rune) bool { return r == '|' || r == ';' }) {
		if alias = foldSpace(alias); alias != "" {
			line.aliases = append(line.aliases, alias)
		}
	}
	for name := range strings.SplitSeq(path, ">") {
		line.names = append(line.names, foldSpace(name))
	}
	switch empty := slices.Index(line.names, ""); {
	case len(line.names) > maxCustomLevels:
		return line, fmt.Sprintf("path of %d levels: keep to %d", len(line.names), maxCustomLevels)
	case strings.TrimSpace(path) == "":
		return line, "there is no path: write one such as A > B > C"
	case empty >= 0:
		return line, fmt.Sprintf("level %d of path %.80q is empty: write a name, or remove the > beside it", empty+1, path)
	}
	return line, ""
}

// foldSpace trims a name and joins runs of white space in it.
func foldSpace(s string) string { return strings.Join(strings.Fields(s), " ") }
