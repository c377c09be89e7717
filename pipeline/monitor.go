package pipeline

import (
	"maps"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/writer"
)

// monitor keeps the journal and the status of a run up to date. Neither is needed to go on with the run, so an
// error of the disk is a warning, once for each, and the run goes on.
type monitor struct {
	session *Session
	account *record.Account
	shown   time.Time // when the status was written

	statusless bool // the place of the status has another file

	mu       sync.Mutex      // not held while the disk syncs
	journal  *record.Journal // nil if it cannot be opened
	last     Progress        // in a line that stays
	warned   map[string]bool // by path
	recorded atomic.Int64    // requests in the journal

	done  chan struct{}
	ended sync.WaitGroup
}

const (
	monitorEvery = time.Second
	lookEvery    = 100 * time.Millisecond // how late a change of state is seen
)

// newMonitor opens the journal for a start, whose account gets the earlier starts. It is nil for standard output.
// The methods of a nil monitor do nothing.
func newMonitor(s *Session, account *record.Account) *monitor {
	if s.lock == nil {
		return nil
	}
	m := &monitor{session: s, account: account, warned: make(map[string]bool), done: make(chan struct{})}
	status := record.StatusPath(s.options.Output.Path)
	m.warn(status, record.CheckStatus(status))
	writer.RemoveDrafts(status)
	m.statusless = len(m.warned) > 0
	path := record.JournalPath(s.options.Output.Path)
	journal, starts, err := record.OpenJournal(path, account.RunID())
	if err != nil {
		m.warn(path, err)
		return m
	}
	account.AddStarts(starts)
	m.journal = journal
	m.append(record.JournalLine{At: account.Started, Event: record.JournalStart, Run: account.RunID(), Bulkcat: account.Bulkcat, PID: os.Getpid()})
	m.sync()
	return m
}

// start watches the run until stop.
func (m *monitor) start() {
	if m == nil {
		return
	}
	m.ended.Go(func() {
		ticker := time.NewTicker(lookEvery)
		defer ticker.Stop()
		for {
			m.look(time.Now())
			select {
			case <-ticker.C:
			case <-m.done:
				return
			}
		}
	})
}

func (m *monitor) stop() {
	if m == nil {
		return
	}
	close(m.done)
	m.ended.Wait()
}

// look writes the status and the journal if they are due.
func (m *monitor) look(now time.Time) {
	p := m.session.Progress()
	if p.State == m.last.State && now.Sub(m.shown) < monitorEvery {
		return
	}
	m.shown = now
	m.show(p, "", now) // before the sync of the journal, which may take long
	if p.State == m.last.State && p.Counts.Requests == m.last.Counts.Requests && maps.Equal(p.Counts.Attempts, m.last.Counts.Attempts) {
		return
	}
	m.mu.Lock()
	p.Counts = m.session.counters.Snapshot() // not fewer than a worker has recorded
	m.last = p
	m.append(lineOf(record.JournalCounts, p, now))
	m.mu.Unlock()
	m.sync()
}

// attempted records the counts after an attempt, if the journal lacks more attempts than are in flight. The attempts
// that are in flight are read first: an attempt that begins meanwhile does no harm.
func (m *monitor) attempted() {
	if m == nil {
		return
	}
	c := m.session.counters
	lacks := func() bool { inFlight := c.InFlight.Load(); return c.Requests.Load()-m.recorded.Load() > inFlight }
	if !lacks() {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.journal == nil || !lacks() {
		return
	}
	p := Progress{State: m.last.State, Since: m.last.Since, Counts: c.Snapshot()}
	err := m.journal.Replace(lineOf(record.JournalCounts, p, time.Now()))
	m.warnLocked(m.journal.Name(), err)
	m.recorded.Store(p.Counts.Requests)
}

// end writes the end of the start. Err is the error of the run, its account included.
func (m *monitor) end(err error) {
	if m == nil {
		return
	}
	now := time.Now()
	p, ending := m.session.ended(err)
	m.show(p, ending, now)
	line := lineOf(record.JournalEnd, p, now)
	line.Ending = ending
	m.append(line)
	m.sync()
	if m.journal != nil {
		m.warn(m.journal.Name(), m.journal.Close())
	}
}

func lineOf(event record.JournalEvent, p Progress, now time.Time) record.JournalLine {
	return record.JournalLine{
		At: now.UTC(), Event: event, State: p.State, Since: p.Since.UTC(),
		Records: p.Counts.Settled(), Requests: p.Counts.Requests, Retries: p.Counts.Retries, Rechecks: p.Counts.Rechecks,
		Outcomes: p.Counts.Attempts,
	}
}

func (m *monitor) show(p Progress, ending record.Ending, now time.Time) {
	path, status := record.StatusPath(m.session.options.Output.Path), newStatus(m.account, p, now)
	status.Ending = ending
	if !m.statusless {
		m.warn(path, status.Write(path))
	}
}

// append appends a line to the journal. The caller holds the mutex once the run has workers.
func (m *monitor) append(line record.JournalLine) {
	if m.journal == nil {
		return
	}
	m.warnLocked(m.journal.Name(), m.journal.Append(line))
	m.recorded.Store(line.Requests)
}

func (m *monitor) sync() {
	if m.journal != nil {
		m.warn(m.journal.Name(), m.journal.Sync())
	}
}

// warn warns of the first error of a file.
func (m *monitor) warn(path string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.warnLocked(path, err)
}

func (m *monitor) warnLocked(path string, err error) {
	if err == nil || m.warned[path] {
		return
	}
	m.warned[path] = true
	m.session.options.Log.Warn("a file about the run cannot be written: the run goes on without it", "file", path, "error", err)
}
