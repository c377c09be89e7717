package pipeline

import (
	"maps"
	"os"
	"sync"
	"time"
)

// monitor keeps the journal and the status of a run up to date. Neither is needed to go on with the run, so an
// error of the disk is a warning, once for each, and the run goes on.
type monitor struct {
	session *Session
	account *Account
	journal *journal // nil if it cannot be opened

	last    Progress // in the journal
	written time.Time
	warned  map[string]bool // by path

	done  chan struct{}
	ended sync.WaitGroup
}

const (
	monitorEvery = time.Second
	// lookEvery is how late a change of state is seen, and bounds the requests that a kill loses: at usual
	// latencies no more requests than are in flight.
	lookEvery = 100 * time.Millisecond
)

// newMonitor opens the journal for a start, whose account gets the earlier starts. It is nil for standard output.
// The methods of a nil monitor do nothing.
func newMonitor(s *Session, account *Account) *monitor {
	if s.lock == nil {
		return nil
	}
	m := &monitor{session: s, account: account, warned: make(map[string]bool), done: make(chan struct{})}
	path := JournalPath(s.options.Output.Path)
	journal, starts, err := openJournal(path, account.run())
	if err != nil {
		m.warn(path, err)
		return m
	}
	account.addStarts(starts)
	m.journal = journal
	m.record(journalLine{At: account.Started, Event: journalStart, Run: account.run(), Bulkcat: account.Bulkcat, PID: os.Getpid()}, true)
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
	due := p.State != m.last.State || now.Sub(m.written) >= monitorEvery
	if due {
		m.written = now
		m.show(p, "", now) // before the sync of the journal, which may take long
	}
	if p.State == m.last.State && p.Counts.Requests == m.last.Counts.Requests && maps.Equal(p.Counts.Attempts, m.last.Counts.Attempts) {
		return
	}
	m.record(lineOf(journalCounts, p, now), due)
	if due {
		m.last = p
	}
}

// end writes the end of the start. Err is the error of the run, its account included.
func (m *monitor) end(err error) {
	if m == nil {
		return
	}
	now := time.Now()
	p, ending := m.session.ended(err)
	m.show(p, ending, now)
	line := lineOf(journalEnd, p, now)
	line.Ending = ending
	m.record(line, true)
	if m.journal != nil {
		m.warn(m.journal.file.Name(), m.journal.close())
	}
}

func lineOf(event journalEvent, p Progress, now time.Time) journalLine {
	return journalLine{
		At: now.UTC(), Event: event, State: p.State, Since: p.Since.UTC(),
		Records: p.Counts.Settled(), Requests: p.Counts.Requests, Retries: p.Counts.Retries, Rechecks: p.Counts.Rechecks,
		Outcomes: p.Counts.Attempts,
	}
}

func (m *monitor) show(p Progress, ending Ending, now time.Time) {
	path, status := StatusPath(m.session.options.Output.Path), newStatus(m.account, p, now)
	status.Ending = ending
	m.warn(path, status.write(path))
}

// record writes a line to the journal: for good, or until the next line.
func (m *monitor) record(line journalLine, synced bool) {
	if m.journal == nil {
		return
	}
	write := m.journal.append
	if !synced {
		write = func(line journalLine) error { _, err := m.journal.write(line); return err }
	}
	m.warn(m.journal.file.Name(), write(line))
}

// warn warns of the first error of a file.
func (m *monitor) warn(path string, err error) {
	if err == nil || m.warned[path] {
		return
	}
	m.warned[path] = true
	m.session.options.Log.Warn("a file about the run cannot be written: the run goes on without it", "file", path, "error", err)
}
