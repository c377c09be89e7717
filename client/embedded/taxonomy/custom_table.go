package taxonomy

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// table is a file as rows of named columns.
type table struct {
	header []string // in lower case
	rows   []tableRow
}

type tableRow struct {
	header []string // of the table or, in JSON, of the row
	line   int      // 1-based
	cells  []string // may be fewer than columns
}

func (t *table) add(line int, cells ...string) {
	t.rows = append(t.rows, tableRow{t.header, line, cells})
}

// cell returns a row's field in the first of columns that exists; "" if there is none.
func (r tableRow) cell(columns ...string) string {
	for _, column := range columns {
		if i := slices.Index(r.header, column); i >= 0 {
			if i < len(r.cells) {
				return r.cells[i]
			}
			return ""
		}
	}
	return ""
}

// has reports whether a table has one of the columns.
func (t *table) has(columns []string) bool {
	return slices.ContainsFunc(columns, func(c string) bool { return slices.Contains(t.header, c) })
}

// column returns the fields of all rows in a column, without empty fields.
func (t *table) column(names ...string) (cells []string) {
	for _, row := range t.rows {
		if cell := strings.TrimSpace(row.cell(names...)); cell != "" {
			cells = append(cells, cell)
		}
	}
	return cells
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

// unread returns the columns that a form does not read, and repeated columns.
func (t *table) unread(f form) (columns []string) {
	for i, column := range t.header {
		if column != "" && (!f.read(column) || slices.Contains(t.header[:i], column)) {
			columns = append(columns, column)
		}
	}
	return columns
}

// readCSV reads a table with a header. It continues after a malformed row.
func (c *customReader) readCSV(text string, comma rune) {
	rows := csv.NewReader(strings.NewReader(text))
	rows.Comma, rows.FieldsPerRecord = comma, -1
	t := &table{}
	for {
		row, err := rows.Read()
		if broken, ok := errors.AsType[*csv.ParseError](err); ok {
			c.report(broken.StartLine, "the quotes are broken: a field with a quote in it needs quotes around it, and each quote doubled")
			continue
		}
		if err != nil { // io.EOF: a strings.Reader has no other error
			c.readTable(t, "") // a header with broken quotes, which are reported, is of no form
			return
		}
		number, _ := rows.FieldPos(0)
		switch {
		case strings.TrimSpace(strings.Join(row, "")) == "":
		case t.header == nil:
			t.header = columnNames(row)
		case len(row) > len(t.header):
			c.report(number, fmt.Sprintf("there are %d fields under a header of %d: put a path with a separator in it into quotes", len(row), len(t.header)))
		default:
			t.add(number, row...)
		}
	}
}

// customHeader reports whether the first line that is not blank is a header, and returns its separator.
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
	for _, comma := range ",;\t|" {
		t := &table{header: columnNames(strings.Split(first, string(comma)))}
		if _, ok := formOf(t); ok {
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
