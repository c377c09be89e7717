package runfiles

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
)

// journalOf writes the journal of a run with two starts, of which the second was killed.
func journalOf(t *testing.T, path, run string) {
	t.Helper()
	at := time.Date(2026, 7, 31, 2, 13, 0, 0, time.UTC)
	j, err := OpenJournal(path, run)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []account.JournalLine{
		{At: at, Event: account.JournalStart, Run: run, Bulkcat: "bulkcat 1", PID: 1},
		{At: at.Add(time.Second), Event: account.JournalCounts, State: account.Asking, Requests: 10, Outcomes: account.Attempts{"answered": 9}},
		{At: at.Add(2 * time.Second), Event: account.JournalEnd, State: account.Ended, Requests: 12, Outcomes: account.Attempts{"answered": 12}, Ending: account.Ending(account.Interrupted)},
		{At: at.Add(time.Hour), Event: account.JournalStart, Run: run, Bulkcat: "bulkcat 2", PID: 2},
		{At: at.Add(time.Hour + time.Second), Event: account.JournalCounts, State: account.Asking, Requests: 5, Retries: 1, Outcomes: account.Attempts{"429": 2}},
		{At: at.Add(time.Hour + 2*time.Second), Event: account.JournalCounts, State: account.Outage, Since: at.Add(time.Hour), Requests: 7, Retries: 2, Outcomes: account.Attempts{"429": 4}},
	} {
		if err := j.Append(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func reopen(t *testing.T, path, run string) (starts []account.EarlierRun) {
	t.Helper()
	starts, err := ReadStarts(path, run)
	if err != nil {
		t.Fatal(err)
	}
	j, err := OpenJournal(path, run)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	return starts
}

func TestJournalKeepsStarts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv.run.journal")
	journalOf(t, path, "run")
	starts := reopen(t, path, "run")
	if len(starts) != 2 {
		t.Fatalf("got %+v", starts)
	}
	first, second := starts[0], starts[1]
	if first.Ending != account.Ending(account.Interrupted) || first.Counts.Requests != 12 || first.Ended.Sub(first.Started) != 2*time.Second {
		t.Errorf("the first start: %+v", first)
	}
	if second.Ending != account.Killed || second.Bulkcat != "bulkcat 2" || second.Counts.Requests != 7 || second.Counts.Retries != 2 || second.Counts.Attempts["429"] != 4 {
		t.Errorf("the killed start: %+v", second)
	}
}

// A journal that is cut anywhere has its whole lines, and is continued after the last.
func TestJournalCutAnywhere(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv.run.journal")
	journalOf(t, path, "run")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for tail, step := range map[string]int{"": 3, "\x00\x00\x00": 40, "{\"at\":\n": 40} {
		requests := int64(-1)
		for cut := len(whole) % step; cut <= len(whole); cut += step {
			if err := os.WriteFile(path, append(whole[:cut:cut], tail...), 0o666); err != nil {
				t.Fatal(err)
			}
			starts, err := ReadStarts(path, "run")
			if err != nil {
				t.Fatal(err)
			}
			j, err := OpenJournal(path, "run")
			if err != nil {
				t.Fatal(err)
			}
			before := int64(0)
			for _, s := range starts {
				before += s.Counts.Requests
			}
			if before < requests {
				t.Fatalf("cut at %d: %d requests, fewer than before", cut, before)
			}
			requests = before
			if err := errors.Join(j.Append(account.JournalLine{Event: account.JournalStart, Run: "run"}), j.Append(account.JournalLine{Event: account.JournalCounts, Requests: 3}), j.Close()); err != nil {
				t.Fatal(err)
			}
			after := int64(0)
			for _, s := range reopen(t, path, "run") {
				after += s.Counts.Requests
			}
			if after != before+3 {
				t.Fatalf("cut at %d: %d requests and 3 more are %d", cut, before, after)
			}
		}
		if requests != 19 {
			t.Errorf("the whole journal has %d requests, want 19", requests)
		}
	}
}

func TestJournalLeavesOutADamagedLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv.run.journal")
	journalOf(t, path, "run")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, b := range text { // the first line of counts
		if b == '\n' {
			text[i+1] = 'x'
			break
		}
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	if starts := reopen(t, path, "run"); len(starts) != 2 || starts[0].Counts.Requests != 12 || starts[1].Counts.Requests != 7 {
		t.Errorf("got %+v", starts)
	}
}

func TestJournalOfAnotherRunIsNotContinued(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv.run.journal")
	journalOf(t, path, "another")
	if starts := reopen(t, path, "run"); len(starts) != 0 {
		t.Errorf("got %+v", starts)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("the journal has %d bytes, %v", info.Size(), err)
	}
}

// A line that is written until the next leaves nothing behind, and counts if the process is killed.
func TestJournalWritesItsLastLineAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv.run.journal")
	journalOf(t, path, "run")
	j, err := OpenJournal(path, "run")
	if err != nil {
		t.Fatal(err)
	}
	for _, requests := range []int64{8, 1_000_000, 9} {
		if err := j.Replace(account.JournalLine{Event: account.JournalCounts, State: account.QuotaPause, Requests: requests}); err != nil {
			t.Fatal(err)
		}
	}
	if starts := reopen(t, path, "run"); len(starts) != 2 || starts[1].Counts.Requests != 9 {
		t.Errorf("got %+v", starts)
	}
	if err := errors.Join(j.Append(account.JournalLine{Event: account.JournalEnd, Requests: 10, Ending: account.Complete}), j.Sync(), j.Close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	starts := reopen(t, path, "run")
	if len(starts) != 2 || starts[1].Counts.Requests != 10 || starts[1].Ending != account.Complete {
		t.Errorf("got %+v", starts)
	}
	if after, err := os.Stat(path); err != nil || after.Size() != before.Size() || j.size != before.Size() {
		t.Errorf("%d bytes, then %d, %v", before.Size(), after.Size(), err)
	}
}

// After an error the journal has the lines before.
func TestJournalOnAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there is no full disk here:", err)
	}
	j := &Journal{file: full}
	if err := j.Append(account.JournalLine{Event: account.JournalCounts}); !errors.Is(err, syscall.ENOSPC) || j.size != 0 {
		t.Errorf("got %v, and %d bytes", err, j.size)
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}

func TestReadJournal(t *testing.T) {
	a := &account.Account{Service: "https://api.example.com", Settings: account.Settings{Kind: "website"}}
	start := `{"at":"2026-03-02T06:00:00Z","event":"start","run":"` + a.RunID() + `","bulkcat":"v1"}` + "\n"
	const (
		counts  = `{"at":"2026-03-02T06:00:01Z","event":"counts","state":"asking","records":5,"requests":4,"outcomes":{"answered":4}}` + "\n"
		end     = `{"at":"2026-03-02T06:00:02Z","event":"end","state":"ended","records":9,"ending":"complete"}` + "\n"
		damaged = "{\x00\n"
	)
	for _, tt := range []struct {
		name, text string
		account    *account.Account
		want       int
	}{
		{"whole", start + counts + end, a, 3},
		{"without an account", start + counts + end, nil, 3},
		{"damaged in the middle", start + damaged + end, a, 2},
		{"cut", start + counts + end[:20], a, 2},
		{"of another run", start + counts, &account.Account{Service: "embedded"}, 0},
		{"empty", "", a, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal")
			if err := os.WriteFile(path, []byte(tt.text), 0o666); err != nil {
				t.Fatal(err)
			}
			var got []account.JournalLine
			if err := ReadJournal(path, tt.account, func(m account.JournalLine) { got = append(got, m) }); err != nil {
				t.Fatal(err)
			}
			if len(got) != tt.want {
				t.Fatalf("%d moments, want %d", len(got), tt.want)
			}
			if tt.want == 3 && (got[0].Event != account.JournalStart || got[1].State != account.Asking || got[1].Outcomes["answered"] != 4 || got[2].Ending != account.Complete) {
				t.Errorf("got %+v", got)
			}
		})
	}
	if err := ReadJournal(filepath.Join(t.TempDir(), "none"), a, func(account.JournalLine) { t.Error("a moment") }); err != nil {
		t.Error(err)
	}
}
