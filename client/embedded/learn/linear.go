package learn

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// linear is a linear model. A feature has a weight for each class that it was seen with, and none for other classes.
type linear struct {
	bias    []float32        // by class
	index   map[uint32]int32 // by id: the index of the feature in the lists
	ids     []uint32         // by feature, sorted
	rarity  []uint8          // by feature: see rarities
	unknown uint8            // the rarity of a feature that is not in the lists
	offsets []int32          // by feature: the index of its first weight; at the end, the number of all weights
	classes []int32          // by weight: its class
	seen    []uint16         // by weight: the number of examples of the class with the feature
	weights []int8           // in units of scale
	scale   float32
}

const (
	rate       = 0.5  // of AdaGrad: the length of the first steps
	biasRate   = 0.1  // of biases: low, because the weights should learn first
	decay      = 1e-4 // share of a weight that each step removes
	softening  = 1e-3 // bounds the first step of a weight
	negligible = 1e-5 // smaller gradients are skipped: after rounding to units of scale, they make no difference
	mostWeight = math.MaxInt8

	// maxWeights bounds the file. A weight takes two to three bytes.
	maxWeights = 400_000

	maxFeatures = 250_000 // features without weights in the file, for their rarity
	plainCount  = 4       // least number of inputs with a feature that is not rare

	mostSteps  = 75_000 // each with one example: few examples are repeated more often
	mostEpochs = 30
	fewEpochs  = 2

	learnedWell = 0.999 // an example whose class has a higher probability is skipped
)

// vector is an example for the linear model.
type vector struct {
	features []feature
	class    int32
}

// trained trains a model on the vectors. If ctx ends, it returns early, with an unusable model.
func trained(ctx context.Context, vectors []vector, classes int, rare *rarities) *linear {
	m := &linear{bias: make([]float32, classes)}
	ids := m.layOut(vectors)
	t := trainer{linear: m, exact: make([]float32, len(m.classes)), steps: make([]float32, len(m.classes)), biasSteps: make([]float32, classes)}
	random := rand.New(rand.NewPCG(1, 2)) // a fixed seed: the same examples give the same model
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
	m.sort(rare, m.quantize(t.exact))
	return m
}

// layOut allocates the weights. It replaces the ids of the features in the vectors by their indexes, and returns the ids by
// index.
func (m *linear) layOut(vectors []vector) (ids []uint32) {
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
	seen := make([]int32, starts[len(counts)]) // by feature: the class of each vector with the feature
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
				m.classes, m.seen = append(m.classes, c), append(m.seen, 0) // m.classes never overtakes the group, which is in the same array
			}
			if last := len(m.seen) - 1; m.seen[last] < math.MaxUint16 {
				m.seen[last]++
			}
		}
		m.offsets[i+1] = int32(len(m.classes))
	}
	m.classes, m.seen = slices.Clone(m.classes), slices.Clone(m.seen) // without spare capacity
	return ids
}

// trainer is the state of the training of a model.
type trainer struct {
	*linear
	exact     []float32 // weights
	steps     []float32 // by weight: the sum of the squares of its gradients
	biasSteps []float32
}

// step updates the weights with one example.
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

// softmax converts scores to probabilities, in place.
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

// quantize rounds the weights to bytes. At most maxWeights of them have the magnitude least or a larger magnitude.
func (m *linear) quantize(exact []float32) (least int) {
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
	return least
}

// sort sorts the features by id. It drops the weights that are smaller than least, and rare features without weights. It raises the
// bound of rare features until at most maxFeatures are not rare.
func (m *linear) sort(rare *rarities, least int) {
	isKept := func(weight int8) bool { return magnitude(weight) >= least }
	plain := int32(plainCount)
	for n := maxFeatures + 1; n > maxFeatures; plain *= 2 {
		n, m.ids = 0, m.ids[:0]
		for id, i := range m.index {
			isPlain := rare.counts[id] >= plain
			if isPlain {
				n++
			}
			if isPlain || slices.ContainsFunc(m.weights[m.offsets[i]:m.offsets[i+1]], isKept) {
				m.ids = append(m.ids, id)
			}
		}
	}
	slices.Sort(m.ids)
	sorted := linear{index: make(map[uint32]int32, len(m.ids)), offsets: make([]int32, 1, len(m.ids)+1)}
	m.rarity, m.unknown = make([]uint8, len(m.ids)), rarity(rare.inputs, 1)
	for k, id := range m.ids {
		i := m.index[id]
		for j := m.offsets[i]; j < m.offsets[i+1]; j++ {
			if isKept(m.weights[j]) {
				sorted.classes, sorted.seen, sorted.weights = append(sorted.classes, m.classes[j]), append(sorted.seen, m.seen[j]), append(sorted.weights, m.weights[j])
			}
		}
		sorted.offsets = append(sorted.offsets, int32(len(sorted.weights)))
		sorted.index[id] = int32(k)
		m.rarity[k] = rare.of(id)
	}
	m.index, m.offsets, m.classes, m.seen, m.weights = sorted.index, sorted.offsets, sorted.classes, sorted.seen, sorted.weights
}

// rarityUnit is the number of steps of a rarity in one unit of idf.
const rarityUnit = 20

// rarities gives the rarity of features: their inverse document frequency (idf), in units of 1/rarityUnit.
type rarities struct {
	inputs int
	counts map[uint32]int32 // by id: number of inputs with the feature
}

func (r *rarities) of(id uint32) uint8 { return rarity(r.inputs, r.counts[id]) }

func rarity(inputs int, count int32) uint8 {
	idf := math.Log(float64(inputs+1) / (float64(max(count, 1)) + 0.5))
	return uint8(min(max(math.Round(rarityUnit*idf), 1), math.MaxUint8))
}

func idfOf(rarity uint8) float32 { return float32(rarity) / rarityUnit }

func magnitude(w int8) int { return max(int(w), -int(w)) }

// shares sets the probability of each class, and returns the share of known words. unknown is the number of words that were
// removed from the features.
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
