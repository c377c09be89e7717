package learn

import (
	"cmp"
	"math"
	"slices"

	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// Sample is an input of a model.
type Sample struct {
	Host    string           // of a website
	Fields  []classify.Field // the title of a product, or the fields of a page
	Engine  Answers          // in the model's taxonomy
	Builtin Answers          // in the product taxonomy, if the model's taxonomy is custom
}

// Answers are the candidates of an engine, the best first.
type Answers struct {
	Taxonomy *taxonomy.Taxonomy // may be nil without matches
	Matches  []classify.Match
}

// SampleOf returns the sample of an input with the candidates of an engine.
func SampleOf(in classify.Input, e *classify.Engine) Sample {
	s := Sample{Host: in.Host, Fields: in.Page, Engine: AnswersOf(e, in)}
	if in.Title != nil {
		s.Fields = []classify.Field{{Text: classify.Join(in.Title), Weight: 1}}
	}
	return s
}

// AnswersOf returns the candidates of an engine for an input.
func AnswersOf(e *classify.Engine, in classify.Input) Answers {
	return Answers{e.Taxonomy(), e.Candidates(in)}
}

// The kinds of features. A kind is the upper bits of an id.
const (
	kindWord = iota
	kindPair
	kindGram
	kindHost
	kindEngine
	kindBuiltin
	kinds
)

const (
	hashBits = 21
	idBits   = hashBits + 3

	shortText   = 60 // words: in a longer text, letters add nothing to the words
	leastLetter = 3  // of a gram
	mostLetter  = 5

	// The number of words is a feature, too: a title of one word is often a name.
	mostLength  = 5
	lengthValue = 0.5
	lengthHash  = 1 << 20 // beyond the numbers of categories
)

// kindWeights are the lengths to which the vector of each kind's features is scaled.
var kindWeights = [kinds]float64{kindWord: 1, kindPair: 0.7, kindGram: 1, kindHost: 1, kindEngine: 1, kindBuiltin: 1}

// feature is a feature of an input with its value.
type feature struct {
	id    uint32
	value float32
}

// id makes an id of a kind and a hash.
func id(kind int, h uint32) uint32 {
	h ^= h >> 16
	h *= 0x85ebca6b
	h ^= h >> 13
	h *= 0xc2b2ae35
	h ^= h >> 16 // the last step of MurmurHash3: each bit depends on all bits
	return uint32(kind)<<hashBits | h>>(32-hashBits)
}

const (
	hashBase  = 2166136261 // FNV-1a
	hashPrime = 16777619
)

func hash(h uint32, text []byte) uint32 {
	for _, c := range text {
		h = (h ^ uint32(c)) * hashPrime
	}
	return h
}

// counted has the features of a sample with their counts, sorted by id, and the number of its words.
type counted struct {
	features []feature
	words    int
	text     uint64 // a hash of the words in their order
}

// count lists the features of a sample.
func count(s Sample) counted {
	var c counted
	length := 0
	for _, f := range s.Fields {
		for range words.All(f.Text) {
			length++
		}
	}
	if s.Host != "" {
		c.addGrams(kindHost, []byte(s.Host), 1)
		c.mix(hash(hashBase, []byte(s.Host)))
	}
	for _, f := range s.Fields {
		c.addField(f, length <= shortText)
	}
	if len(s.Engine.Matches) == 0 {
		c.add(id(kindEngine, 0), 1)
	}
	c.add(id(kindEngine, lengthHash+uint32(min(c.words, mostLength))), lengthValue)
	c.addAnswers(kindEngine, s.Engine)
	c.addAnswers(kindBuiltin, s.Builtin)
	c.features = slices.Clone(merged(c.features)) // without spare capacity: 100,000 samples are in memory
	return c
}

func (c *counted) add(id uint32, value float32) { c.features = append(c.features, feature{id, value}) }

func (c *counted) mix(h uint32) { c.text = (c.text ^ uint64(h)) * 1099511628211 }

// addField adds the words, pairs and grams of a field.
func (c *counted) addField(f classify.Field, grams bool) {
	weight := float32(f.Weight)
	previous, isFirst := uint32(0), true
	for word := range words.All(f.Text) {
		if c.words++; c.words > classify.MaxDocumentWords {
			return
		}
		h := hash(hashBase, word)
		c.mix(h)
		c.add(id(kindWord, h), weight)
		if !isFirst {
			c.add(id(kindPair, hash(previous, word)), weight)
		}
		previous, isFirst = h, false
		if grams {
			c.addGrams(kindGram, word, weight)
		}
	}
}

// addGrams adds the grams of a word between marks of its start and its end.
func (c *counted) addGrams(kind int, word []byte, weight float32) {
	marked := append(append([]byte{'<'}, word...), '>')
	for i := range marked {
		h := uint32(hashBase)
		for n, letter := range marked[i:min(i+mostLetter, len(marked))] {
			h = (h ^ uint32(letter)) * hashPrime
			if n+1 >= leastLetter {
				c.add(id(kind, h), weight)
			}
		}
	}
}

// addAnswers adds the categories of the answers and their ancestors, each with its largest confidence.
func (c *counted) addAnswers(kind int, answers Answers) {
	own := len(c.features)
	for _, m := range answers.Matches {
		value := float32(m.Confidence)
		for k := m.Category; k >= 0; k = answers.Taxonomy.Categories[k].Parent {
			id := id(kind, uint32(k)+1)
			i := own + slices.IndexFunc(c.features[own:], func(f feature) bool { return f.id == id })
			if i < own {
				c.add(id, value)
				continue
			}
			c.features[i].value = max(c.features[i].value, value)
		}
	}
}

// merged sorts features by id, and sums the values of equal ids.
func merged(list []feature) []feature {
	slices.SortFunc(list, func(a, b feature) int { return cmp.Compare(a.id, b.id) })
	out := list[:0]
	for _, f := range list {
		if n := len(out); n > 0 && out[n-1].id == f.id {
			out[n-1].value += f.value
			continue
		}
		out = append(out, f)
	}
	return out
}

// weigh converts counts to values, in place: rare features weigh more, repetitions of a word add little, and the vector of each
// kind is scaled to the length in kindWeights. idf returns the idf of a feature.
func (c *counted) weigh(idf func(id uint32) float32) {
	for rest := c.features; len(rest) > 0; {
		kind := int(rest[0].id >> hashBits)
		n, sum := 0, 0.0
		for ; n < len(rest) && int(rest[n].id>>hashBits) == kind; n++ {
			if kind < kindEngine {
				rest[n].value = max(1+float32(math.Log(float64(rest[n].value))), 0.3) * idf(rest[n].id)
				sum += float64(rest[n].value) * float64(rest[n].value)
			}
		}
		scale := kindWeights[kind]
		if kind < kindEngine {
			scale /= math.Sqrt(sum)
		}
		for i := range rest[:n] {
			rest[i].value *= float32(scale)
		}
		rest = rest[n:]
	}
}
