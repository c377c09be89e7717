// Package progress measures how far a run is: its counters, the reasons for records without an answer, the quota, the time
// left, and details for a live page. A [Monitor] writes them to the journal and the status file during the run. The counters
// are safe for concurrent use.
package progress

import (
	"maps"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Counters count the records and the requests of a run.
type Counters struct {
	account.Counts[atomic.Int64]

	share    share // of the records that need a request
	attempts attempts
	reasons  reasons // for records without an answer

	Finishing atomic.Bool                  // the run sends no more requests
	LastError atomic.Pointer[client.Error] // of a failed attempt

	FirstMisfit atomic.Pointer[Misfit] // nil if there is none

	details *details // nil unless GatherDetails was called
}

// Misfit is a carried value that does not fit the type of its column. Parquet gets null in its place. Columns of JSON take
// their types from the first records.
type Misfit struct {
	Place  string // file and line of the record
	Column account.Carried
	Value  string
}

// Settled is a record with a status.
type Settled struct {
	Record   *reader.Record
	Input    string // of the request
	Err      error  // why the record has no answer; nil if it has one
	Recalled bool   // an earlier run has stored the outcome
}

// Snapshot reads all counters, one after the other. During the run, events in between make sums inexact; after the run the sums
// are exact.
func (c *Counters) Snapshot() account.Snapshot {
	s := account.Snapshot{
		Attempts: c.attempts.count(), Reasons: c.reasons.list(),
		New: c.share.value(), Finishing: c.Finishing.Load(),
	}
	load(reflect.ValueOf(&s.Counts).Elem(), reflect.ValueOf(&c.Counts).Elem())
	return s
}

// load reads the counters of a struct, and of the structs in it.
func load(counts, counters reflect.Value) {
	for i := range counts.NumField() {
		if counter, ok := counters.Field(i).Addr().Interface().(*atomic.Int64); ok {
			counts.Field(i).SetInt(counter.Load())
		} else {
			load(counts.Field(i), counters.Field(i))
		}
	}
}

// Rewind resets the counts of records, for a run that reads its input again from the first record. The counts of requests stay.
func (c *Counters) Rewind() {
	counts := reflect.ValueOf(&c.Counts).Elem()
	for i := range counts.NumField() {
		if counts.Type().Field(i).Tag.Get(account.CountOf) == account.OfRecords {
			reset(counts.Field(i))
		}
	}
	c.Needed.Store(c.Ended.Load()) // the next pass looks up the records without an outcome again
	c.FirstMisfit.Store(nil)
	c.Finishing.Store(false)
	c.reasons.clear()
	if c.details != nil {
		c.details.clear()
	}
}

// reset sets a counter, or all counters of a struct, to 0.
func reset(counters reflect.Value) {
	if counter, ok := counters.Addr().Interface().(*atomic.Int64); ok {
		counter.Store(0)
		return
	}
	for i := range counters.NumField() {
		reset(counters.Field(i))
	}
}

// CountDrift counts an entry whose confidence is outside 0 to 1, or whose category is unknown to the taxonomy.
func (c *Counters) CountDrift(confidence float64, known bool) {
	if !(confidence >= 0 && confidence <= 1) {
		c.Drift.Confidence.Add(1)
	}
	if !known {
		c.Drift.Category.Add(1)
	}
}

// CountLookups counts records that were looked up in the store. needed of them need a request.
func (c *Counters) CountLookups(records, needed int) {
	c.LookedUp.Add(int64(records))
	c.Needed.Add(int64(needed))
	c.share.add(records, needed)
}

// CountAnswer counts an attempt that was answered.
func (c *Counters) CountAnswer(a client.Answer) {
	c.attempts.answered.Add(1)
	if a.Shared {
		c.Shared.Add(1)
	}
	c.Bytes.Add(int64(len(a.Body)))
}

// CountError counts an attempt that failed.
func (c *Counters) CountError(e *client.Error) {
	c.attempts.add(e.Label())
	if e.Shared {
		c.Shared.Add(1)
	}
	switch e.Class {
	case client.Transient:
		if !e.Unreached() {
			c.Transient.Add(1)
		}
	case client.Rejected:
		c.Rejections.Add(1)
	}
}

// CountCanceled counts an attempt that was canceled.
func (c *Counters) CountCanceled() { c.attempts.add("canceled") }

// CountBasis counts a record by the basis of its answer. basis is "" without an answer.
func (c *Counters) CountBasis(basis client.Basis, unread bool) {
	if n := c.Basis.Of(string(basis)); n != nil {
		n.Add(1)
	}
	if unread {
		c.Unread.Add(1)
	}
}

// CountSettled counts a record with its status.
func (c *Counters) CountSettled(status writer.Status, s Settled) {
	c.WithStatus(status).Add(1)
	if s.Recalled {
		c.Recalled.Add(1)
	}
	if s.Err != nil {
		c.reasons.add(status, s)
		if c.details != nil && status != writer.StatusBlank {
			c.details.failed(status, s)
		}
	}
}

// CountWritten counts records whose rows are in the sink.
func (c *Counters) CountWritten(records int64, rows int) {
	c.Written.Add(records)
	c.Rows.Add(int64(rows))
}

// attempts counts attempts by outcome. Answered attempts, the most frequent, take no lock.
type attempts struct {
	answered atomic.Int64
	mu       sync.Mutex
	failed   account.Attempts
}

func (a *attempts) add(failure string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed == nil {
		a.failed = make(account.Attempts)
	}
	a.failed[failure]++
}

func (a *attempts) count() account.Attempts {
	a.mu.Lock()
	defer a.mu.Unlock()
	all := account.Attempts{}
	maps.Copy(all, a.failed)
	if n := a.answered.Load(); n > 0 {
		all["answered"] = n
	}
	return all
}
