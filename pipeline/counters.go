package pipeline

import (
	"sync/atomic"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/writer"
)

// Counters are a run's numbers, which the progress, the summary and the account read.
type Counters struct {
	Read    atomic.Int64 // records read, without those of other shards
	Others  atomic.Int64 // records read that other shards have
	Written atomic.Int64 // records whose rows are in the sink
	Rows    atomic.Int64

	// Records by status, as soon as the status is known. Each record counts once for each classification.
	OK, Empty, Rejected, Failed, Invalid, Pending atomic.Int64
	Recalled                                      atomic.Int64 // records whose outcome an earlier run has stored
	Classifications                               atomic.Int64 // that each record is asked for

	Requests   atomic.Int64 // attempts made
	Retries    atomic.Int64 // attempts that followed a failed attempt
	Rechecks   atomic.Int64 // attempts that repeated an answered request to check the service
	Deduped    atomic.Int64 // requests saved because an equal request was in flight
	FromStore  atomic.Int64 // requests saved because the store had the answer
	AskedAgain atomic.Int64 // stored answers that a refresh has asked again
	Changed    atomic.Int64 // of these, answers with other categories now, or rejections
	Kept       atomic.Int64 // records in parts that an earlier run has published
	LookedUp   atomic.Int64 // records that were looked up in the store, or kept; once for each classification
	Needed     atomic.Int64 // requests that no stored answer and no request in flight has saved
	Ended      atomic.Int64 // of these, requests with an outcome
	share      share        // of the records that need a request
	Transient  atomic.Int64 // attempts that met a passing failure
	Rejections atomic.Int64 // attempts that ended with a rejection
	Bytes      atomic.Int64 // of the bodies of answers
	Drift      Drift

	misfits  misfits
	attempts attempts
	reasons  reasons // of the records without an answer

	InFlight atomic.Int64 // attempts in flight
	Parked   atomic.Int64 // tasks that wait for a retry
	Outages  atomic.Int64 // that began

	Finishing atomic.Bool // no request is begun any more

	details *details // nil unless SessionOptions.Details is set
}

// Snapshot is the state of the Counters at one moment, as it goes into the account.
type Snapshot struct {
	Read     int64 `json:"read"`
	Others   int64 `json:"other_shards,omitempty"` // records of the input that other shards have
	Written  int64 `json:"written"`
	Rows     int64 `json:"rows"`
	OK       int64 `json:"ok"`
	Empty    int64 `json:"empty"`
	Rejected int64 `json:"rejected"`
	Failed   int64 `json:"failed"`
	Invalid  int64 `json:"invalid"`
	Pending  int64 `json:"pending"`

	Requests   int64      `json:"requests"`
	Retries    int64      `json:"retries"`
	Rechecks   int64      `json:"rechecks"`
	Transient  int64      `json:"transient"`
	Rejections int64      `json:"refused"`
	Deduped    int64      `json:"deduped"`
	FromStore  int64      `json:"from_store"`
	AskedAgain int64      `json:"asked_again,omitempty"`
	Changed    int64      `json:"changed,omitempty"`
	Kept       int64      `json:"kept"`
	Bytes      int64      `json:"answer_bytes"`
	Drift      DriftCount `json:"drift"`
	Attempts   Attempts   `json:"outcomes"`
	Reasons    []Reason   `json:"reasons,omitempty"`
	Misfits    int64      `json:"misfits,omitempty"` // carried values that are null in Parquet, because they do not fit the type of their column
	Recalled   int64      `json:"-"`

	Classifications int64   `json:"-"`
	InFlight        int64   `json:"-"`
	Parked          int64   `json:"-"`
	LookedUp        int64   `json:"-"`
	Needed          int64   `json:"-"`
	Ended           int64   `json:"-"`
	New             float64 `json:"-"` // share of the records looked up lately that need a request
	Finishing       bool    `json:"-"`
	Outages         int64   `json:"-"`
}

// Snapshot reads all counters. The counters are not read at one instant, so sums may be off by the events
// in between; after the run the sums are exact.
func (c *Counters) Snapshot() Snapshot {
	return Snapshot{
		Read: c.Read.Load(), Others: c.Others.Load(), Written: c.Written.Load(), Rows: c.Rows.Load(),
		OK: c.OK.Load(), Empty: c.Empty.Load(), Rejected: c.Rejected.Load(), Failed: c.Failed.Load(), Invalid: c.Invalid.Load(), Pending: c.Pending.Load(),
		Requests: c.Requests.Load(), Retries: c.Retries.Load(), Rechecks: c.Rechecks.Load(), Transient: c.Transient.Load(), Rejections: c.Rejections.Load(), Deduped: c.Deduped.Load(), FromStore: c.FromStore.Load(), AskedAgain: c.AskedAgain.Load(), Changed: c.Changed.Load(), Kept: c.Kept.Load(),
		Bytes: c.Bytes.Load(), Drift: c.Drift.count(), Attempts: c.attempts.count(), Reasons: c.reasons.list(), Misfits: c.misfits.count.Load(),
		Recalled: c.Recalled.Load(), Classifications: c.Classifications.Load(), InFlight: c.InFlight.Load(), Parked: c.Parked.Load(), Outages: c.Outages.Load(),
		LookedUp: c.LookedUp.Load(), Needed: c.Needed.Load(), Ended: c.Ended.Load(), New: c.share.value(), Finishing: c.Finishing.Load(),
	}
}

// Settled is how many records have a status. Those that are not written yet wait for a record before
// them.
func (s Snapshot) Settled() int64 {
	return (s.OK + s.Empty + s.Unanswered()) / max(1, s.Classifications)
}

// SettledNow is how many records this run has settled: without the records of kept parts, and without
// those whose outcome an earlier run has stored.
func (s Snapshot) SettledNow() int64 {
	return s.Settled() - s.Kept - s.Recalled/max(1, s.Classifications)
}

// Unanswered is how many records have no answer from the service. Each record counts once for each
// classification.
func (s Snapshot) Unanswered() int64 { return s.Rejected + s.Failed + s.Invalid + s.Pending }

// countLookups counts records that were looked up, of which some need a request.
func (c *Counters) countLookups(records, needed int) {
	c.LookedUp.Add(int64(records))
	c.Needed.Add(int64(needed))
	c.share.add(records, needed)
}

func (c *Counters) countAnswer(a client.Answer) {
	c.attempts.answered.Add(1)
	c.Bytes.Add(int64(len(a.Body)))
}

func (c *Counters) countError(e *client.Error) {
	c.attempts.add(e.Label())
	switch e.Class {
	case client.Transient:
		c.Transient.Add(1)
	case client.Rejected:
		c.Rejections.Add(1)
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
		if c.details != nil {
			c.details.failed(status, t)
		}
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
func (c *Counters) countStatuses(s statuses) {
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
