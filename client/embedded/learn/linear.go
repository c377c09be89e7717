package learn

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// linear is a linear model. A feature has a weight for each class that it was seen with, and none for the others.
type linear struct {
	bias    []float32        // by class
	index   map[uint32]int32 // by id: the place of the feature in the lists
	ids     []uint32         // by feature, sorted
	rarity  []uint8          // by feature: see rarities
	unknown uint8            // the rarity of a feature that is not in the lists
	offsets []int32          // by feature: its first weight; and the number of all weights
	classes []int32          // by weight: its class
	seen    []uint16         // by weight: the examples of the class with the feature
	weights []int8           // in units of scale
	scale   float32
}

const (
	rate       = 0.5  // of AdaGrad: the first steps
	biasRate   = 0.1  // of biases, which should not learn the words
	decay      = 1e-4 // of a weight at each step
	softening  = 1e-3 // of the steps of weights that have not changed yet
	negligible = 1e-5 // gradients below it change nothing that a weight in units of scale can show
	mostWeight = math.MaxInt8

	// maxWeights bounds the file: a weight takes two to three bytes.
	maxWeights = 400_000

	maxFeatures = 250_000 // without weights, whose rarity is known nevertheless
	plainCount  = 4       // inputs with a feature that is not rare

	mostSteps  = 75_000 // of an example each: few examples are seen often
	mostEpochs = 30
	fewEpochs  = 2

	learnedWell = 0.999 // the probability of its class from which on an example teaches nothing
)

// vector is an example for the linear model.
type vector struct {
	features []feature
	class    int32
}

// trained trains a model of the vectors. It stops early when ctx ends; the model is useless then.
func trained(ctx context.Context, vectors []vector, classes int, rare *rarities) *linear {
	m := &linear{bias: make([]float32, classes)}
	ids := m.lay(vectors)
	t := trainer{linear: m, exact: make([]float32, len(m.classes)), steps: make([]float32, len(m.classes)), biasSteps: make([]float32, classes)}
	random := rand.New(rand.NewPCG(1, 2)) // the same order for the same examples
	order := make([]int, len(vectors))
	for i := range order {
		order[i] = i
	}
	errors := make([]float32, classes)
	scores := make([]float64, classes)
	for range min(max(mostSteps/len(vectors), fewEpochs), mostEpochs) {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, k := range order {
			if ctx.Err() != nil {
				return m
			}
			t.step(vectors[k], scores, errors)
		}
	}
	for _, v := range vectors {
		for j := range v.features {
			v.features[j].id = ids[v.features[j].id]
		}
	}
	m.quantize(t.exact)
	m.sort(rare)
	return m
}

// lay makes place for the weights. It replaces the ids of the features of the vectors by their places, and returns the ids by
// place.
func (m *linear) lay(vectors []vector) (ids []uint32) {
	number := make(map[uint32]int32)
	var counts []int32
	for _, v := range vectors {
		for _, f := range v.features {
			i, ok := number[f.id]
			if !ok {
				i = int32(len(counts))
				number[f.id] = i
				ids = append(ids, f.id)
				counts = append(counts, 0)
			}
			counts[i]++
		}
	}
	starts := make([]int32, len(counts)+1)
	for i, n := range counts {
		starts[i+1] = starts[i] + n
	}
	seen := make([]int32, starts[len(counts)]) // by feature: the class of each vector with it
	next := slices.Clone(starts)
	for _, v := range vectors {
		for j, f := range v.features {
			i := number[f.id]
			seen[next[i]] = v.class
			next[i]++
			v.features[j].id = uint32(i)
		}
	}
	m.index = number
	m.offsets = make([]int32, len(counts)+1)
	m.classes = seen[:0]
	for i := range counts {
		group := seen[starts[i]:starts[i+1]]
		slices.Sort(group)
		for k, c := range group {
			if k == 0 || c != m.classes[len(m.classes)-1] {
				m.classes, m.seen = append(m.classes, c), append(m.seen, 0) // the classes never get beyond the group
			}
			if last := len(m.seen) - 1; m.seen[last] < math.MaxUint16 {
				m.seen[last]++
			}
		}
		m.offsets[i+1] = int32(len(m.classes))
	}
	m.classes, m.seen = slices.Clone(m.classes), slices.Clone(m.seen) // the group of each feature took more memory
	return ids
}

// trainer is the state of the training of a model.
type trainer struct {
	*linear
	exact     []float32 // weights
	steps     []float32 // by weight: the sum of the squares of its gradients
	biasSteps []float32
}

// step changes the weights by one example.
func (t *trainer) step(v vector, scores []float64, errors []float32) {
	for c, b := range t.bias {
		scores[c] = float64(b)
	}
	for _, f := range v.features {
		from, to := t.offsets[f.id], t.offsets[f.id+1]
		classes, weights := t.classes[from:to], t.exact[from:to]
		for n, c := range classes {
			scores[c] += float64(weights[n] * f.value)
		}
	}
	softmax(scores)
	if scores[v.class] > learnedWell {
		return
	}
	scores[v.class]--
	for c, e := range scores {
		errors[c] = float32(e)
		t.biasSteps[c] += errors[c] * errors[c]
		t.bias[c] -= biasRate * errors[c] / (sqrt(t.biasSteps[c]) + softening)
	}
	for _, f := range v.features {
		from, to := t.offsets[f.id], t.offsets[f.id+1]
		classes, weights, steps := t.classes[from:to], t.exact[from:to], t.steps[from:to]
		for n, c := range classes {
			g := errors[c]*f.value + decay*weights[n]
			if g < negligible && g > -negligible {
				continue
			}
			steps[n] += g * g
			weights[n] -= rate * g / (sqrt(steps[n]) + softening)
		}
	}
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// softmax turns scores into probabilities.
func softmax(scores []float64) {
	if len(scores) == 0 {
		return
	}
	most, sum := slices.Max(scores), 0.0
	for i, s := range scores {
		scores[i] = math.Exp(s - most)
		sum += scores[i]
	}
	for i := range scores {
		scores[i] /= sum
	}
}

// quantize keeps the largest weights, each in a byte.
func (m *linear) quantize(exact []float32) {
	largest := float32(0)
	for _, w := range exact {
		largest = max(largest, w, -w)
	}
	m.scale = max(largest, softening) / mostWeight
	m.weights = make([]int8, len(exact))
	var sizes [mostWeight + 1]int
	for i, w := range exact {
		m.weights[i] = int8(math.Round(float64(w / m.scale)))
		sizes[magnitude(m.weights[i])]++
	}
	least, kept := mostWeight+1, 0
	for least > 1 && kept+sizes[least-1] <= maxWeights {
		least--
		kept += sizes[least]
	}
	m.drop(least)
}

// drop drops the weights that are smaller than least.
func (m *linear) drop(least int) {
	kept := int32(0) // the lists are shortened in place
	from := int32(0)
	for i := range len(m.offsets) - 1 {
		to := m.offsets[i+1]
		for j := from; j < to; j++ {
			if magnitude(m.weights[j]) >= least {
				m.classes[kept], m.seen[kept], m.weights[kept] = m.classes[j], m.seen[j], m.weights[j]
				kept++
			}
		}
		from = to
		m.offsets[i+1] = kept
	}
	m.classes, m.seen, m.weights = m.classes[:kept], m.seen[:kept], m.weights[:kept]
}

// sort sorts the features by id. It drops features that have no weight and are as rare as an unknown one.
func (m *linear) sort(rare *rarities) {
	least := int32(plainCount)
	for n := maxFeatures + 1; n > maxFeatures; least *= 2 {
		n, m.ids = 0, m.ids[:0]
		for id, i := range m.index {
			isPlain := rare.counts[id] >= least
			if isPlain {
				n++
			}
			if isPlain || m.offsets[i] < m.offsets[i+1] {
				m.ids = append(m.ids, id)
			}
		}
	}
	slices.Sort(m.ids)
	classes, seen, weights := make([]int32, 0, len(m.weights)), make([]uint16, 0, len(m.weights)), make([]int8, 0, len(m.weights))
	offsets := make([]int32, 1, len(m.ids)+1)
	index := make(map[uint32]int32, len(m.ids))
	m.rarity, m.unknown = make([]uint8, len(m.ids)), rarity(rare.inputs, 1)
	for k, id := range m.ids {
		i := m.index[id]
		from, to := m.offsets[i], m.offsets[i+1]
		classes, seen, weights = append(classes, m.classes[from:to]...), append(seen, m.seen[from:to]...), append(weights, m.weights[from:to]...)
		offsets = append(offsets, int32(len(weights)))
		index[id] = int32(k)
		m.rarity[k] = rare.of(id)
	}
	m.index, m.offsets, m.classes, m.seen, m.weights = index, offsets, classes, seen, weights
}

// rarityUnit is the number of steps of a rarity in one unit of idf.
const rarityUnit = 20

// rarities give the rarity of features: their inverse document frequency (idf), in units of 1/rarityUnit.
type rarities struct {
	inputs int
	counts map[uint32]int32 // by id: inputs with the feature
}

func (r *rarities) of(id uint32) uint8 { return rarity(r.inputs, r.counts[id]) }

func rarity(inputs int, count int32) uint8 {
	idf := math.Log(float64(inputs+1) / (float64(max(count, 1)) + 0.5))
	return uint8(min(max(math.Round(rarityUnit*idf), 1), math.MaxUint8))
}

func idfOf(rarity uint8) float32 { return float32(rarity) / rarityUnit }

func magnitude(w int8) int { return max(int(w), -int(w)) }

// shares sets the probability of each class, and returns the share of the words that are known. unknown is the number of
// words that are not among the features.
func (m *linear) shares(features []feature, unknown int, shares []float64) (known float64) {
	for c, b := range m.bias {
		shares[c] = float64(b)
	}
	words, found := unknown, 0
	for _, f := range features {
		i, ok := m.index[f.id]
		if f.id>>hashBits == kindWord {
			words++
			if ok {
				found++
			}
		}
		if !ok {
			continue
		}
		value := f.value * m.scale
		for j := m.offsets[i]; j < m.offsets[i+1]; j++ {
			shares[m.classes[j]] += float64(float32(m.weights[j]) * value)
		}
	}
	softmax(shares)
	return float64(found) / float64(max(words, 1))
}
