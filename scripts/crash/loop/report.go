package loop

import (
	"fmt"
	"strings"
	"time"
)

// Report is what a loop has done and found.
type Report struct {
	Format   Format
	Seed     uint64
	Kills    map[Phase]int
	Starts   int // of bulkcat, undisturbed runs aside
	Resumes  int // of them, those after a kill
	Cycles   int // that ended as they should
	Inputs   int // distinct ones asked, over all cycles
	Answers  int // sound ones that the service sent
	Twice    int // of them, those to inputs it had answered in the same cycle before
	Duration time.Duration
	Failures []error // cycles that did not end as they should

	TwiceAKill int // in the cycle where it was most
}

func (r *Report) killed() int {
	n := 0
	for _, kills := range r.Kills {
		n += kills
	}
	return n
}

// String is the report in words, one line and a line a failure.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d kills (", r.Format, r.killed())
	for i, phase := range Phases {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d %s", r.Kills[phase], phase)
	}
	fmt.Fprintf(&b, "), %d resumes, %d cycles as undisturbed, %d not; %d distinct inputs, %d answers, %d of them asked twice (%d are the bound; %d a kill in the worst cycle); seed %d, %v",
		r.Resumes, r.Cycles, len(r.Failures), r.Inputs, r.Answers, r.Twice, r.killed()*(Workers+waiting), r.TwiceAKill, r.Seed, r.Duration.Round(100*time.Millisecond))
	for _, err := range r.Failures {
		fmt.Fprintf(&b, "\n  %v", err)
	}
	return b.String()
}
