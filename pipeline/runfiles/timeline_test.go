package runfiles

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
)

// TestLongTimeline shortens the journal of a long run, and keeps its counts.
func TestLongTimeline(t *testing.T) {
	at := time.Date(2026, 3, 2, 6, 0, 0, 0, time.UTC)
	for name, states := range map[string][]account.State{"one state": {account.Asking}, "two in turn": {account.Asking, account.Outage}} {
		s := spans{}
		s.add(account.JournalLine{At: at, Event: account.JournalStart})
		const seconds = 36_000
		for n := 1; n <= seconds; n++ {
			s.add(account.JournalLine{At: at.Add(time.Duration(n) * time.Second), State: states[n%len(states)], Requests: int64(n) * 3, Outcomes: account.Attempts{"answered": int64(n)}})
		}
		requests, answered := int64(0), int64(0)
		for i, span := range s.list {
			requests, answered = requests+span.Requests, answered+span.Outcomes["answered"]
			if i > 0 && !span.From.Equal(s.list[i-1].To) {
				t.Fatalf("%s: span %d begins at %s, after %s", name, i, span.From, s.list[i-1].To)
			}
		}
		if len(s.list) >= 2*mostSpans || len(s.list) < mostSpans/2 || requests != 3*seconds || answered != seconds {
			t.Errorf("%s: %d spans, %d requests, %d answered", name, len(s.list), requests, answered)
		}
	}
	s := spans{}
	for n := range 10_000 { // a scheduler that starts a run that fails at once
		s.add(account.JournalLine{At: at.Add(time.Duration(n) * time.Minute), Event: account.JournalStart})
		s.add(account.JournalLine{At: at.Add(time.Duration(n)*time.Minute + time.Second), State: account.Ended, Ending: account.Failed})
	}
	if len(s.list) >= 2*mostSpans {
		t.Errorf("%d spans", len(s.list))
	}
}

// TestTimeline counts starts that were killed after the last account, and no start twice.
func TestTimeline(t *testing.T) {
	at := func(minutes int) time.Time { return time.Date(2026, 3, 2, 6, minutes, 0, 0, time.UTC) }
	a := account.NewAccount("dev", "http://service", account.Settings{})
	a.Started, a.Earlier = at(10), []account.EarlierRun{{Started: at(0)}}
	a.Timeline = []account.Span{{Start: 1, From: at(0), To: at(1)}, {Start: 2, From: at(10), To: at(11)}}
	path := filepath.Join(t.TempDir(), "journal")
	j, err := OpenJournal(path, a.RunID())
	if err != nil {
		t.Fatal(err)
	}
	for _, minutes := range []int{10, 20, 30} { // a kill kept the journal of the start that the account has
		for _, line := range []account.JournalLine{
			{At: at(minutes), Event: account.JournalStart, Run: a.RunID()},
			{At: at(minutes + 1), Event: account.JournalCounts, State: account.Asking, Requests: 7, Outcomes: account.Attempts{"answered": 7}},
		} {
			if err := j.Append(line); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		account *account.Account
		want    []int
	}{"without an account": {nil, []int{1, 2, 3}}, "with an account": {a, []int{1, 2, 3, 4}}} {
		spans, err := Timeline(path, tt.account)
		var starts []int
		for _, s := range spans {
			starts = append(starts, s.Start)
		}
		if err != nil || !slices.Equal(starts, tt.want) {
			t.Errorf("%s: starts %v, want %v; %v", name, starts, tt.want, err)
		}
	}
}
