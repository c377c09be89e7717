package limiters

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/scripts/servers/run"
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

func (l *line) cells() []string {
	return []string{l.name, l.ideal, l.took, l.ofIdeal, l.refused, l.late, l.out, l.warnings, l.exit, l.mark()}
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
	head := []string{"limiter", "ideal s", "took s", "of ideal", "refused", "after 30 s", "out", "warnings", "exit", "mark"}
	return run.WriteTable("LIMITERS_REPORT", head, r.rows())
}

func (r *report) rows() (rows [][]string) {
	for _, c := range cases() {
		if l := r.lines[c.name]; l != nil {
			rows = append(rows, l.cells())
		}
	}
	return rows
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.0f", d.Seconds()) }

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

func TestReport(t *testing.T) {
	first, second := cases()[0].name, cases()[1].name
	r := report{lines: map[string]*line{}}
	r.add(&line{name: second, skipped: true})
	r.add(&line{name: first, took: "70", missed: []string{"time", "out"}})
	want := [][]string{
		{first, "", "70", "", "", "", "", "", "", "missed: time, out"},
		{second, "", "", "", "", "", "", "", "", "skipped"},
	}
	if got := r.rows(); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("the table is %q", got)
	}
}
