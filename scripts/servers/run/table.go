package run

import (
	"fmt"
	"os"
	"strings"
)

// WriteTable prints a Markdown table, whose first and last columns are texts and whose others are numbers, and writes it to the
// file that an environment variable names. Without rows it does nothing.
func WriteTable(variable string, head []string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	var text strings.Builder
	line := func(cells []string) { text.WriteString("| " + strings.Join(cells, " | ") + " |\n") }
	line(head)
	text.WriteString("|---|" + strings.Repeat("--:|", len(head)-2) + "---|\n")
	for _, row := range rows {
		line(row)
	}
	fmt.Print(text.String())
	if path := os.Getenv(variable); path != "" {
		return os.WriteFile(path, []byte(text.String()), 0o644)
	}
	return nil
}
