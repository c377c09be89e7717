package servers

import (
	"strconv"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/servers/run"
)

// warmUp is how long a run may learn what the servers allow, before refusals count.
const warmUp = 10 * time.Second

// compare fills the line, and fails the test for each target that is missed.
func (p plan) compare(t *testing.T, row *line, o result) {
	t.Helper()
	exit := strconv.Itoa(o.Exit)
	if o.Exit == -1 {
		exit = "killed"
	}
	note(&row.took, seconds(o.Took))
	note(&row.exit, exit)
	if p.ideal > 0 {
		note(&row.ideal, seconds(p.ideal))
	}
	if p.atMost > 0 {
		note(&row.atMost, seconds(p.atMost))
	}
	if o.Exit != p.exit {
		t.Errorf("exit status %s, not %d; the end of the log:\n%s", exit, p.exit, tail(o.Log, 800))
	}
	if p.atMost > 0 && o.Took > p.atMost {
		t.Errorf("took %v, at most %v (ideal %v)", o.Took, p.atMost, p.ideal)
	}
	p.compareWarnings(t, row, o)
	p.compareRefusals(t, row, o)
	p.compareAnswers(t, row, o)
	if o.Exit != -1 && !p.unpublished {
		p.compareRows(t, o)
	}
	if t.Failed() {
		t.Logf("bulkcat counts %d requests, the server next to it %d: by status %v", o.Requests, len(o.arrivals), statuses(o.arrivals))
	}
}

func (p plan) compareWarnings(t *testing.T, row *line, o result) {
	t.Helper()
	note(&row.warnings, strconv.Itoa(len(o.Warnings)))
	if len(o.Warnings) <= p.warnings {
		return
	}
	t.Errorf("%d warnings, at most %d", len(o.Warnings), p.warnings)
	for i, w := range o.Warnings {
		if i < 4 {
			t.Logf("warning at %v: %s: %.80s", w.Time.Sub(o.Started).Round(time.Millisecond), w.Message, w.Error)
		}
	}
}

func (p plan) compareRefusals(t *testing.T, row *line, o result) {
	t.Helper()
	requests, refused := 0, 0
	for _, a := range o.arrivals {
		if a.at.Sub(o.arrivals[0].at) < warmUp {
			continue
		}
		requests++
		if a.refused() {
			refused++
		}
	}
	if requests == 0 {
		return
	}
	share := float64(refused) / float64(requests)
	note(&row.refused, percent(share))
	if p.refused > 0 && share > p.refused {
		t.Errorf("%d of %d requests refused after %v: %s, at most %s", refused, requests, warmUp, percent(share), percent(p.refused))
	}
}

// compareAnswers counts the inputs that were answered more than once. All answers to an input
// but the last one must have been lost on their way.
func (p plan) compareAnswers(t *testing.T, row *line, o result) {
	t.Helper()
	repeated, unexplained, example := 0, 0, ""
	for input, visits := range o.stage.service.Answers() {
		if len(visits) == 1 {
			continue
		}
		repeated++
		for _, v := range visits[:len(visits)-1] {
			if p.lost == nil || !p.lost(o.stage, v) {
				unexplained, example = unexplained+1, input
			}
		}
	}
	note(&row.repeats, strconv.Itoa(repeated))
	if unexplained > 0 {
		t.Errorf("%d answers were asked for again, although they can have arrived, such as that to %s", unexplained, example)
	}
}

// compareRows expects one row for each record, in input order, with the right status.
func (p plan) compareRows(t *testing.T, o result) {
	t.Helper()
	inputs := p.inputs()
	if len(o.Rows) != len(inputs) {
		t.Errorf("%d rows for %d records", len(o.Rows), len(inputs))
		return
	}
	wrong := 0
	for i, row := range o.Rows {
		want := run.Row{Record: strconv.Itoa(i + 1), Input: inputs[i], Status: "ok"}
		if p.failing != nil && p.failing(inputs[i]) {
			want.Status, want.Error = "failed", row.Error
		}
		if row != want {
			if wrong++; wrong < 4 {
				t.Errorf("row %d is %+v, not %+v", i+1, row, want)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d rows are wrong", wrong, len(inputs))
	}
}

// duringCuts is for plan.lost: the answer was on its way while connections were dropped.
func duringCuts(s *stage, v clienttest.Visit) bool {
	for _, cut := range s.cuts {
		if v.Left.After(cut.from.Add(-200*time.Millisecond)) && v.Left.Before(cut.to.Add(200*time.Millisecond)) {
			return true
		}
	}
	return false
}

// lastOnConnection is for plan.lost: bulkcat, or a proxy without HTTP, ended the connection
// after this answer.
func lastOnConnection(_ *stage, v clienttest.Visit) bool { return v.Last() }

func statuses(all []arrival) map[int]int {
	counts := map[int]int{}
	for _, a := range all {
		counts[a.status]++
	}
	return counts
}

func tail(text string, n int) string { return text[max(0, len(text)-n):] }
