package classify

import (
	"math"
	"sync"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// Match is a category of an answer.
type Match struct {
	Category   int     // index in the taxonomy's Categories
	Confidence float64 // above 0, at most 1
}

// Engine classifies texts into one taxonomy. It is safe for concurrent use.
type Engine struct {
	taxonomy   *taxonomy.Taxonomy
	index      *index
	top        []int32   // by category: its top-level ancestor
	words      []float64 // by category: the variable ofWords
	wordsUnder []float64 // by top-level category: the variable ofWordsTop
	title      *calibration
	document   *calibration   // for documents
	name       *calibration   // for names without a page
	scratch    sync.Pool      // of *scratch
	links      *linkage       // to another taxonomy; nil for none
	localized  *localized     // engines for other languages; nil if all titles are read as English
	spaceless  *words.Lexicon // the words of a language without spaces; nil for other languages
}

// New builds an engine, which takes a fraction of a second. Build one engine per taxonomy.
func New(t *taxonomy.Taxonomy) *Engine { return newEngine(t, words.English) }

// newEngine builds an engine for titles in one language.
func newEngine(t *taxonomy.Taxonomy, lang *words.Language) *Engine {
	e := &Engine{taxonomy: t, index: buildIndex(t, lang), top: topLevels(t), title: &titleFit, document: &pageFit, name: &nameFit}
	if len(t.Categories) > 0 && t.Categories[0].Code != "" {
		e.document, e.name = &companyFit, &companyNameFit // codes are for industries
	}
	e.words, e.wordsUnder = make([]float64, len(t.Categories)), make([]float64, len(t.Categories))
	for _, p := range e.index.phrases {
		e.words[p.category]++
		e.wordsUnder[e.top[p.category]]++
	}
	for c := range t.Categories {
		e.words[c], e.wordsUnder[c] = math.Log1p(e.words[c]), math.Log1p(e.wordsUnder[c])
	}
	e.scratch.New = func() any { return newScratch(e.index, len(t.Categories)) }
	return e
}

// Taxonomy returns the taxonomy of the engine.
func (e *Engine) Taxonomy() *taxonomy.Taxonomy { return e.taxonomy }

// borrow returns a cleared scratch.
func (e *Engine) borrow() *scratch { return e.scratch.Get().(*scratch) }

func (e *Engine) giveBack(s *scratch) {
	s.clear()
	e.scratch.Put(s)
}
