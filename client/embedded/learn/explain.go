package learn

import (
	"slices"

	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
)

// The fields of contributions: words of labelled inputs, and the answer of the engine.
const (
	labelField  = "labels"
	engineField = "engine"
)

// Explain returns the matches that Predict returns, and the contributions of words of labelled inputs and of the engine, in the
// order of the matches, the largest of a match first. It leaves out weights against an entry.
func (m *Model) Explain(s Sample, limit int) ([]classify.Match, []classify.Contribution) {
	w := m.borrow()
	defer m.working.Put(w)
	c, list, known := m.ranked(w, s)
	matches := m.answer(list, known, limit)
	var all []classify.Contribution
	for i, match := range matches {
		e := explainer{linear: m.linear, category: match.Category, values: make(map[uint32]float32), class: m.classOf(list[i].category, w.shares)}
		for _, f := range c.features {
			e.values[f.id] = f.value
		}
		e.addSample(s)
		e.add(engineField, "(the words of its names)", m.Utility.engine(list[i].variables)+e.take(func(id uint32) bool { return id>>hashBits >= kindEngine }), 0)
		all = append(all, classify.SetShares(e.list)...)
	}
	return matches, all
}

// engine returns the part of a utility that comes from the engine's variables.
func (u *utility) engine(v [uses]float64) float64 {
	sum := 0.0
	for _, k := range []int{useEngine, useOdds, useFirst, useAbove, useBelow} {
		sum += u[k] * v[k]
	}
	return sum
}

// classOf returns the likeliest class that allows a category or an ancestor; -1 if there is none.
func (m *Model) classOf(category int32, shares []float64) int32 {
	best := int32(-1)
	for i, c := range m.Classes {
		if isRight(m.taxonomy, category, c.categories) && (best < 0 || shares[i] > shares[best]) {
			best = int32(i)
		}
	}
	return best
}

// explainer collects the contributions to one entry.
type explainer struct {
	*linear
	category int
	class    int32
	values   map[uint32]float32 // of the features that are not in a contribution yet
	list     []classify.Contribution
}

// add adds a contribution, unless its weight is against the entry.
func (e *explainer) add(field, words string, weight float64, seen int) {
	if weight > 0 {
		e.list = append(e.list, classify.Contribution{
			Category: e.category, Speaker: e.category, Link: -1, Words: words, Fields: []string{field}, Weight: weight, Seen: seen,
		})
	}
}

// addSample adds the host name, each word with its grams, and each pair of words.
func (e *explainer) addSample(s Sample) {
	if s.Host != "" {
		e.add(labelField, s.Host, e.take(func(id uint32) bool { return id>>hashBits == kindHost }), 0)
	}
	for _, f := range s.Fields {
		previous, pair := "", uint32(0)
		for word := range words.All(f.Text) {
			h := hash(hashBase, word)
			seen := 0
			if j := e.find(id(kindWord, h)); j >= 0 {
				seen = int(e.seen[j])
			}
			var own counted
			own.add(id(kindWord, h), 1)
			own.addGrams(kindGram, word, 1)
			weight := 0.0
			for _, f := range own.features {
				weight += e.takeOne(f.id)
			}
			e.add(labelField, string(word), weight, seen)
			if previous != "" {
				e.add(labelField, previous+" "+string(word), e.takeOne(id(kindPair, hash(pair, word))), 0)
			}
			previous, pair = string(word), h
		}
	}
}

// find returns the index of a feature's weight for the class; -1 if there is none.
func (e *explainer) find(id uint32) int32 {
	i, ok := e.index[id]
	if !ok {
		return -1
	}
	for j := e.offsets[i]; j < e.offsets[i+1]; j++ {
		if e.classes[j] == e.class {
			return j
		}
	}
	return -1
}

// takeOne removes a feature from values, and returns its weight for the entry.
func (e *explainer) takeOne(id uint32) float64 {
	value, ok := e.values[id]
	delete(e.values, id)
	if j := e.find(id); ok && j >= 0 {
		return float64(float32(e.weights[j]) * value * e.scale)
	}
	return 0
}

// take removes the chosen features from values, and returns the sum of their weights.
func (e *explainer) take(chosen func(id uint32) bool) float64 {
	var ids []uint32
	for id := range e.values {
		if chosen(id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids) // the order of the terms changes the last bits of the sum
	sum := 0.0
	for _, id := range ids {
		sum += e.takeOne(id)
	}
	return sum
}
