package learn

import (
	"cmp"
	"slices"

	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
)

// Contribution is the weight of some words, or of the engine, in favour of an entry.
type Contribution struct {
	Category int    // of the entry
	Words    string // words in lower case and without accents, or a host name; "" for the engine
	Seen     int    // number of examples with the word and the class of the entry; 0 for several words
	Weight   float64
	Share    float64 // Weight as a share; the shares of an entry add up to 1
}

// Explain returns the matches that Predict returns, and the contributions in the order of the matches, the largest of a match
// first. It leaves out weights against an entry.
func (m *Model) Explain(s Sample, limit int) ([]classify.Match, []Contribution) {
	w := m.borrow()
	defer m.working.Put(w)
	c, list, known := m.ranked(w, s)
	matches := m.answer(list, known, limit)
	var all []Contribution
	for i, match := range matches {
		e := explainer{linear: m.linear, values: make(map[uint32]float32), class: m.classOf(list[i].category, w.shares)}
		for _, f := range c.features {
			e.values[f.id] = f.value
		}
		e.addSample(s)
		e.add("", m.Utility.engine(list[i].variables)+e.take(func(id uint32) bool { return id>>hashBits >= kindEngine }), 0)
		all = append(all, e.contributions(match.Category)...)
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
	class  int32
	values map[uint32]float32 // of the features that are not in a contribution yet
	list   []Contribution
}

// add adds a contribution, unless its weight is against the entry.
func (e *explainer) add(words string, weight float64, seen int) {
	if weight > 0 {
		e.list = append(e.list, Contribution{Words: words, Weight: weight, Seen: seen})
	}
}

// addSample adds the host name, each word with its grams, and each pair of words.
func (e *explainer) addSample(s Sample) {
	if s.Host != "" {
		e.add(s.Host, e.take(func(id uint32) bool { return id>>hashBits == kindHost }), 0)
	}
	for _, f := range s.Fields {
		previous, pair := "", uint32(0)
		words.Each(f.Text, func(word []byte) {
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
			e.add(string(word), weight, seen)
			if previous != "" {
				e.add(previous+" "+string(word), e.takeOne(id(kindPair, hash(pair, word))), 0)
			}
			previous, pair = string(word), h
		})
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

// contributions sets the categories and shares of the contributions, and returns them, the largest first.
func (e *explainer) contributions(category int) []Contribution {
	total := 0.0
	for _, c := range e.list {
		total += c.Weight
	}
	for i := range e.list {
		e.list[i].Category, e.list[i].Share = category, e.list[i].Weight/total
	}
	slices.SortStableFunc(e.list, func(a, b Contribution) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Words, b.Words))
	})
	return e.list
}
