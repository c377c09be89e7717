package report

import (
	"strings"
	"unicode/utf8"
)

// Table is a table of strings. Its rows have the length of its head.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
}

// NewClaims returns a table for AddClaim.
func NewClaims(title string) *Table {
	return &Table{Title: title, Head: []string{"measured", "result", "wanted"}}
}

// AddClaim adds a row.
func (t *Table) AddClaim(name string, c Claim) {
	t.Add(name, c.Figure(), c.Status())
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Markdown is the title and the table with aligned columns, in Markdown.
func (t *Table) Markdown() string {
	var b strings.Builder
	b.WriteString("**" + t.Title + "**\n\n")
	widths := t.widths()
	writeRow(&b, t.Head, widths)
	for _, width := range widths {
		b.WriteString("|" + strings.Repeat("-", width+2))
	}
	b.WriteString("|\n")
	for _, row := range t.Rows {
		writeRow(&b, row, widths)
	}
	return b.String()
}

func (t *Table) widths() []int {
	widths := make([]int, len(t.Head))
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(escape(cell)))
		}
	}
	return widths
}

func writeRow(b *strings.Builder, row []string, widths []int) {
	for i, cell := range row {
		cell = escape(cell)
		b.WriteString("| " + cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+1))
	}
	b.WriteString("|\n")
}

// escape escapes the separator of cells.
func escape(cell string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(cell)
}
