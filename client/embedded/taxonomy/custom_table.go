package taxonomy

import (
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// table is a file as rows of named columns.
type table struct {
	header []string // in lower case
	rows   []tableRow
}

type tableRow struct {
	header []string // of the table
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
			return r.at(i)
		}
	}
	return ""
}

func (r tableRow) at(column int) string {
	if column < len(r.cells) {
		return r.cells[column]
	}
	return ""
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

// valid returns the valid rows, and adds the problems of the others to problems.
func (t *table) valid(problems *problemList) (rows []tableRow) {
	for _, row := range t.rows {
		if problem := row.check(); problem != "" {
			problems.add(row.line, problem)
			continue
		}
		rows = append(rows, row)
	}
	return rows
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

// csvTable reads CSV whose header has the columns of a form; false if there is no such header. It continues after a malformed
// row.
func csvTable(text string, problems *problemList) (*table, bool) {
	comma, ok := customHeader(text)
	if !ok {
		return nil, false
	}
	rows := csv.NewReader(strings.NewReader(text))
	rows.Comma, rows.FieldsPerRecord = comma, -1
	t := &table{}
	for {
		row, err := rows.Read()
		var broken *csv.ParseError
		switch {
		case errors.As(err, &broken):
			problems.add(broken.StartLine, "the quotes are broken: a field with a quote in it needs quotes around it, and each quote doubled")
			continue
		case err != nil: // io.EOF: a strings.Reader has no other error
			return t, true
		case strings.TrimSpace(strings.Join(row, "")) == "":
			continue
		case t.header == nil:
			t.header = columnNames(row)
			continue
		}
		number, _ := rows.FieldPos(0)
		if len(row) > len(t.header) {
			problems.add(number, fmt.Sprintf("there are %d fields under a header of %d: put a path with a separator in it into quotes", len(row), len(t.header)))
			continue
		}
		t.add(number, row...)
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
