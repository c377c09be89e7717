package live

import (
	"slices"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// sample is a set of counters at one moment. Counters only grow.
type sample struct {
	At      time.Time
	Counts  map[string]int64 // by outcome
	Allowed float64          // requests a second; 0 without a limit
	Latency []int64          // counts of the buckets of a histogram
	Waited  map[account.State]time.Duration
}

// history keeps samples of the whole time: when there are too many, every second sample is dropped, and the interval
// between samples doubles.
type history struct {
	samples  []sample
	interval time.Duration
}

const mostSamples = 240

// leastInterval keeps the last event, which comes at any time, from being a sample too close to the one before.
const leastInterval = every / 2

// add adds a sample, unless the last is too new.
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

// span is from the first sample to the last.
func (h *history) span() (from, to time.Time) {
	if len(h.samples) == 0 {
		return from, to
	}
	return h.samples[0].At, h.samples[len(h.samples)-1].At
}

// places are those of the ends of the intervals between samples in the span, from 0 to 1.
func (h *history) places() (list []float64) {
	from, to := h.span()
	for _, s := range h.samples[min(1, len(h.samples)):] {
		list = append(list, s.At.Sub(from).Seconds()/max(to.Sub(from).Seconds(), 1e-9))
	}
	return list
}

// bands are the intervals in which a run waited.
func (h *history) bands() (list []figures.Band) {
	from := 0.0
	for i, to := range h.places() {
		before, after := h.samples[i], h.samples[i+1]
		for _, state := range account.Waits {
			share := min(1, (after.Waited[state]-before.Waited[state]).Seconds()/max(after.At.Sub(before.At).Seconds(), 1e-9))
			if share > 0 {
				list = figures.AppendBand(list, figures.Band{Class: string(state), From: from, To: to, Share: share})
			}
		}
		from = to
	}
	return list
}

// each yields a value for each interval between two samples.
func (h *history) each(value func(before, after sample, seconds float64) float64) []float64 {
	var values []float64
	for i := 1; i < len(h.samples); i++ {
		before, after := h.samples[i-1], h.samples[i]
		values = append(values, value(before, after, max(after.At.Sub(before.At).Seconds(), 1e-9)))
	}
	return values
}

// last is the newest sample.
func (h *history) last() sample {
	if len(h.samples) == 0 {
		return sample{}
	}
	return h.samples[len(h.samples)-1]
}

// quantile of a histogram, in the unit of bounds, interpolated within the bucket. It is 0 for an empty histogram.
func quantile(q float64, bounds []float64, counts []int64) float64 {
	var sum int64
	for _, n := range counts {
		sum += n
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
	return 0
}

// difference of two histograms. A missing earlier histogram is empty.
func difference(before, after []int64) []int64 {
	d := slices.Clone(after)
	for i := range min(len(before), len(d)) {
		d[i] -= before[i]
	}
	return d
}
