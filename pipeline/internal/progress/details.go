package progress

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/writer"
)

const (
	mostCategories  = 10_000 // maximum number of categories to count; a custom taxonomy may have any number
	shownCategories = 12
	shownFailures   = 20
	inputShown      = 200 // bytes
)

// details gathers Details.
type details struct {
	latency histogram

	mu         sync.Mutex
	categories map[string]int64
	confidence [10]int64
	failures   []account.Failure // the oldest first
}

// GatherDetails turns the details on. Call it before the run.
func (c *Counters) GatherDetails() { c.details = &details{categories: make(map[string]int64)} }

// Details returns the details; nil unless GatherDetails was called.
func (c *Counters) Details() *account.Details {
	d := c.details
	if d == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	list := &account.Details{Attempts: d.latency.read(), Confidence: slices.Clone(d.confidence[:]), Categories: []account.CategoryCount{}, Failures: slices.Clone(d.failures)}
	slices.Reverse(list.Failures)
	for name, records := range d.categories {
		list.Categories = append(list.Categories, account.CategoryCount{Name: name, Records: records})
	}
	slices.SortFunc(list.Categories, func(a, b account.CategoryCount) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(a.Name, b.Name))
	})
	list.Categories = list.Categories[:min(len(list.Categories), shownCategories)]
	return list
}

// ObserveAttempt adds the duration of an attempt to the details.
func (c *Counters) ObserveAttempt(d time.Duration) {
	if c.details != nil {
		c.details.latency.observe(d)
	}
}

// ObserveAnswer adds a record to the details, by its best category and its confidence. NaN counts in no range of confidence.
func (c *Counters) ObserveAnswer(best client.Entry) {
	d := c.details
	if d == nil {
		return
	}
	name, _, _ := strings.Cut(best.Value, " > ")
	if best.Title != "" { // an industry, whose value is a code
		name = best.Value + " " + best.Title
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := best.Confidence; !math.IsNaN(c) {
		d.confidence[int(min(9, max(0, c*10)))]++
	}
	if n, known := d.categories[name]; known || len(d.categories) < mostCategories {
		d.categories[name] = n + 1
	}
}

// failed adds a record without an answer.
func (d *details) failed(status writer.Status, settled Settled) {
	reason := reasonOf(settled.Err)
	text := cmp.Or(reason.Text, reason.Class)
	if reason.Example != "" {
		text += ": " + reason.Example
	}
	input := cmp.Or(settled.Record.Input, settled.Input)
	f := account.Failure{At: time.Now().UTC(), File: settled.Record.File, Line: settled.Record.Line, Input: strings.ToValidUTF8(input[:min(len(input), inputShown)], ""), Status: status, Reason: text}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.failures) == shownFailures {
		d.failures = slices.Delete(d.failures, 0, 1)
	}
	d.failures = append(d.failures, f)
}

// clear forgets the records.
func (d *details) clear() {
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.categories)
	d.confidence, d.failures = [10]int64{}, nil
}

// histogram counts durations of attempts.
type histogram struct {
	counts [len(latencyBounds) + 1]atomic.Int64
	sum    atomic.Int64 // nanoseconds
}

// latencyBounds are in seconds. A gateway returns a stored answer in a millisecond; a slow page takes a minute.
var latencyBounds = [...]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 30, 60}

func (h *histogram) observe(d time.Duration) {
	i, _ := slices.BinarySearch(latencyBounds[:], d.Seconds())
	h.counts[i].Add(1)
	h.sum.Add(int64(d))
}

func (h *histogram) read() account.Latency {
	l := account.Latency{Bounds: latencyBounds[:], Counts: make([]int64, len(h.counts)), Seconds: time.Duration(h.sum.Load()).Seconds()}
	for i := range h.counts {
		l.Counts[i] = h.counts[i].Load()
	}
	return l
}
