// Command demo prints tables of the first rows in bulkcat's Parquet files, and of the rows
// without an answer with their reasons.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"github.com/parquet-go/parquet-go"
)

// row has the columns that are shown; the files have more columns.
type row struct {
	Record     int64    `parquet:"record"`
	Input      *string  `parquet:"input,optional"`
	Status     string   `parquet:"status"`
	Rank       *int64   `parquet:"rank,optional"`
	Value      *string  `parquet:"value,optional"`
	Confidence *float64 `parquet:"confidence,optional"`
	Error      *string  `parquet:"error,optional"`
}

// The widths of the columns for inputs and categories. The table has 80 columns in all.
const (
	rowsShown    = 12
	inputShown   = 24
	valueShown   = 26
	longestError = 62
)

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
	fmt.Fprintln(table, "record\tinput\tstatus\tvalue\tconfidence")
	for _, r := range rows[:min(rowsShown, len(rows))] {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", r.Record, head(text(r.Input), inputShown), r.Status, tail(text(r.Value), valueShown), text(r.Confidence))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%s: the rows without an answer, and why\n\n", path)
	fmt.Fprintln(table, "record\tstatus\terror")
	for _, r := range rows {
		if r.Error != nil {
			fmt.Fprintf(table, "%d\t%s\t%s\n", r.Record, r.Status, tail(*r.Error, longestError))
		}
	}
	fmt.Fprintln(table)
	return table.Flush()
}

// text formats a value; null is "".
func text[T any](v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(*v)
}

// head returns the beginning of a text, on one line.
func head(s string, longest int) string {
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest-1]) + "…"
	}
	return strings.ReplaceAll(s, "\n", " ")
}

// tail returns the end of a text: the lowest levels of a path, the reason of an error.
func tail(s string, longest int) string {
	if runes := []rune(s); len(runes) > longest {
		return "…" + string(runes[len(runes)-longest+1:])
	}
	return s
}
