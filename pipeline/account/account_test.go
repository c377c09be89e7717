package account

import (
	"testing"
	"time"
)

// The output has the rows of the last run that was complete.
func TestRecordsOfTheOutput(t *testing.T) {
	run := func(ending Ending, written int64) EarlierRun {
		return EarlierRun{Ending: ending, Counts: Snapshot{Counts: Counts[int64]{Written: written}}}
	}
	for name, tt := range map[string]struct {
		runs []EarlierRun // the last one last
		want int64
	}{
		"complete":                       {[]EarlierRun{run(Complete, 7)}, 7},
		"failed after a complete run":    {[]EarlierRun{run(Complete, 7), run(Failed, 0)}, 7},
		"stopped after a complete run":   {[]EarlierRun{run(Complete, 7), run(Ending(Interrupted), 3), run(Failed, 0)}, 7},
		"empty after a complete run":     {[]EarlierRun{run(Complete, 7), run(Complete, 0)}, 0},
		"failed after an empty run":      {[]EarlierRun{run(Complete, 7), run(Complete, 0), run(Failed, 2)}, 0},
		"stopped, and never complete":    {[]EarlierRun{run(Ending(Interrupted), 3)}, 0},
		"complete after it was stopped":  {[]EarlierRun{run(Ending(Interrupted), 3), run(Complete, 7)}, 7},
		"complete again, with more rows": {[]EarlierRun{run(Complete, 7), run(Complete, 9)}, 9},
	} {
		last := tt.runs[len(tt.runs)-1]
		a := &Account{Ending: last.Ending, Counts: last.Counts, Earlier: tt.runs[:len(tt.runs)-1]}
		if got := a.Records(); got != tt.want {
			t.Errorf("%s: got %d, want %d", name, got, tt.want)
		}
	}
}

func TestStartsOfTheAccountCountOnce(t *testing.T) {
	at := time.Now().UTC()
	a := &Account{Earlier: []EarlierRun{{Started: at.Add(time.Hour), Ending: Complete, Counts: Snapshot{Counts: Counts[int64]{Requests: 5, Written: 5}}}}}
	a.AddStarts([]EarlierRun{
		{Started: at, Ending: Killed, Counts: Snapshot{Counts: Counts[int64]{Requests: 3}}},
		{Started: at.Add(time.Hour), Ending: Complete, Counts: Snapshot{Counts: Counts[int64]{Requests: 5}}},
	})
	if len(a.Earlier) != 2 || a.Earlier[0].Ending != Killed || a.Earlier[1].Counts.Written != 5 {
		t.Errorf("got %+v", a.Earlier)
	}
}
