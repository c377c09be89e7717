package progress

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

// Estimator estimates when a run ends. The time left is the number of requests to come, divided by the recent rate of requests
// with an outcome. Records with a stored answer take no time. Outages and pauses do not count as time, so they do not lower the
// rate. The slow first seconds after an outage do not count either.
type Estimator struct {
	mu      sync.Mutex
	state   account.State
	since   time.Time
	slow    time.Time     // when the recovery from an outage ends
	asking  time.Duration // total time without outages and pauses
	at      time.Time     // of the last estimate
	samples []sample
}

// sample is the state of a run at a time.
type sample struct {
	at      time.Time
	asking  time.Duration
	settled int64 // records
	ended   int64 // requests
}

const (
	sampleEvery = 500 * time.Millisecond

	// The rate is measured over etaWindow. For a slow service the window grows until it has enoughEnded requests, up to
	// mostWindow.
	etaWindow   = time.Minute
	mostWindow  = 10 * time.Minute
	enoughEnded = 60

	// recovery is how long the rate rises after an outage.
	recovery = 20 * time.Second

	// An estimate needs leastAsking of time and leastEnded requests.
	leastAsking = 5 * time.Second
	leastEnded  = 3
)

// Estimate sets Since, RecordsPerSecond, RequestsPerSecond, SecondsLeft, Ends and Stop of p, which was updated now. It is called
// again and again during the run. KeepReserve, Reserve, MaxRequests and Made of the bounds, and the deadline, which is zero for
// none, may stop the run before its last request.
func (e *Estimator) Estimate(p *Progress, status limits.Status, bounds limits.Options, finishBy time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := p.Updated
	e.enter(p.State, now, status.Since)
	p.Since = e.since.UTC()
	if waits(p.State) {
		return
	}
	e.add(now, p.Counts.SettledNow(), p.Counts.Ended)
	first, last := e.samples[0], e.samples[len(e.samples)-1]
	asking := last.asking - first.asking
	if asking <= 0 {
		return
	}
	perSecond := float64(last.ended-first.ended) / asking.Seconds()
	p.RecordsPerSecond, p.RequestsPerSecond = tenths(float64(last.settled-first.settled)/asking.Seconds()), tenths(perSecond)
	rate := min(perSecond, status.Most)
	if p.Total == 0 || p.State == account.Finishing || asking < leastAsking || last.ended-first.ended < leastEnded {
		return
	}
	left := time.Duration(requestsToCome(&p.Counts, p.Total) / rate * float64(time.Second))
	if left = p.bound(left, rate, bounds, finishBy); left > 0 {
		ends := now.Add(left)
		p.SecondsLeft, p.Ends = tenths(left.Seconds()), &ends
	}
}

// enter notes the state of the run. In an outage, out is when the service last answered; enter drops the samples after it.
func (e *Estimator) enter(state account.State, now, out time.Time) {
	if waits(state) {
		e.at = now
	}
	if state == e.state {
		return
	}
	if e.state == account.Outage {
		e.slow = now.Add(recovery)
	}
	e.state, e.since = state, now
	if state != account.Outage {
		return
	}
	e.since = out
	kept := slices.IndexFunc(e.samples, func(s sample) bool { return s.at.After(out) })
	if kept > 0 {
		e.samples = e.samples[:kept]
		e.asking = e.samples[kept-1].asking
	}
}

// add adds a sample. The first sample precedes the first outcome of this process.
func (e *Estimator) add(now time.Time, settled, ended int64) {
	if !e.at.IsZero() {
		e.asking += now.Sub(e.at)
	}
	e.at = now
	n := len(e.samples)
	if ended == 0 && settled == 0 || n > 0 && settled < e.samples[n-1].settled { // the run starts or rewinds
		e.samples = e.samples[:0]
	}
	if n = len(e.samples); n > 0 && e.samples[n-1].asking >= leastAsking && now.Before(e.slow) {
		e.discard(settled, ended)
		return
	}
	s := sample{now, e.asking, settled, ended}
	if n := len(e.samples); n > 1 && e.asking-e.samples[n-2].asking < sampleEvery {
		e.samples[n-1] = s
	} else {
		e.samples = append(e.samples, s)
	}
	for len(e.samples) > 2 {
		next := e.samples[1]
		window := e.asking - next.asking
		if window < etaWindow || window < mostWindow && ended-next.ended < enoughEnded {
			return
		}
		e.samples = e.samples[1:]
	}
}

// discard leaves the work and the time since the last sample out of the rate. It adds the work to all samples, so that their
// differences stay.
func (e *Estimator) discard(settled, ended int64) {
	last := e.samples[len(e.samples)-1]
	e.asking = last.asking
	for i := range e.samples {
		e.samples[i].settled += settled - last.settled
		e.samples[i].ended += ended - last.ended
	}
}

// requestsToCome returns the number of requests that have no outcome yet. For records that are not looked up yet it is an
// estimate.
func requestsToCome(c *account.Snapshot, total int64) float64 {
	records := max(0, total*max(1, c.Classifications)-c.LookedUp)
	return float64(c.Needed-c.Ended) + float64(records)*c.New
}

// bound shortens the time left, and sets Stop, if the quota, the request limit or the deadline will stop the run earlier.
func (p *Progress) bound(left time.Duration, rate float64, bounds limits.Options, finishBy time.Time) time.Duration {
	end := func(until time.Duration, cause account.Cause) {
		if until = max(until, 1); until < left {
			left, p.Stop = until, cause
		}
	}
	seconds := func(requests int64) time.Duration {
		return time.Duration(float64(max(0, requests)) / rate * float64(time.Second))
	}
	if p.Quota != nil {
		end(seconds(*p.Quota), account.QuotaExhausted)
	}
	if p.Quota != nil && bounds.KeepReserve {
		end(seconds(*p.Quota-bounds.Reserve), account.QuotaExhausted)
	}
	if most := bounds.MaxRequests; most > 0 { // counts each attempt
		attempts := float64(p.Counts.Requests) / float64(p.Counts.Ended)
		end(seconds(int64(float64(most-bounds.Made-p.Counts.Requests)/attempts)), account.Budget)
	}
	if !finishBy.IsZero() {
		end(finishBy.Sub(p.Updated), account.Deadline)
	}
	return left
}

// share estimates the share of records that need a request. The store may have all answers to the beginning of a list and none
// to the rest. So a block of records that differs from the records before it restarts the estimate.
type share struct {
	mu              sync.Mutex
	records, needed float64 // since the last restart
	blockRecords    float64
	blockNeeded     float64
}

const (
	shareBlock  = 200  // records
	shareChange = 4    // standard deviations; chance alone hardly ever exceeds them
	shareSpread = 0.01 // added variance: a list may be sorted, so a block is no random sample
)

// add adds records that were looked up, in input order. needed of them need a request.
func (s *share) add(records, needed int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blockRecords += float64(records)
	s.blockNeeded += float64(needed)
	if s.blockRecords < shareBlock {
		return
	}
	if s.records > 0 {
		p := s.needed / s.records
		deviation := math.Sqrt((p*(1-p) + shareSpread) / s.blockRecords)
		if math.Abs(s.blockNeeded/s.blockRecords-p) > shareChange*deviation {
			s.records, s.needed = 0, 0
		}
	}
	s.records += s.blockRecords
	s.needed += s.blockNeeded
	s.blockRecords, s.blockNeeded = 0, 0
}

// value returns the estimate; 1 before the first block.
func (s *share) value() float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.records == 0 {
		return 1
	}
	return s.needed / s.records
}
