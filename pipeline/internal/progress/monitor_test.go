package progress

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
)

// A file that cannot be written has one warning, and the run goes on.
func TestMonitorWarnsOnceOfEachFile(t *testing.T) {
	output := filepath.Join(t.TempDir(), "out.csv")
	if err := os.MkdirAll(runfiles.StatusPath(output), 0o777); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	a, counters := account.NewAccount("dev", "http://service", account.Settings{Output: output}), new(Counters)
	progress := func(state account.State, since time.Duration) Progress {
		p := New(a, counters.Snapshot(), state, a.Started)
		p.Updated = a.Started.Add(since)
		return p
	}
	m := NewMonitor(a, counters, false, slog.New(slog.NewTextHandler(&log, nil)))
	if err := m.journal.Close(); err != nil {
		t.Fatal(err)
	}
	for second := range 3 {
		counters.Requests.Add(1)
		m.look(progress(account.Asking, time.Duration(second)*time.Minute))
		m.Attempted()
	}
	m.End(progress(account.Ended, time.Hour))
	for _, path := range []string{runfiles.StatusPath(output), runfiles.JournalPath(output)} {
		if n := strings.Count(log.String(), "file="+path); n != 1 {
			t.Errorf("%d warnings of %s:\n%s", n, path, &log)
		}
	}
}

// Attempts that end write the last line again, so that the journal never lacks more attempts than are in flight.
func TestJournalLacksNoMoreThanIsInFlight(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv.run.journal")
	j, err := runfiles.OpenJournal(path, "run")
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	if err := j.Append(account.JournalLine{Event: account.JournalStart, Run: "run"}); err != nil {
		t.Fatal(err)
	}
	recorded := func() (requests int64) {
		if err := runfiles.ReadJournal(path, nil, func(line account.JournalLine) { requests = line.Requests }); err != nil {
			t.Fatal(err)
		}
		return requests
	}
	c := new(Counters)
	m := &Monitor{counters: c, journal: j}
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for range 200 {
				c.Requests.Add(1)
				c.InFlight.Add(1)
				c.InFlight.Add(-1)
				m.Attempted()
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
		m.Attempted()
		if got := recorded(); c.Requests.Load()-got > 5 {
			t.Fatalf("the journal has %d of %d attempts", got, c.Requests.Load())
		}
		c.Requests.Add(1)
	}
}
