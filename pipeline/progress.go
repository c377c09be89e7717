package pipeline

import (
	"sync"
	"time"
)

// Progress says how far a run is.
type Progress struct {
	Counts  Snapshot
	Total   int64         // records of the input, estimated from the bytes read; 0 if unknown
	Rate    float64       // records a second that this run has settled, over the last two minutes
	Left    time.Duration // to the end, at this rate; 0 if unknown
	Quota   int64         // requests that the API key may still make
	Metered bool          // Quota is known
}

// Progress says how far the run is. It may be called from several goroutines, between the call of Watch and the
// end of Run. The rate is measured from call to call. During a run that asks, the service is asked for the
// quota each minute, in the background.
func (s *Session) Progress() Progress {
	read, total := s.input.Progress()
	p := Progress{Counts: s.counters.Snapshot()}
	p.Quota, p.Metered = s.quotaLeft()
	s.pace.estimate(&p, time.Now(), read, total, s.options.Limit)
	return p
}

// quotaLeft is the quota as told last. A run that asks nothing does not ask for the quota either.
func (s *Session) quotaLeft() (left int64, known bool) {
	if s.options.Offline && !s.options.Service.Free {
		return s.quota.last()
	}
	return s.quota.left()
}

// pace measures the rate over the last two minutes, from the first record that this run settles: the rate of
// reading stored answers does not show the rate of the service.
type pace struct {
	mu      sync.Mutex
	samples []sample
}

type sample struct {
	at time.Time
	n  int64
}

const paceWindow = 2 * time.Minute

// estimate estimates the rate, and from the bytes of the input that were read the total and the time left.
func (p *pace) estimate(progress *Progress, now time.Time, read, total, limit int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := &progress.Counts
	p.add(now, counts.SettledNow())
	progress.Rate = p.rate()
	if total <= 0 || read <= 0 {
		return
	}
	progress.Total = max(counts.Read, int64(float64(counts.Read)*float64(total)/float64(read)))
	if limit > 0 {
		progress.Total = min(progress.Total, limit)
	}
	if progress.Rate > 0 {
		progress.Left = time.Duration(float64(progress.Total-counts.Settled()) / progress.Rate * float64(time.Second))
	}
}

func (p *pace) add(at time.Time, n int64) {
	if n == 0 {
		p.samples = p.samples[:0]
	}
	p.samples = append(p.samples, sample{at, n})
	for len(p.samples) > 2 && at.Sub(p.samples[1].at) >= paceWindow {
		p.samples = p.samples[1:]
	}
}

// rate is in records a second; 0 while there are fewer than two samples.
func (p *pace) rate() float64 {
	if len(p.samples) < 2 {
		return 0
	}
	first, last := p.samples[0], p.samples[len(p.samples)-1]
	if elapsed := last.at.Sub(first.at).Seconds(); elapsed > 0 {
		return float64(last.n-first.n) / elapsed
	}
	return 0
}
