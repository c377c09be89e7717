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
	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

// Progress is the progress of a run.
type Progress struct {
	State account.State
	Since time.Time // when State began; for an outage, when the service last answered

	Counts   account.Snapshot
	Total    int64         // records of the input; 0 if unknown
	About    bool          // Total is estimated from the bytes read
	Rate     float64       // settled records per second, over the last minutes; 0 while the run waits
	Requests float64       // requests per second that got an outcome, over the last minutes; 0 while the run waits
	Allowed  float64       // requests per second that the learned limit allows now; +Inf without a limit
	Left     time.Duration // until the last request has an outcome, or until Stop; 0 if unknown
	Stop     account.Cause // what will stop the run early: QuotaExhausted, Budget or Deadline; "" for nothing
	Quota    int64         // requests left for the API key
	Metered  bool          // Quota is known
	Cost     *money.Cost   // nil without a price
	AtEnd    money.Amount  // estimated cost of the whole run; 0 if unknown

	Cause  string    // the last error, while the run waits for the service
	Next   time.Time // when the run asks the service next; zero if unknown
	GiveUp time.Time // when the outage will end the run; zero for never
}

// Waits sets Cause, Next and GiveUp if the run waits for the service. most is the longest outage that the run tolerates; 0 for
// no bound.
func (p *Progress) Waits(s limits.Status, cause *client.Error, most time.Duration) {
	if !slices.Contains(account.Waits, p.State) {
		return
	}
	p.Next = s.Next
	if cause != nil {
		p.Cause = cause.Error()
	}
	if p.State == account.Outage && most > 0 {
		p.GiveUp = s.Since.Add(most)
	}
}

// Foresee estimates the cost of the whole run, and sets AtEnd.
func (p *Progress) Foresee() {
	if p.Cost == nil || p.Total == 0 || p.Stop != "" || p.Counts.Ended == 0 {
		return
	}
	attempts := float64(p.Counts.Requests) / float64(p.Counts.Ended)
	p.AtEnd = p.Cost.Total.Plus(p.Cost.Price.Of(int64(max(0, attempts*requestsToCome(&p.Counts, p.Total)))))
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

// Status returns the contents of the status file.
func (p Progress) Status(a *account.Account, now time.Time) account.Status {
	s := account.Status{
		Format: account.StatusFormat, Output: a.Settings.Output, PID: os.Getpid(), Started: a.Started, Updated: now.UTC(),
		State: p.State, Since: p.Since.UTC(),
		Records: p.Counts.Settled(), Total: p.Total, Blank: p.Counts.Blank, Unanswered: p.Counts.Unanswered(), Free: p.Counts.Free,
		Requests: p.Counts.Requests, Retries: p.Counts.Retries, InFlight: p.Counts.InFlight, ToRetry: p.Counts.Parked,
		Outcomes: p.Counts.Attempts, Cost: p.Cost,
		RecordsPerSecond: tenths(p.Rate), RequestsPerSecond: tenths(p.Requests), Stop: p.Stop, Cause: p.Cause,
	}
	if p.AtEnd > 0 {
		s.CostAtEnd = &p.AtEnd
	}
	for at, to := range map[*time.Time]**time.Time{&p.Next: &s.Next, &p.GiveUp: &s.GiveUp} {
		if !at.IsZero() {
			utc := at.UTC()
			*to = &utc
		}
	}
	if !math.IsInf(p.Allowed, 1) {
		s.Allowed = tenths(p.Allowed)
	}
	if p.Metered {
		s.Quota = &p.Quota
	}
	if p.Left > 0 {
		ends := s.Updated.Add(p.Left)
		s.SecondsLeft, s.Ends = tenths(p.Left.Seconds()), &ends
	}
	return s
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
