package live

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// sample has the state and the counters at one moment. Counters never decrease.
type sample struct {
	At      time.Time
	State   account.State    // until the next sample; a wait if account.Waits has it
	Counts  map[string]int64 // by outcome
	Allowed float64          // requests per second; 0 or infinity without a limit
	Latency []int64          // counts of the buckets of a histogram

	waited map[account.State]time.Duration // so far; set by the history
}

// history keeps samples of the whole time. When there are mostSamples, it drops every second sample and doubles the interval
// between samples.
type history struct {
	mu       sync.Mutex
	samples  []sample
	interval time.Duration
	last     sample    // the last sample, also if samples does not have it
	since    time.Time // of the first sample with the state of last
	waited   map[account.State]time.Duration
}

const mostSamples = 240

// leastInterval is the minimum interval between samples. The last event may come shortly after a sample.
const leastInterval = every / 2

// add adds a sample to samples, unless the interval since the last of them is too short.
func (h *history) add(s sample) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if slices.Contains(account.Waits, h.last.State) {
		if h.waited == nil {
			h.waited = make(map[account.State]time.Duration)
		}
		h.waited[h.last.State] += s.At.Sub(h.last.At)
	}
	if s.State != h.last.State {
		h.since = s.At
	}
	s.waited = maps.Clone(h.waited)
	h.last = s
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

// inState returns the time of the first sample with the present state.
func (h *history) inState() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.since
}

// between returns the interval between two samples.
func between(before, after sample) figures.Interval {
	interval := figures.Interval{Time: after.At.Sub(before.At), Counts: make(map[string]int64), Waited: make(map[account.State]time.Duration)}
	for name, n := range after.Counts {
		interval.Counts[name] = max(0, n-before.Counts[name])
	}
	for state, d := range after.waited {
		interval.Waited[state] = d - before.waited[state]
	}
	return interval
}

// charts returns the charts of the history. counts are the present counts by outcome, which are newer than the last sample.
func (h *history) charts(counts map[string]int64, unit string, bounds []float64) []figures.Chart {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []figures.Interval
	limit, lines := figures.Line{Name: "limit", Class: "limit"}, []figures.Line{{Name: "median", Class: "s0"}, {Name: "95%", Class: "s1"}}
	for i := 1; i < len(h.samples); i++ {
		before, after := h.samples[i-1], h.samples[i]
		list = append(list, between(before, after))
		if after.Allowed == 0 || math.IsInf(after.Allowed, 1) {
			after.Allowed = math.NaN()
		}
		limit.Values = append(limit.Values, after.Allowed)
		for k, q := range []float64{0.5, 0.95} {
			lines[k].Values = append(lines[k].Values, 1000*quantile(q, bounds, before.Latency, after.Latency))
		}
	}
	requests := figures.Requests(list, counts)
	requests.Columns = []string{"now", "total", "share"}
	if n := len(h.samples); n > 0 {
		requests.Ticks = figures.ClockTicks(h.samples[0].At.Local(), h.samples[n-1].At.Local())
	}
	for i := range requests.Lines {
		line := &requests.Lines[i]
		line.Cells = slices.Insert(line.Cells, 0, newest(line.Values, "/s"))
	}
	latency := requests // with the same axis and bands
	latency.Title, latency.Unit, latency.Suffix, latency.Columns, latency.Lines = "Latency", unit, " ms", []string{"now", "most"}, nil
	if len(known(limit.Values)) > 0 {
		limit.Cells = []string{newest(limit.Values, "/s"), "", ""}
		requests.Lines = append(requests.Lines, limit)
	}
	for _, line := range lines {
		if values := known(line.Values); len(values) > 0 {
			line.Cells = []string{newest(line.Values, " ms"), figures.Number(slices.Max(values)) + " ms"}
			latency.Lines = append(latency.Lines, line)
		}
	}
	return []figures.Chart{requests, latency}
}

// newest formats the last value with its unit.
func newest(values []float64, unit string) string {
	if len(values) == 0 || math.IsNaN(values[len(values)-1]) {
		return "none"
	}
	return figures.Number(values[len(values)-1]) + unit
}

// known returns the values without the gaps.
func known(values []float64) []float64 { return slices.DeleteFunc(slices.Clone(values), math.IsNaN) }

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
