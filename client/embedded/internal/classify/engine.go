package classify

import (
	"math"
	"strings"
	"sync"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// Input is the title of a product, or a website.
type Input struct {
	Title []Field  // the parts of a product's title; nil for a website
	Host  string   // of a website
	Path  []string // the words of the URL's path
	Page  []Field  // none without a page
}

// Field is a part of a page or of a title.
type Field struct {
	Name   string // for explanations
	Text   string
	Weight float64 // of a page's words: 1 for a body, 3 for a title; a field of 0 or less is not read
}

// Join joins the parts of a title with bars.
func Join(parts []Field) string {
	if len(parts) == 1 {
		return parts[0].Text
	}
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteString(" | ")
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

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

// MaxCandidates is the most candidates of an input.
const MaxCandidates = 8

// Matches returns at most limit categories of an input, the best first; none if no category fits. It reads the first 64 words of a
// title, which after AddNames may be in one of words.Languages. It classifies the host name of a website, the words of the path
// and the fields of the page. Without words in the page the confidence is lower.
func (e *Engine) Matches(in Input, limit int) []Match {
	return e.match(in, limit, LeastConfidence, e.title)
}

// Candidates returns up to MaxCandidates categories with the best scores for an input, the best first. Unlike Matches, it includes
// categories of low confidence. The confidences for a title are those of an engine without links.
func (e *Engine) Candidates(in Input) []Match { return e.match(in, MaxCandidates, 0, &titleFit) }

// match returns the best categories of an input whose confidence is at least least. title is the calibration for titles.
func (e *Engine) match(in Input, limit int, least float64, title *calibration) []Match {
	e = e.forInput(in)
	s := e.borrow()
	defer e.giveBack(s)
	fit := e.score(s, in)
	if in.Title != nil {
		fit = title
	}
	return e.candidates(s, limit, fit, least)
}

// score ranks the categories for an input, and returns the calibration for its kind.
func (e *Engine) score(s *scratch, in Input) *calibration {
	switch {
	case in.Title != nil:
		e.scoreTitle(s, Join(in.Title))
		return e.title
	case e.scoreWebsite(s, in.Host, in.Path, in.Page):
		return e.document
	}
	return e.name
}

// borrow returns a cleared scratch.
func (e *Engine) borrow() *scratch { return e.scratch.Get().(*scratch) }

func (e *Engine) giveBack(s *scratch) {
	s.clear()
	e.scratch.Put(s)
}
