package learn

import (
	"sync"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/evaluate"
	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// Model classifies into a taxonomy. It is safe for concurrent use.
type Model struct {
	About
	taxonomy *taxonomy.Taxonomy
	linear   *linear
	working  sync.Pool // of *working
	digest   [32]byte  // of the file
}

// About is the readable part of a model's file.
type About struct {
	Kind           client.Kind `json:"kind"`
	Classification string      `json:"classification"`
	Edition        string      `json:"edition"`        // the fingerprint of the taxonomy
	Tree           string      `json:"tree,omitempty"` // a custom taxonomy as CSV; "" for a published taxonomy

	Labels  int     `json:"labels"` // examples
	Pages   int     `json:"pages"`  // examples that are websites whose page was read
	Classes []Class `json:"classes"`

	Engine float64         `json:"engine_top_1"`     // the share of the examples whose first answer by the engine alone is right
	Report evaluate.Report `json:"cross_validation"` // see package documentation

	Compared   int64       `json:"compared"`   // distinct inputs in the cross-validation
	Agreements []Agreement `json:"agreements"` // of the Compared inputs, by falling confidence

	Utility utility     `json:"utility"`
	First   confidences `json:"confidence"`       // of the first entry of an answer
	Later   confidences `json:"later_confidence"` // of the other entries
}

// Class is the allowed categories of a label.
type Class struct {
	Values []string `json:"values"` // paths or codes
	Labels int      `json:"labels"` // number of examples

	categories []int32 // indexes in the taxonomy, sorted
}

// working is the memory of one prediction.
type working struct {
	tree   *tree
	shares []float64
}

func (m *Model) borrow() *working {
	if w, ok := m.working.Get().(*working); ok {
		return w
	}
	return &working{newTree(m.taxonomy, m.Classes), make([]float64, len(m.Classes))}
}

// Published returns the published edition of the model; false for a model of a custom taxonomy.
func (m *Model) Published() (taxonomy.Edition, bool) {
	if m.Tree != "" {
		return taxonomy.Edition{}, false
	}
	return taxonomy.EditionWith(m.Classification, m.Edition)
}

// Custom returns the custom taxonomy of the model; nil for a published taxonomy. file is the name of the model in errors.
func (m *Model) Custom(file string) *taxonomy.Custom {
	if m.Tree == "" {
		return nil
	}
	return &taxonomy.Custom{Taxonomy: *m.taxonomy, File: file, Lines: make([]int, len(m.taxonomy.Categories))}
}

// Predict returns at most limit categories of an input, the best first.
func (m *Model) Predict(s Sample, limit int) []classify.Match {
	w := m.borrow()
	defer m.working.Put(w)
	_, list, known := m.ranked(w, s)
	return m.answer(list, known, limit)
}

// ranked returns the features of an input, its candidates, the best first, and the share of known words.
func (m *Model) ranked(w *working, s Sample) (counted, []candidate, float64) {
	c := count(s)
	c.weigh(m.linear.idf)
	known := m.linear.shares(c.features, 0, w.shares)
	list := w.tree.candidates(m.Classes, w.shares, s.Engine.Matches)
	m.Utility.rank(list)
	return c, list, known
}

func (m *linear) idf(id uint32) float32 {
	if i, ok := m.index[id]; ok {
		return idfOf(m.rarity[i])
	}
	return idfOf(m.unknown)
}

// answer returns the entries of ranked candidates.
func (m *Model) answer(list []candidate, known float64, limit int) []classify.Match {
	var matches []classify.Match
	ceiling, confidence := 1.0, &m.First
	for i, v := range evidence(m.taxonomy, list, known, limit) {
		// No entry has a higher confidence than the entry before it.
		ceiling = min(ceiling, confidence.of(v))
		if ceiling < classify.LeastConfidence {
			break
		}
		matches = append(matches, classify.Match{Category: int(list[i].category), Confidence: ceiling})
		confidence = &m.Later
	}
	return matches
}
