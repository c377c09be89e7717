package limiters

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// line is one line of the report.
type line struct {
	name, ideal, took, ofIdeal, refused, late, out, warnings, exit string
	missed                                                         []string
	skipped                                                        bool
}

func (l *line) mark() string {
	switch {
	case l.skipped:
		return "skipped"
	case len(l.missed) > 0:
		return "missed: " + strings.Join(l.missed, ", ")
	}
	return "reached"
}

// String is a row of a Markdown table.
func (l *line) String() string {
	return "| " + strings.Join([]string{
		l.name, l.ideal, l.took, l.ofIdeal, l.refused, l.late, l.out, l.warnings, l.exit, l.mark(),
	}, " | ") + " |"
}

// report has a line for each case that was chosen, in the order of the cases.
type report struct {
	mu    sync.Mutex
	lines map[string]*line
}

var table = report{lines: map[string]*line{}}

func (r *report) add(l *line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines[l.name] = l
}

// write prints the table, and writes it to the file that LIMITERS_REPORT names.
func (r *report) write() error {
	if len(r.lines) == 0 {
		return nil
	}
	if _, err := io.WriteString(os.Stdout, r.String()); err != nil {
		return err
	}
	if path := os.Getenv("LIMITERS_REPORT"); path != "" {
		return os.WriteFile(path, []byte(r.String()), 0o644)
	}
	return nil
}

// String is a Markdown table.
func (r *report) String() string {
	var text strings.Builder
	text.WriteString("| limiter | ideal s | took s | of ideal | refused | after 30 s | out | warnings | exit | mark |\n")
	text.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|---|\n")
	for _, c := range cases() {
		l := r.lines[c.name]
		if l == nil {
			continue
		}
		text.WriteString(l.String() + "\n")
	}
	return text.String()
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f", d.Seconds()) }

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

func TestReport(t *testing.T) {
	first, second := cases()[0].name, cases()[1].name
	r := report{lines: map[string]*line{}}
	r.add(&line{name: second, skipped: true})
	r.add(&line{name: first, took: "70", missed: []string{"time", "out"}})
	lines := strings.Split(strings.TrimSpace(r.String()), "\n")
	want := []string{
		"| " + first + " |  | 70 |  |  |  |  |  |  | missed: time, out |",
		"| " + second + " |  |  |  |  |  |  |  |  | skipped |",
	}
	if len(lines) != 4 || !slices.Equal(lines[2:], want) {
		t.Errorf("the table is\n%s", r.String())
	}
}
