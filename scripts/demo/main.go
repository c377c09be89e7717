// Command demo prints the first rows of Parquet files that bulkcat wrote, as tables.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/parquet-go/parquet-go"
)

// row holds the columns that are shown; the files have more.
type row struct {
	Record     int64    `parquet:"record"`
	Input      *string  `parquet:"input,optional"`
	Status     string   `parquet:"status"`
	Rank       *int64   `parquet:"rank,optional"`
	Value      *string  `parquet:"value,optional"`
	Confidence *float64 `parquet:"confidence,optional"`
}

const rowsShown = 12

func main() {
	for _, path := range os.Args[1:] {
		if err := show(os.Stdout, path); err != nil {
			fmt.Fprintln(os.Stderr, "demo:", err)
			os.Exit(1)
		}
	}
}

func show(out io.Writer, path string) error {
	rows, err := parquet.ReadFile[row](path)
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	fmt.Fprintf(out, "%s: %d rows, the first of them\n\n", path, len(rows))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "record\tinput\tstatus\trank\tvalue\tconfidence")
	for _, r := range rows[:min(rowsShown, len(rows))] {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%s\n", r.Record, short(text(r.Input)), r.Status, text(r.Rank), text(r.Value), text(r.Confidence))
	}
	fmt.Fprintln(table)
	return table.Flush()
}

// text is nothing for a null.
func text[T any](v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(*v)
}

func short(s string) string {
	const longest = 44
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest-1]) + "…"
	}
	return strings.ReplaceAll(s, "\n", " ")
}
