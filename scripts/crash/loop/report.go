package loop

import (
	"fmt"
	"strings"
	"time"
)

// Report has the counts and failures of a loop.
type Report struct {
	Format   Format
	Seed     uint64
	Kills    map[Phase]int
	Starts   int // of bulkcat, without undisturbed runs
	Resumes  int // starts after a kill
	Cycles   int // without a failure
	Inputs   int // distinct inputs with an answer, over all cycles
	Answers  int // sound answers of the service
	Twice    int // answers to inputs that were answered before in the same cycle
	Bound    int // of Twice, by the kills
	Duration time.Duration
	Failures []error // of cycles

	TwiceAKill int // Twice per kill, in the worst cycle
}

func (r *Report) killed() int {
	n := 0
	for _, kills := range r.Kills {
		n += kills
	}
	return n
}

// String is the report as a line of text, and a line for each failure.
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
		r.Resumes, r.Cycles, len(r.Failures), r.Inputs, r.Answers, r.Twice, r.Bound, r.TwiceAKill, r.Seed, r.Duration.Round(100*time.Millisecond))
	for _, err := range r.Failures {
		fmt.Fprintf(&b, "\n  %v", err)
	}
	return b.String()
}
