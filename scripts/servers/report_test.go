package servers

import (
	"fmt"
	"time"

	"github.com/bulkcat/bulkcat/scripts/servers/run"
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
	var rows [][]string
	for _, l := range r.lines {
		rows = append(rows, []string{l.name, l.ideal, l.atMost, l.took, l.refused, l.warnings, l.repeats, l.exit, l.status})
	}
	head := []string{"case", "ideal", "at most", "took", "refused after 10 s", "warnings", "answered twice", "exit", "status"}
	return run.WriteTable("SERVERS_REPORT", head, rows)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
