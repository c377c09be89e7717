package limiters

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/scripts/servers/run"
)

// atMost is the longest time that a run may take: a sixth more than the ideal, and 3 seconds or
// two blocks for learning what the limiter allows.
func (c limiter) atMost() time.Duration {
	return c.ideal*115/100 + max(3*time.Second, 2*c.block)
}

// compare fills the line, and fails the test for each mark that is missed.
func (c limiter) compare(t *testing.T, row *line, result run.Result, records *recorder) {
	refused, late := records.refusals()
	out := strings.Count(result.Log, `"the service is out`)
	row.took, row.ofIdeal = seconds(result.Took), fmt.Sprintf("%.2f", result.Took.Seconds()/c.ideal.Seconds())
	row.refused, row.late = percent(refused), percent(late)
	row.out, row.warnings, row.exit = strconv.Itoa(out), strconv.Itoa(len(result.Warnings)), strconv.Itoa(result.Exit)
	if result.Exit == -1 {
		row.exit = "killed"
	}
	miss := func(mark, format string, args ...any) {
		t.Helper()
		row.missed = append(row.missed, mark)
		t.Errorf(format, args...)
	}
	if result.Exit != 0 {
		miss("exit", "exit status %s; the end of the log:\n%s", row.exit, tail(result.Log, 800))
	}
	if result.Took > c.atMost() {
		miss("time", "took %v, at most %v (ideal %v)", result.Took, c.atMost(), c.ideal)
	}
	if result.Exit == 0 && result.Took < c.ideal*9/10 {
		miss("limit", "took %v, less than the ideal %v: the limiter does not limit", result.Took, c.ideal)
	}
	if status := records.unexpected(c.status); status != 0 {
		miss("status", "a refusal has the status %d", status)
	}
	if late > c.refused {
		miss("refused", "%s refused after %v, at most %s", row.late, learned, percent(c.refused))
	}
	if out > 0 {
		miss("out", "%d lines say that the service is out", out)
	}
	if result.Exit == 0 {
		c.compareRows(miss, result.Rows)
	}
	if t.Failed() {
		logWarnings(t, result)
	}
}

// compareRows expects one row with an answer for each record, in input order.
func (c limiter) compareRows(miss func(mark, format string, args ...any), rows []run.Row) {
	inputs := run.Inputs("r", c.records)
	if len(rows) != len(inputs) {
		miss("rows", "%d rows for %d records", len(rows), len(inputs))
		return
	}
	for i, row := range rows {
		if want := (run.Row{Record: strconv.Itoa(i + 1), Input: inputs[i], Status: "ok"}); row != want {
			miss("rows", "row %d is %+v, not %+v", i+1, row, want)
			return
		}
	}
}

func logWarnings(t *testing.T, result run.Result) {
	t.Helper()
	for i, w := range result.Warnings {
		if i < 4 {
			t.Logf("warning at %v: %s: %.120s", w.Time.Sub(result.Started).Round(time.Millisecond), w.Message, w.Error)
		}
	}
}

func tail(text string, n int) string { return text[max(0, len(text)-n):] }
