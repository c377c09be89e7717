package pipeline

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/writer"
)

// Details are the figures of a run for people who watch the run. They are gathered if SessionOptions.Details
// is set, and contain no secrets.
type Details struct {
	Service    string          `json:"service"`
	Settings   Settings        `json:"settings"`
	Earlier    []EarlierStart  `json:"earlier,omitempty"` // starts of the same run, the first start first
	Attempts   Latency         `json:"attempt_seconds"`
	Categories []CategoryCount `json:"top_categories"` // the most frequent best categories of records, in their first level
	Confidence []int64         `json:"confidence"`     // records by the confidence of the best category: [0, 0.1), ..., [0.9, 1]
	Failures   []Failure       `json:"last_failures"`  // the newest first

	Learned string `json:"learned,omitempty"` // of the limits of the service, in words
}

// EarlierStart is a start of the same run that has ended.
type EarlierStart struct {
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended"`
	Ending   Ending    `json:"ending"`
	Requests int64     `json:"requests"`
}

// CategoryCount is how many records have a category.
type CategoryCount struct {
	Name    string `json:"name"`
	Records int64  `json:"records"`
}

// Failure is a record that got no answer.
type Failure struct {
	At     time.Time     `json:"at"`
	File   string        `json:"file"`
	Line   int64         `json:"line"`
	Input  string        `json:"input"` // the first 200 bytes
	Status writer.Status `json:"status"`
	Reason string        `json:"reason"`
}

// Latency is a histogram of durations.
type Latency struct {
	Bounds  []float64 `json:"bounds"` // upper, in seconds
	Counts  []int64   `json:"counts"` // one more than Bounds: the last counts longer durations
	Seconds float64   `json:"sum"`
}

const (
	mostCategories  = 10_000 // counted; those of custom taxonomies have no bound
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
	failures   []Failure // the oldest first
}

func newDetails() *details { return &details{categories: make(map[string]int64)} }

// answered counts a record with its best category. A confidence that is no number counts in no range.
func (d *details) answered(best client.Entry) {
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
func (d *details) failed(status writer.Status, t *task) {
	reason := reasonOf(t.err)
	text := cmp.Or(reason.Text, reason.Class)
	if reason.Example != "" {
		text += ": " + reason.Example
	}
	input := cmp.Or(t.record.Input, t.Request.Input)
	f := Failure{At: time.Now().UTC(), File: t.record.File, Line: t.record.Line, Input: strings.ToValidUTF8(input[:min(len(input), inputShown)], ""), Status: status, Reason: text}
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.failures) == shownFailures {
		d.failures = slices.Delete(d.failures, 0, 1)
	}
	d.failures = append(d.failures, f)
}

func (d *details) list() Details {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := Details{Attempts: d.latency.read(), Confidence: slices.Clone(d.confidence[:]), Categories: []CategoryCount{}, Failures: slices.Clone(d.failures)}
	slices.Reverse(list.Failures)
	for name, records := range d.categories {
		list.Categories = append(list.Categories, CategoryCount{name, records})
	}
	slices.SortFunc(list.Categories, func(a, b CategoryCount) int {
		return cmp.Or(cmp.Compare(b.Records, a.Records), cmp.Compare(a.Name, b.Name))
	})
	list.Categories = list.Categories[:min(len(list.Categories), shownCategories)]
	return list
}

// histogram counts durations of attempts.
type histogram struct {
	counts [len(latencyBounds) + 1]atomic.Int64
	sum    atomic.Int64 // nanoseconds
}

// latencyBounds in seconds: a stored answer of a gateway takes a millisecond, a slow page a minute.
var latencyBounds = [...]float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 30, 60}

func (h *histogram) observe(d time.Duration) {
	i, _ := slices.BinarySearch(latencyBounds[:], d.Seconds())
	h.counts[i].Add(1)
	h.sum.Add(int64(d))
}

func (h *histogram) read() Latency {
	l := Latency{Bounds: latencyBounds[:], Counts: make([]int64, len(h.counts)), Seconds: time.Duration(h.sum.Load()).Seconds()}
	for i := range h.counts {
		l.Counts[i] = h.counts[i].Load()
	}
	return l
}
