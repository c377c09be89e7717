package progress

import (
	"slices"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/record"
)

// Estimator estimates when a run ends. The time left is that of the requests to come, at the rate at which requests
// have ended lately with an outcome: a record with a stored answer takes no time. That rate shows what the caller,
// the learned limit and the latency allow. Only the time in which the run asks counts, so that an outage does
// not lower the rate. The first requests after an outage, which are slow, do not count either.
type Estimator struct {
	mu      sync.Mutex
	state   record.State
	since   time.Time
	slow    time.Time     // until then the pace recovers from an outage
	asking  time.Duration // time in which the run has asked
	at      time.Time     // of the last estimate
	samples []sample
}

// sample is what a run had done after some time of asking.
type sample struct {
	at      time.Time
	asking  time.Duration
	settled int64 // records
	ended   int64 // requests
}

const (
	sampleEvery = 500 * time.Millisecond

	// The rate is that of the last minute: a new rate of the service shows within that time. A slow
	// service gets more time, until enoughEnded requests have ended.
	etaWindow   = time.Minute
	mostWindow  = 10 * time.Minute
	enoughEnded = 60

	// recovery is the time after an outage in which the pace rises again.
	recovery = 20 * time.Second

	// leastAsking and leastEnded are necessary for an estimate.
	leastAsking = 5 * time.Second
	leastEnded  = 3
)

// Bounds are what may end the requests of a run before the last.
type Bounds struct {
	Limits   limits.Options // of which KeepReserve, Reserve, MaxRequests and Made count
	FinishBy time.Time      // zero for no deadline
}

// Estimate completes the state, the rates and the time left.
func (e *Estimator) Estimate(p *Progress, now time.Time, status limits.Status, b Bounds) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.enter(p.State, now, status.Since)
	p.Since = e.since
	if waits(p.State) {
		return
	}
	e.add(now, p.Counts.SettledNow(), p.Counts.Ended)
	first, last := e.samples[0], e.samples[len(e.samples)-1]
	asking := last.asking - first.asking
	if asking <= 0 {
		return
	}
	p.Rate = float64(last.settled-first.settled) / asking.Seconds()
	p.Requests = float64(last.ended-first.ended) / asking.Seconds()
	rate := min(p.Requests, status.Most)
	if p.Total == 0 || p.State == record.Finishing || asking < leastAsking || last.ended-first.ended < leastEnded {
		return
	}
	p.Left = time.Duration(requestsToCome(&p.Counts, p.Total) / rate * float64(time.Second))
	p.bound(rate, now, b)
}

// enter begins a state. Out is when the service last answered before an outage: the time since then lowers no
// rate.
func (e *Estimator) enter(state record.State, now, out time.Time) {
	if waits(state) {
		e.at = now
	}
	if state == e.state {
		return
	}
	if e.state == record.Outage {
		e.slow = now.Add(recovery)
	}
	e.state, e.since = state, now
	if state != record.Outage {
		return
	}
	e.since = out
	kept := slices.IndexFunc(e.samples, func(s sample) bool { return s.at.After(out) })
	if kept > 0 {
		e.samples = e.samples[:kept]
		e.asking = e.samples[kept-1].asking
	}
}

// add adds a sample. The samples begin before the first request of this process has ended.
func (e *Estimator) add(now time.Time, settled, ended int64) {
	if !e.at.IsZero() {
		e.asking += now.Sub(e.at)
	}
	e.at = now
	n := len(e.samples)
	if ended == 0 && settled == 0 || n > 0 && settled < e.samples[n-1].settled { // the run begins, or begins anew
		e.samples = e.samples[:0]
	}
	if n = len(e.samples); n > 0 && e.samples[n-1].asking >= leastAsking && now.Before(e.slow) {
		e.leaveOut(settled, ended)
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

// leaveOut leaves out what the run has done since the last sample, and the time: the samples become those of a
// run that has done so before them.
func (e *Estimator) leaveOut(settled, ended int64) {
	last := e.samples[len(e.samples)-1]
	e.asking = last.asking
	for i := range e.samples {
		e.samples[i].settled += settled - last.settled
		e.samples[i].ended += ended - last.ended
	}
}

// requestsToCome is the number of requests without an outcome, estimated for records that are not looked up yet.
func requestsToCome(c *record.Snapshot, total int64) float64 {
	records := max(0, total*max(1, c.Classifications)-c.LookedUp)
	return float64(c.Needed-c.Ended) + float64(records)*c.New
}

// bound shortens the time left if the quota, another limit of the requests, or the deadline ends the requests
// before the last.
func (p *Progress) bound(rate float64, now time.Time, b Bounds) {
	end := func(left time.Duration, cause record.Cause) {
		if left = max(left, 1); left < p.Left {
			p.Left, p.Stop = left, cause
		}
	}
	seconds := func(requests int64) time.Duration {
		return time.Duration(float64(max(0, requests)) / rate * float64(time.Second))
	}
	if p.Metered {
		end(seconds(p.Quota), record.QuotaExhausted)
	}
	if p.Metered && b.Limits.KeepReserve {
		end(seconds(p.Quota-b.Limits.Reserve), record.QuotaExhausted)
	}
	if most := b.Limits.MaxRequests; most > 0 { // counts each attempt
		attempts := float64(p.Counts.Requests) / float64(p.Counts.Ended)
		end(seconds(int64(float64(most-b.Limits.Made-p.Counts.Requests)/attempts)), record.Budget)
	}
	if !b.FinishBy.IsZero() {
		end(b.FinishBy.Sub(now), record.Deadline)
	}
}
