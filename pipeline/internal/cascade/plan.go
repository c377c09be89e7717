package cascade

import (
	"encoding/json"
	"math"
	"sort"
	"time"

	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

// plan has the steps of a run. It is a note in the store, so that all starts of the run use the same steps.
type plan struct {
	Number int       `json:"number"` // counts the plans of the same settings, from 1
	Begun  time.Time `json:"begun"`  // the audit excludes answers stored before: the model may have been trained on them
	Audit  float64   `json:"audit"`
	Digest string    `json:"digest"` // of the distinct requests of the plan
	Steps  []step    `json:"steps"`  // by rising threshold
}

// step is a threshold with its sample.
type step struct {
	Threshold float64 `json:"threshold"`
	Cut       uint64  `json:"cut"` // the highest hash in the sample

	requests  int64 // distinct requests that reach the threshold, including the sample
	sample    int64
	free      int64 // requests that the model answers
	answered  int64 // requests of the sample with an outcome
	disagreed int64 // answered requests that disagree
	most      int64 // disagreed above most fails the audit
}

// decode reads a note. It reports false if the note is empty or damaged.
func (p *plan) decode(note []byte) bool {
	return len(note) > 0 && json.Unmarshal(note, p) == nil && !p.Begun.IsZero()
}

// shares are the shares of the first step's requests that the further steps keep.
var shares = [...]float64{0.75, 0.5, 0.25, 0.1}

// histogram counts entries by confidence.
type histogram [bins + 1]int64

const bins = 10_000

func (h *histogram) add(e entry) { h[int(min(1, max(0, e.confidence))*bins)]++ }

// choose sets the steps, from the confidences of the requests and the lowest threshold.
func (p *plan) choose(h *histogram, threshold float64) {
	cut := uint64(math.MaxUint64)
	if p.Audit < 1 {
		cut = uint64(p.Audit * math.MaxUint64)
	}
	p.Steps = []step{{Threshold: threshold, Cut: cut}}
	if p.Audit == 0 {
		return
	}
	var above [bins + 2]int64 // entries in a bin and all higher ones
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

// mayHold reports whether any step may have the hash in its sample.
func (p *plan) mayHold(hash uint64) bool {
	for i := range p.Steps {
		if p.Audit > 0 && p.Steps[i].holds(hash) {
			return true
		}
	}
	return false
}

// firstPassing returns the index of the first step whose audit has not failed, or len(p.Steps).
func (p *plan) firstPassing() int {
	for i := range p.Steps {
		if p.Audit == 0 || p.Steps[i].disagreed <= p.Steps[i].most {
			return i
		}
	}
	return len(p.Steps)
}

func (s *step) holds(hash uint64) bool { return hash <= s.Cut }

// add counts an entry. Entries must come in the order of their hashes: the first ones are the sample, until it has least
// entries.
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

// missing returns the number of requests of the sample without an outcome.
func (s *step) missing() int64 { return max(0, s.sample-s.answered) }

// countOutcome counts the outcome of a request of the sample.
func (s *step) countOutcome(disagreed bool) {
	s.answered++
	if disagreed {
		s.disagreed++
	}
}

// setMost sets most to the highest number of disagreements with which the bound still reaches the precision. It is -1 if the
// bound is too low even without a disagreement. number is the number of the step, from 1.
func (s *step) setMost(number int, precision float64) {
	s.most = int64(sort.Search(int(s.sample), func(disagreed int) bool {
		return learn.LowerBound(s.sample-int64(disagreed), s.sample, levelOf(number)) < precision
	})) - 1
}

// levelOf returns the confidence level of the bound of a step, from 1. The error probabilities of all steps sum to at most 5%:
// 2.5% for the first step, and half of the previous for each further step.
func levelOf(step int) float64 { return 1 - 0.05*math.Pow(0.5, float64(step)) }

// Restated returns the audit with Level and Bound computed from its counts. Bound is rounded down to six digits, because the
// last digits of a float differ between processors.
func Restated(a account.Audit) account.Audit {
	a.Level, a.Bound = 0, 0
	if a.Step > 0 && a.Sample > 0 {
		a.Level = levelOf(a.Step)
		a.Bound = math.Floor(1e6*learn.LowerBound(a.Sample-a.Disagreed-a.Missing, a.Sample, a.Level)) / 1e6
	}
	return a
}
