package pipeline

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/reader"
)

// journalOf writes the journal of a run with two starts, of which the second was killed.
func journalOf(t *testing.T, path, run string) {
	t.Helper()
	at := time.Date(2026, 7, 31, 2, 13, 0, 0, time.UTC)
	j, _, err := openJournal(path, run)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []journalLine{
		{At: at, Event: journalStart, Run: run, Bulkcat: "bulkcat 1", PID: 1},
		{At: at.Add(time.Second), Event: journalCounts, State: Asking, Requests: 10, Outcomes: Attempts{"answered": 9}},
		{At: at.Add(2 * time.Second), Event: journalEnd, State: Ended, Requests: 12, Outcomes: Attempts{"answered": 12}, Ending: Ending(Interrupted)},
		{At: at.Add(time.Hour), Event: journalStart, Run: run, Bulkcat: "bulkcat 2", PID: 2},
		{At: at.Add(time.Hour + time.Second), Event: journalCounts, State: Asking, Requests: 5, Retries: 1, Outcomes: Attempts{"429": 2}},
		{At: at.Add(time.Hour + 2*time.Second), Event: journalCounts, State: Outage, Since: at.Add(time.Hour), Requests: 7, Retries: 2, Outcomes: Attempts{"429": 4}},
	} {
		if err := j.append(line); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
}

func reopen(t *testing.T, path, run string) (starts []EarlierRun) {
	t.Helper()
	j, starts, err := openJournal(path, run)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.close(); err != nil {
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
	if first.Ending != Ending(Interrupted) || first.Counts.Requests != 12 || first.Ended.Sub(first.Started) != 2*time.Second {
		t.Errorf("the first start: %+v", first)
	}
	if second.Ending != Killed || second.Bulkcat != "bulkcat 2" || second.Counts.Requests != 7 || second.Counts.Retries != 2 || second.Counts.Attempts["429"] != 4 {
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
			j, starts, err := openJournal(path, "run")
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
			if err := errors.Join(j.append(journalLine{Event: journalStart, Run: "run"}), j.append(journalLine{Event: journalCounts, Requests: 3}), j.close()); err != nil {
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

func TestStartsOfTheAccountCountOnce(t *testing.T) {
	at := time.Now().UTC()
	a := &Account{Earlier: []EarlierRun{{Started: at.Add(time.Hour), Ending: Complete, Counts: Snapshot{Requests: 5, Written: 5}}}}
	a.addStarts([]EarlierRun{
		{Started: at, Ending: Killed, Counts: Snapshot{Requests: 3}},
		{Started: at.Add(time.Hour), Ending: Complete, Counts: Snapshot{Requests: 5}},
	})
	if len(a.Earlier) != 2 || a.Earlier[0].Ending != Killed || a.Earlier[1].Counts.Written != 5 {
		t.Errorf("got %+v", a.Earlier)
	}
}

func TestStatusIsReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv.status.json")
	for _, pid := range []int{1, 2} {
		if err := (Status{PID: pid}).write(path); err != nil {
			t.Fatal(err)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("the folder has %v, %v", entries, err)
	}
	if err := (Status{}).write(filepath.Join(dir, "none", "status.json")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}

// A line that is written until the next leaves nothing behind, and counts if the process is killed.
func TestJournalWritesItsLastLineAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv.run.journal")
	journalOf(t, path, "run")
	j, _, err := openJournal(path, "run")
	if err != nil {
		t.Fatal(err)
	}
	for _, requests := range []int64{8, 1_000_000, 9} {
		if _, err := j.write(journalLine{Event: journalCounts, State: QuotaPause, Requests: requests}); err != nil {
			t.Fatal(err)
		}
	}
	if starts := reopen(t, path, "run"); len(starts) != 2 || starts[1].Counts.Requests != 9 {
		t.Errorf("got %+v", starts)
	}
	if err := errors.Join(j.append(journalLine{Event: journalEnd, Requests: 10, Ending: Complete}), j.sync(), j.close()); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	starts := reopen(t, path, "run")
	if len(starts) != 2 || starts[1].Counts.Requests != 10 || starts[1].Ending != Complete {
		t.Errorf("got %+v", starts)
	}
	if after, err := os.Stat(path); err != nil || after.Size() != before.Size() || j.size != before.Size() {
		t.Errorf("%d bytes, then %d, %v", before.Size(), after.Size(), err)
	}
}

// A full disk and a place that cannot be written do not end a run: each file has one warning.
func TestRunGoesOnWithoutJournalAndStatus(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there is no full disk here:", err)
	}
	dir := t.TempDir()
	input, output := filepath.Join(dir, "in.txt"), filepath.Join(dir, "out.csv")
	if err := os.WriteFile(input, []byte("garden hose\nwatering can\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"journal", "full journal"} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			o := SessionOptions{
				Kind:    client.Product,
				Service: Service{Categorizer: new(limited), Name: "https://api.example.com", Hosted: true},
				Input:   reader.Options{Paths: []string{input}},
				Output:  OutputOptions{Path: output, Overwrite: true},
				Log:     slog.New(slog.NewTextHandler(&log, nil)),
			}
			blocked := []string{StatusPath(output)}
			if name == "journal" {
				blocked = append(blocked, JournalPath(output))
			} else {
				o.Watch = func(s *Session) func() {
					if err := s.monitor.journal.close(); err != nil {
						t.Error(err)
					}
					s.monitor.journal.file = full
					return func() {}
				}
			}
			for _, path := range blocked {
				if err := os.MkdirAll(path, 0o777); err != nil {
					t.Fatal(err)
				}
				defer os.Remove(path)
			}
			session, err := Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			account, err := session.Run(t.Context())
			if err := errors.Join(err, session.Close()); err != nil || account.Ending != Complete || account.Counts.OK != 2 {
				t.Fatalf("got %+v, %v", account, err)
			}
			if n := strings.Count(log.String(), "the run goes on without it"); n != 2 {
				t.Errorf("%d warnings, want one for each file:\n%s", n, &log)
			}
			if entries, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(entries) > 0 {
				t.Errorf("left behind: %v, %v", entries, err)
			}
		})
	}
}

// Attempts that end write the last line again, so that the journal never lacks more attempts than are in flight.
func TestJournalLacksNoMoreThanIsInFlight(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv.run.journal")
	journalOf(t, path, "run")
	j, _, err := openJournal(path, "run")
	if err != nil {
		t.Fatal(err)
	}
	defer j.close()
	session := &Session{counters: new(Counters)}
	m, c := &monitor{session: session, journal: j}, session.counters
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for range 200 {
				c.Requests.Add(1)
				c.InFlight.Add(1)
				c.InFlight.Add(-1)
				m.attempted()
			}
		})
	}
	workers.Wait()
	if got := reopen(t, path, "run")[1].Counts.Requests; got != 1600 {
		t.Errorf("the journal has %d of 1600 attempts, and none is in flight", got)
	}
	c.InFlight.Add(5) // long ones
	c.Requests.Add(10)
	for range 50 {
		m.attempted()
		if got := reopen(t, path, "run")[1].Counts.Requests; c.Requests.Load()-got > 5 {
			t.Fatalf("the journal has %d of %d attempts", got, c.Requests.Load())
		}
		c.Requests.Add(1)
	}
}
