package servers

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// line is one line of the report. A field that a case does not measure stays "".
type line struct {
	name, ideal, atMost, took, refused, warnings, exit, repeats, status string
}

// note adds the figure of a run; a case may have several runs.
func note(field *string, value string) {
	if *field != "" {
		value = *field + ", " + value
	}
	*field = value
}

// table collects the lines of the cases that ran.
type table struct{ lines []*line }

var report table

func (r *table) add(row *line, skipped, failed bool) {
	switch {
	case failed:
		row.status = "FAILED"
	case skipped:
		row.status = "skipped"
	default:
		row.status = "passed"
	}
	r.lines = append(r.lines, row)
}

// write prints the table, and writes it to the file that SERVERS_REPORT names.
func (r *table) write() error {
	if len(r.lines) == 0 {
		return nil
	}
	if _, err := io.WriteString(os.Stdout, r.String()); err != nil {
		return err
	}
	if path := os.Getenv("SERVERS_REPORT"); path != "" {
		return os.WriteFile(path, []byte(r.String()), 0o644)
	}
	return nil
}

// String is a Markdown table.
func (r *table) String() string {
	var text strings.Builder
	text.WriteString("| case | ideal | at most | took | refused after 10 s | warnings | answered twice | exit | status |\n")
	text.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|---|\n")
	for _, l := range r.lines {
		fmt.Fprintf(&text, "| %s |\n", strings.Join([]string{
			l.name, l.ideal, l.atMost, l.took, l.refused, l.warnings, l.repeats, l.exit, l.status,
		}, " | "))
	}
	return text.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
