package progress

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/repeat"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// Monitor updates the journal and the status file of a run. The run needs neither, so an error of a file does not end the run:
// the first error of each file is logged as a warning.
type Monitor struct {
	account  *account.Account
	counters *Counters
	bounded  bool // the requests of the run have a bound
	log      *slog.Logger
	shown    time.Time // when the status was last written

	noStatus bool // another file is at the path of the status

	mu       sync.Mutex        // not held while the disk syncs
	journal  *runfiles.Journal // nil if it cannot be opened
	last     Progress          // in the last line that was appended
	recorded atomic.Int64      // requests in the journal

	warned sync.Map // by path: true
}

const (
	monitorEvery = time.Second
	lookEvery    = 100 * time.Millisecond // the longest delay of a change of state in the status
)

// NewMonitor opens the journal for a start. bounded says that the requests of the run have a bound. The methods of a nil Monitor
// do nothing. A run that writes to standard output has no Monitor.
func NewMonitor(a *account.Account, counters *Counters, bounded bool, log *slog.Logger) *Monitor {
	m := &Monitor{account: a, counters: counters, bounded: bounded, log: log}
	status := runfiles.StatusPath(a.Settings.Output)
	err := runfiles.CheckStatus(status)
	m.warn(status, err)
	m.noStatus = err != nil
	disk.RemoveDrafts(context.Background(), disk.Local{}, status)
	path := runfiles.JournalPath(a.Settings.Output)
	journal, err := runfiles.OpenJournal(path, a.RunID())
	if err != nil {
		m.warn(path, err)
		return m
	}
	m.journal = journal
	m.append(account.JournalLine{At: a.Started, Event: account.JournalStart, Run: a.RunID(), Bulkcat: a.Bulkcat, PID: os.Getpid(), FinishBy: a.FinishBy})
	m.sync()
	return m
}

// Start watches the progress of the run in a goroutine, until stop is called.
func (m *Monitor) Start(progress func() Progress) (stop func()) {
	if m == nil {
		return func() {}
	}
	look := func() { m.look(progress()) }
	look()
	return repeat.Every(lookEvery, look)
}

// look writes the status and the journal if they are due.
func (m *Monitor) look(p Progress) {
	if p.State == m.last.State && p.Updated.Sub(m.shown) < monitorEvery {
		return
	}
	m.shown = p.Updated
	m.show(p.Status) // before the journal is synced, which may take long
	if p.State == m.last.State && p.Counts.Requests == m.last.Counts.Requests && maps.Equal(p.Counts.Attempts, m.last.Counts.Attempts) {
		return
	}
	m.mu.Lock()
	p.Counts = m.counters.Snapshot() // a worker may have recorded more in the meantime
	m.last = p
	m.append(lineOf(account.JournalCounts, p))
	m.mu.Unlock()
	m.sync()
}

// Attempted writes the counts after an attempt, if the journal lacks more attempts than are in flight. It reads the number in
// flight first: an attempt that begins in between causes at most one more write.
func (m *Monitor) Attempted() {
	if m == nil {
		return
	}
	c := m.counters
	m.record(func() bool { inFlight := c.InFlight.Load(); return c.Requests.Load()-m.recorded.Load() > inFlight })
}

// Begins writes the counts before an attempt, so that the journal lacks no attempt, if the requests of the run have a bound: after
// a kill, the bound still counts every attempt.
func (m *Monitor) Begins() {
	if m != nil && m.bounded {
		m.record(func() bool { return m.counters.Requests.Load() > m.recorded.Load() })
	}
}

// record writes the counts if lacks reports that the journal lacks attempts.
func (m *Monitor) record(lacks func() bool) {
	if !lacks() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.journal == nil || !lacks() {
		return
	}
	p := m.last
	p.Updated, p.Counts = time.Now(), m.counters.Snapshot()
	err := m.journal.Replace(lineOf(account.JournalCounts, p))
	m.warn(m.journal.Name(), err)
	m.recorded.Store(p.Counts.Requests)
}

// End writes the end of the start to the status and the journal, and syncs the journal. A second End supersedes the first.
func (m *Monitor) End(p Progress) {
	if m == nil {
		return
	}
	m.show(p.Status)
	m.append(lineOf(account.JournalEnd, p))
	m.sync()
}

// Close closes the journal. If the run has written its account, Close removes the journal and the status.
func (m *Monitor) Close(accounted bool) {
	if m.journal != nil {
		m.warn(m.journal.Name(), m.journal.Close())
		m.removeIf(accounted, m.journal.Name())
	}
	m.removeIf(accounted && !m.noStatus, runfiles.StatusPath(m.account.Settings.Output))
}

func (m *Monitor) removeIf(remove bool, path string) {
	if !remove {
		return
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		m.warn(path, err)
	}
}

func lineOf(event account.JournalEvent, p Progress) account.JournalLine {
	return account.JournalLine{
		At: p.Updated.UTC(), Event: event, State: p.State, Since: p.Since.UTC(), Ending: p.Ending,
		Records: p.Counts.Settled(), Requests: p.Counts.Requests, Retries: p.Counts.Retries, Shared: p.Counts.Shared, Rechecks: p.Counts.Rechecks, WithOutcome: p.Counts.WithOutcome,
		Outcomes: p.Counts.Attempts,
	}
}

func (m *Monitor) show(status account.Status) {
	if path := runfiles.StatusPath(m.account.Settings.Output); !m.noStatus {
		m.warn(path, runfiles.WriteStatus(path, status))
	}
}

// append appends a line to the journal. The caller holds mu, except before the workers start and after they end.
func (m *Monitor) append(line account.JournalLine) {
	if m.journal == nil {
		return
	}
	m.warn(m.journal.Name(), m.journal.Append(line))
	m.recorded.Store(line.Requests)
}

func (m *Monitor) sync() {
	if m.journal != nil {
		m.warn(m.journal.Name(), m.journal.Sync())
	}
}

// warn logs the first error of a file.
func (m *Monitor) warn(path string, err error) {
	if err == nil {
		return
	}
	if _, warned := m.warned.LoadOrStore(path, true); !warned {
		m.log.Warn("a file about the run cannot be written: the run goes on without it", "file", path, "error", err)
	}
}
