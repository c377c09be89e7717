package pipeline

import (
	"sync/atomic"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/writer"
)

// Counters are a run's numbers. Progress, summary and account all read these.
type Counters struct {
	Read    atomic.Int64 // records read
	Written atomic.Int64 // records whose rows are in the sink
	Rows    atomic.Int64

	// Records by status, from the moment that it is known; each as often as there are classifications.
	OK, Empty, Rejected, Failed, Invalid, Pending atomic.Int64
	Recalled                                      atomic.Int64 // of them, those whose outcome an earlier run has stored
	Classifications                               atomic.Int64 // that each record is asked for

	Requests  atomic.Int64 // attempts made
	Retries   atomic.Int64 // attempts that followed a failed one
	Rechecks  atomic.Int64 // requests of the attempts that were answered before, repeated as a check of the service
	Deduped   atomic.Int64 // requests saved, for an equal one was in flight
	FromStore atomic.Int64 // requests saved, for the store had the answer
	Kept      atomic.Int64 // records in parts that an earlier run has published
	Transient atomic.Int64 // attempts that failed in passing
	Refused   atomic.Int64 // requests that the service refused for their input
	Bytes     atomic.Int64 // of the answers' bodies
	Drift     Drift

	outcomes outcomes // attempts by how they ended
	reasons  reasons  // of the records without an answer

	InFlight atomic.Int64 // attempts under way
	Parked   atomic.Int64 // tasks that wait for a retry
}

// Snapshot is the state of the Counters at one moment, as it goes into the account.
type Snapshot struct {
	Read     int64 `json:"read"`
	Written  int64 `json:"written"`
	Rows     int64 `json:"rows"`
	OK       int64 `json:"ok"`
	Empty    int64 `json:"empty"`
	Rejected int64 `json:"rejected"`
	Failed   int64 `json:"failed"`
	Invalid  int64 `json:"invalid"`
	Pending  int64 `json:"pending"`

	Requests  int64      `json:"requests"`
	Retries   int64      `json:"retries"`
	Rechecks  int64      `json:"rechecks"`
	Transient int64      `json:"transient"`
	Refused   int64      `json:"refused"`
	Deduped   int64      `json:"deduped"`
	FromStore int64      `json:"from_store"`
	Kept      int64      `json:"kept"`
	Bytes     int64      `json:"answer_bytes"`
	Drift     DriftCount `json:"drift"`
	Outcomes  Outcomes   `json:"outcomes"`
	Reasons   []Reason   `json:"reasons,omitempty"`
	Recalled  int64      `json:"-"`

	Classifications int64 `json:"-"`
	InFlight        int64 `json:"-"`
	Parked          int64 `json:"-"`
}

// Snapshot reads all counters. They are not read at one instant, so sums may be off by
// what happens meanwhile; after the run they are exact.
func (c *Counters) Snapshot() Snapshot {
	return Snapshot{
		Read: c.Read.Load(), Written: c.Written.Load(), Rows: c.Rows.Load(),
		OK: c.OK.Load(), Empty: c.Empty.Load(), Rejected: c.Rejected.Load(), Failed: c.Failed.Load(), Invalid: c.Invalid.Load(), Pending: c.Pending.Load(),
		Requests: c.Requests.Load(), Retries: c.Retries.Load(), Rechecks: c.Rechecks.Load(), Transient: c.Transient.Load(), Refused: c.Refused.Load(), Deduped: c.Deduped.Load(), FromStore: c.FromStore.Load(), Kept: c.Kept.Load(),
		Bytes: c.Bytes.Load(), Drift: c.Drift.count(), Outcomes: c.outcomes.count(), Reasons: c.reasons.list(),
		Recalled: c.Recalled.Load(), Classifications: c.Classifications.Load(), InFlight: c.InFlight.Load(), Parked: c.Parked.Load(),
	}
}

// Settled is how many records have their outcomes. Those that are not written yet wait for
// a record before them.
func (s Snapshot) Settled() int64 {
	return (s.OK + s.Empty + s.Unanswered()) / max(1, s.Classifications)
}

// SettledNow is how many records this run has settled: without those of parts that it keeps
// and those whose outcome was stored before.
func (s Snapshot) SettledNow() int64 {
	return s.Settled() - s.Kept - s.Recalled/max(1, s.Classifications)
}

// Unanswered is how many of the settled records have no answer from the service, in each
// classification.
func (s Snapshot) Unanswered() int64 { return s.Rejected + s.Failed + s.Invalid + s.Pending }

func (c *Counters) countAnswer(a client.Answer) {
	c.outcomes.answered.Add(1)
	c.Bytes.Add(int64(len(a.Body)))
}

func (c *Counters) countError(e *client.Error) {
	c.outcomes.add(e.Label())
	switch e.Class {
	case client.Transient:
		c.Transient.Add(1)
	case client.Rejected:
		c.Refused.Add(1)
	}
}

// countSettled counts the record of a task.
func (c *Counters) countSettled(t *task, status writer.Status) {
	c.of(status).Add(1)
	if t.recalled {
		c.Recalled.Add(1)
	}
	if t.err != nil {
		c.reasons.add(status, t)
	}
}

func (c *Counters) of(status writer.Status) *atomic.Int64 {
	switch status {
	case writer.StatusOK:
		return &c.OK
	case writer.StatusEmpty:
		return &c.Empty
	case writer.StatusRejected:
		return &c.Rejected
	case writer.StatusInvalid:
		return &c.Invalid
	case writer.StatusPending:
		return &c.Pending
	}
	return &c.Failed
}

// countStatuses counts the records of a part that an earlier run has published.
func (c *Counters) countStatuses(s Statuses) {
	c.OK.Add(s.OK)
	c.Empty.Add(s.Empty)
	c.Rejected.Add(s.Rejected)
	c.Failed.Add(s.Failed)
	c.Invalid.Add(s.Invalid)
	c.Pending.Add(s.Pending)
}

func (c *Counters) countWritten(records int64, rows int) {
	c.Written.Add(records)
	c.Rows.Add(int64(rows))
}
