package pipeline

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/progress"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/reader"
)

// A place that cannot be written does not end a run: each file has one warning.
func TestRunGoesOnWithoutJournalAndStatus(t *testing.T) {
	dir := t.TempDir()
	input, output := filepath.Join(dir, "in.txt"), filepath.Join(dir, "out.csv")
	if err := os.WriteFile(input, []byte("garden hose\nwatering can\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"journal", "closed journal"} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			o := SessionOptions{
				Kind:    client.Product,
				Service: Service{Categorizer: new(limited), Name: "https://api.example.com", Hosted: true},
				Input:   reader.Options{Paths: []string{input}},
				Output:  OutputOptions{Path: output, Overwrite: true},
				Log:     slog.New(slog.NewTextHandler(&log, nil)),
			}
			blocked := []string{record.StatusPath(output)}
			if name == "journal" {
				blocked = append(blocked, record.JournalPath(output))
			} else {
				o.Watch = func(s *Session) func() {
					if err := s.monitor.journal.Close(); err != nil {
						t.Error(err)
					}
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
			if err := errors.Join(err, session.Close()); err != nil || account.Ending != record.Complete || account.Counts.OK != 2 {
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
	j, _, err := record.OpenJournal(path, "run")
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Append(record.JournalLine{Event: record.JournalStart, Run: "run"}); err != nil {
		t.Fatal(err)
	}
	recorded := func() (requests int64) {
		if err := record.ReadJournal(path, nil, func(line record.JournalLine) { requests = line.Requests }); err != nil {
			t.Fatal(err)
		}
		return requests
	}
	session := &Session{counters: new(progress.Counters)}
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
	if got := recorded(); got != 1600 {
		t.Errorf("the journal has %d of 1600 attempts, and none is in flight", got)
	}
	c.InFlight.Add(5) // long ones
	c.Requests.Add(10)
	for range 50 {
		m.attempted()
		if got := recorded(); c.Requests.Load()-got > 5 {
			t.Fatalf("the journal has %d of %d attempts", got, c.Requests.Load())
		}
		c.Requests.Add(1)
	}
}
