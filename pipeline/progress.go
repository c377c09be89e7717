package pipeline

import (
	"math"
	"time"

	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/record"
)

// Progress says how far a run is.
type Progress struct {
	State record.State
	Since time.Time // when State began; of an outage, when the service last answered before it

	Counts   record.Snapshot
	Total    int64         // records of the input; 0 if unknown
	About    bool          // Total is estimated from the bytes read
	Rate     float64       // records a second that this run has settled lately; 0 while the run waits
	Requests float64       // requests a second that have ended lately with an outcome; 0 while the run waits
	Allowed  float64       // requests a second that the run may send at present, as learned so far; +Inf without a limit
	Left     time.Duration // until the last request has an outcome, or until Stop; 0 if unknown
	Stop     record.Cause  // what ends the requests before the last: QuotaExhausted, Budget or Deadline; "" if nothing does
	Quota    int64         // requests that the API key may still make
	Metered  bool          // Quota is known
}

// waits reports whether a run in this state sends no requests but to find out whether it can go on.
func waits(s record.State) bool { return s == record.Outage || s == record.QuotaPause }

// Progress says how far the run is. It may be called from several goroutines and at any time; before the call of Watch
// the state is Starting. The rates are measured from call to call. During a run that asks, the service is asked for the
// quota each minute, in the background.
func (s *Session) Progress() Progress {
	if !s.asking.Load() {
		return Progress{State: record.Starting, Since: s.opened, Counts: s.counters.Snapshot(), Allowed: math.Inf(1)}
	}
	read, total := s.input.Progress()
	status := s.limits.Status()
	p := Progress{Counts: s.counters.Snapshot(), Allowed: status.Rate}
	p.Quota, p.Metered = s.quotaLeft()
	p.State = stateOf(status, p.Counts.Finishing)
	p.Total, p.About = s.records.of(estimateTotal(p.Counts.Read+p.Counts.Others, read, total, s.options.Limit), s.options.Limit)
	p.Total, p.About = ofShard(&p.Counts, p.Total), p.About || p.Counts.Others > 0
	s.total.Store(p.Total)
	s.eta.estimate(&p, time.Now(), status, &s.options)
	return p
}

func stateOf(s limits.Status, finishing bool) record.State {
	switch {
	case finishing:
		return record.Finishing
	case s.Empty:
		return record.QuotaPause
	case s.State == limits.Out:
		return record.Outage
	case s.State == limits.Limited:
		return record.Limited
	case s.State == limits.Doubt:
		return record.Congested
	}
	return record.Asking
}

// estimateTotal estimates the records of the input from the records and bytes read so far.
func estimateTotal(records, read, total, limit int64) int64 {
	if total <= 0 || read <= 0 {
		return 0
	}
	estimate := max(records, int64(float64(records)*float64(total)/float64(read)))
	if limit > 0 {
		estimate = min(estimate, limit)
	}
	return estimate
}

// ofShard is the shard's part of so many records of the input, estimated from the records read so far.
func ofShard(s *record.Snapshot, records int64) int64 {
	if s.Others == 0 {
		return records
	}
	return int64(float64(records) * float64(s.Read) / float64(s.Read+s.Others))
}

// quotaLeft is the quota as told last. A run that asks nothing does not ask for the quota either.
func (s *Session) quotaLeft() (left int64, known bool) {
	if s.options.Offline && !s.options.Service.Free {
		return s.quota.last()
	}
	return s.quota.left()
}
