package progress

import (
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

// Progress is the progress of a run: its status, and all its counts.
type Progress struct {
	account.Status
	Counts account.Snapshot
}

// New returns the progress of a run with these counts, without its cost and without what is estimated.
func New(a *account.Account, counts account.Snapshot, state account.State, since time.Time) Progress {
	return Progress{Counts: counts, Status: account.Status{
		Format: account.StatusFormat, Output: a.Settings.Output, PID: os.Getpid(), Started: a.Started, Updated: time.Now().UTC(),
		State: state, Since: since.UTC(),
		Records: counts.Settled(), Blank: counts.Blank, Unanswered: counts.Unanswered(), Free: counts.Free,
		Requests: counts.Requests, Retries: counts.Retries, InFlight: counts.InFlight, ToRetry: counts.Parked, Outcomes: counts.Attempts,
	}}
}

// Follow sets State and Allowed from the limits of the run and, if the run waits for the service, Cause, Next and GiveUp. most is
// the longest outage that the run tolerates; 0 for no bound.
func (p *Progress) Follow(s limits.Status, cause *client.Error, most time.Duration) {
	p.State = StateOf(s, p.Counts.Finishing)
	if !math.IsInf(s.Rate, 1) {
		p.Allowed = tenths(s.Rate)
	}
	if !slices.Contains(account.Waits, p.State) {
		return
	}
	p.Next = inUTC(s.Next)
	if cause != nil {
		p.Cause = cause.Error()
	}
	if p.State == account.Outage && most > 0 {
		p.GiveUp = inUTC(s.Since.Add(most))
	}
}

// inUTC returns a time in UTC; nil for none.
func inUTC(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// Foresee estimates the cost of the whole run, and sets CostAtEnd.
func (p *Progress) Foresee() {
	if p.Cost == nil || p.Total == 0 || p.Stop != "" || p.Counts.Ended == 0 {
		return
	}
	attempts := float64(p.Counts.Requests) / float64(p.Counts.Ended)
	atEnd := p.Cost.Total.Plus(p.Cost.Price.Of(int64(max(0, attempts*requestsToCome(&p.Counts, p.Total)))))
	p.CostAtEnd = &atEnd
}

// waits reports whether a run in this state sends only probes: requests that find out whether the run can continue.
func waits(s account.State) bool { return s == account.Outage || s == account.QuotaPause }

// StateOf returns the state of a run from the status of its limits. finishing reports that the run sends no more requests.
func StateOf(s limits.Status, finishing bool) account.State {
	switch {
	case finishing:
		return account.Finishing
	case s.Empty:
		return account.QuotaPause
	case s.State == limits.Out:
		return account.Outage
	case s.State == limits.Limited:
		return account.Limited
	case s.State == limits.Doubt:
		return account.Congested
	}
	return account.Asking
}

func tenths(n float64) float64 { return math.Round(n*10) / 10 }

// Total is the number of records of an input. It is estimated from the bytes read until a second reader has counted the
// records.
type Total struct {
	counted atomic.Int64 // records of the input plus 1; 0 before they are counted
	mu      sync.Mutex
	shown   int64 // the last estimate
	last    atomic.Int64
}

// steady is the relative difference from which on a new estimate replaces the shown estimate. Lines of different lengths make
// estimates fluctuate.
const steady = 0.1

// Set sets the counted number of records.
func (t *Total) Set(records int64) { t.counted.Store(records + 1) }

// Counted returns the counted number of records; 0 before Set.
func (t *Total) Counted() int64 { return max(0, t.counted.Load()-1) }

// Of returns the number of records of the run, 0 if unknown, and whether it is an estimate. s has the counts of the run, read
// the bytes read, bytes the size of the input. limit is the largest number of records; 0 for no limit. A new estimate replaces
// the shown estimate only if it differs enough.
func (t *Total) Of(s *account.Snapshot, read, bytes, limit int64) (records int64, estimated bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all, isCounted := s.Read+s.Others, t.counted.Load() > 0
	estimate := int64(0)
	switch {
	case isCounted:
		estimate = t.Counted()
	case bytes > 0 && read > 0:
		estimate = max(all, int64(float64(all)*float64(bytes)/float64(read)))
	}
	if limit > 0 {
		estimate = min(estimate, limit)
	}
	if isCounted || math.Abs(float64(estimate-t.shown)) > steady*float64(t.shown) {
		t.shown = estimate
	}
	records, estimated = t.shown, !isCounted && t.shown > 0
	if s.Others > 0 { // as many of the records belong to the shard as of those read so far
		records, estimated = int64(float64(records)*float64(s.Read)/float64(all)), true
	}
	t.last.Store(records)
	return records, estimated
}

// Last returns the last result of Of.
func (t *Total) Last() int64 { return t.last.Load() }
