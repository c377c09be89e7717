package live

import (
	"math"
	"slices"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// sample has the counters at one moment. Counters never decrease.
type sample struct {
	At      time.Time
	Counts  map[string]int64 // by outcome
	Allowed float64          // requests per second; 0 without a limit
	Latency []int64          // counts of the buckets of a histogram
	Waited  map[account.State]time.Duration
}

// history keeps samples of the whole time. When there are mostSamples, it drops every second sample and doubles the interval
// between samples.
type history struct {
	samples  []sample
	interval time.Duration
}

const mostSamples = 240

// leastInterval is the minimum interval between samples. The last event may come shortly after a sample.
const leastInterval = every / 2

// add adds a sample, unless the interval since the last sample is too short.
func (h *history) add(s sample) {
	if n := len(h.samples); n > 0 && s.At.Sub(h.samples[n-1].At) < max(h.interval, leastInterval) {
		return
	}
	h.samples = append(h.samples, s)
	if len(h.samples) < mostSamples {
		return
	}
	kept := h.samples[:0]
	for i, s := range h.samples {
		if i%2 == 0 {
			kept = append(kept, s)
		}
	}
	clear(h.samples[len(kept):])
	h.samples = kept
	h.interval = max(2*h.interval, 2*time.Second)
}

// span returns the times of the first and the last sample.
func (h *history) span() (from, to time.Time) {
	if len(h.samples) == 0 {
		return from, to
	}
	return h.samples[0].At, h.samples[len(h.samples)-1].At
}

// intervals returns the intervals between the samples.
func (h *history) intervals() (list []figures.Interval) {
	from, to := h.span()
	place := func(t time.Time) float64 { return t.Sub(from).Seconds() / to.Sub(from).Seconds() }
	for i := 1; i < len(h.samples); i++ {
		before, after := h.samples[i-1], h.samples[i]
		interval := figures.Interval{
			From: place(before.At), To: place(after.At), Time: after.At.Sub(before.At), Counts: make(map[string]int64), Waited: make(map[account.State]time.Duration),
		}
		for name, n := range after.Counts {
			interval.Counts[name] = max(0, n-before.Counts[name])
		}
		for state, d := range after.Waited {
			interval.Waited[state] = d - before.Waited[state]
		}
		list = append(list, interval)
	}
	return list
}

// each returns a value for each interval between two samples.
func (h *history) each(value func(before, after sample) float64) (values []float64) {
	for i := 1; i < len(h.samples); i++ {
		values = append(values, value(h.samples[i-1], h.samples[i]))
	}
	return values
}

// quantile returns a quantile of the difference of two histograms in the unit of bounds, interpolated within its bucket; NaN for an
// empty histogram. before may be nil.
func quantile(q float64, bounds []float64, before, after []int64) float64 {
	counts := slices.Clone(after)
	for i := range min(len(before), len(counts)) {
		counts[i] -= before[i]
	}
	sum := figures.Sum(slices.Values(counts))
	if sum == 0 {
		return math.NaN()
	}
	rank, seen := q*float64(sum), 0.0
	for i, n := range counts {
		if n == 0 || seen+float64(n) < rank {
			seen += float64(n)
			continue
		}
		if i == len(bounds) {
			return bounds[i-1]
		}
		low := 0.0
		if i > 0 {
			low = bounds[i-1]
		}
		return low + (bounds[i]-low)*(rank-seen)/float64(n)
	}
	return bounds[len(bounds)-1]
}
