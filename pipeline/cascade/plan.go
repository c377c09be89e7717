package cascade

import (
	"encoding/json"
	"math"
	"sort"
	"time"

	"github.com/bulkcat/bulkcat/client/embedded/learn"
)

// plan is the choices of a run. It is a note in the store, so that all starts of the run make the same choices.
type plan struct {
	Number int       `json:"number"` // from 1, of the plans of the same settings
	Begun  time.Time `json:"begun"`  // answers that were stored before are no part of the audit: the model was made of such
	Audit  float64   `json:"audit"`
	Digest string    `json:"digest"` // of the different requests that the plan is for
	Steps  []step    `json:"steps"`  // the thresholds rise
}

// step is a threshold with its sample.
type step struct {
	Threshold float64 `json:"threshold"`
	Cut       uint64  `json:"cut"` // the sample is the requests whose hash is not greater

	requests  int64 // different requests that the model is sure about, with the sample
	sample    int64
	free      int64 // of the requests, those that are not asked
	answered  int64 // of the sample
	disagreed int64 // of those answered
	most      int64 // that may disagree
}

// decode reads a note; false if there is none, or if it is damaged.
func (p *plan) decode(note []byte) bool {
	return len(note) > 0 && json.Unmarshal(note, p) == nil && !p.Begun.IsZero()
}

// shares of the requests of the first step that remain in the further steps.
var shares = [...]float64{0.75, 0.5, 0.25, 0.1}

// histogram counts entries by confidence.
type histogram [bins + 1]int64

const bins = 10_000

func (h *histogram) add(e entry) { h[int(min(1, max(0, e.confidence))*bins)]++ }

// choose chooses the thresholds, at which about shares of the requests remain.
func (p *plan) choose(h *histogram, threshold float64) {
	cut := uint64(math.MaxUint64)
	if p.Audit < 1 {
		cut = uint64(p.Audit * math.MaxUint64)
	}
	p.Steps = []step{{Threshold: threshold, Cut: cut}}
	if p.Audit == 0 {
		return
	}
	var above [bins + 2]int64 // entries from a bin on
	for i := bins; i >= 0; i-- {
		above[i] = above[i+1] + h[i]
	}
	last := above[0]
	for _, share := range shares {
		most := int64(share * float64(above[0]))
		bin := sort.Search(bins+1, func(i int) bool { return above[i] <= most })
		if higher := float64(bin) / bins; above[bin] > 0 && above[bin] < last && higher > threshold {
			p.Steps = append(p.Steps, step{Threshold: higher, Cut: cut})
			last = above[bin]
		}
	}
}

// mayHold reports whether a hash is in the sample of a step.
func (p *plan) mayHold(hash uint64) bool {
	for i := range p.Steps {
		if p.Audit > 0 && p.Steps[i].holds(hash) {
			return true
		}
	}
	return false
}

// passing is the index of the first step whose audit has not failed; the number of steps if there is none.
func (p *plan) passing() int {
	for i := range p.Steps {
		if p.Audit == 0 || p.Steps[i].disagreed <= p.Steps[i].most {
			return i
		}
	}
	return len(p.Steps)
}

func (s *step) holds(hash uint64) bool { return hash <= s.Cut }

// add counts an entry. Entries come in the order of their hashes, so that the least sample is of the smallest hashes.
func (s *step) add(e entry, audited bool, least int64) {
	if e.confidence < s.Threshold {
		return
	}
	s.requests++
	if audited && s.sample < least {
		s.Cut = max(s.Cut, hash(e.id))
	}
	switch {
	case audited && s.holds(hash(e.id)):
		s.sample++
		if e.answered {
			s.countOutcome(e.disagreed)
		}
	case !e.answered:
		s.free++
	}
}

// missing is the number of requests of the sample without an outcome.
func (s *step) missing() int64 { return max(0, s.sample-s.answered) }

// countOutcome counts the outcome of a request of the sample.
func (s *step) countOutcome(disagreed bool) {
	s.answered++
	if disagreed {
		s.disagreed++
	}
}

// limit sets the most disagreements with which the bound of the step reaches the precision; -1 if none are too many.
func (s *step) limit(number int, precision float64) {
	s.most = int64(sort.Search(int(s.sample), func(disagreed int) bool {
		return learn.LowerBound(s.sample-int64(disagreed), s.sample, levelOf(number)) < precision
	})) - 1
}
