package classify

import (
	"slices"
	"strings"
	"sync"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// localized has the engines of a taxonomy for titles in languages other than English, each built when first needed.
type localized struct {
	engines []func() *Engine                    // in the order of words.Languages
	words   func() map[string]words.LanguageSet // see words.KnownWords
}

// AddNames adds the languages other than English. names returns the names of the taxonomy's categories, by language and id.
// Call AddNames before any other method.
func (e *Engine) AddNames(names func() map[string]map[string]string) {
	l := &localized{words: sync.OnceValue(func() map[string]words.LanguageSet { return words.KnownWords(names()) })}
	for _, lang := range words.Languages {
		l.engines = append(l.engines, sync.OnceValue(func() *Engine { return translated(e.taxonomy, names()[lang.Code], lang) }))
	}
	e.localized = l
}

// forInput returns the engine of a title's language; e itself for a website.
func (e *Engine) forInput(in Input) *Engine {
	if in.Title == nil {
		return e
	}
	return e.forTitle(Join(in.Title))
}

// forTitle returns the engine of a title's language; e itself for English.
func (e *Engine) forTitle(title string) *Engine {
	if e.localized == nil {
		return e
	}
	var buf [words.MaxWord]byte
	isEnglish := func(word []byte) bool {
		first, last := e.index.resolve(append(buf[:0], word...))
		return first != noTerm || last != noTerm
	}
	if i := words.Detect(title, maxTitleWords, e.localized.words, isEnglish); i != words.NoLanguage {
		return e.localized.engines[i]()
	}
	return e
}

// translated builds the engine of a language. Its categories keep the English phrases, which occur in titles of all languages.
func translated(t *taxonomy.Taxonomy, names map[string]string, lang *words.Language) *Engine {
	local := &taxonomy.Taxonomy{Name: t.Name, Categories: slices.Clone(t.Categories)}
	known := words.NewLexicon(names, lang)
	for i := range local.Categories {
		c := &local.Categories[i]
		name, ok := names[c.ID]
		if !ok {
			continue
		}
		c.Aliases = slices.Clone(c.Aliases)
		for _, w := range namePhrases(c.Name) {
			c.Aliases = append(c.Aliases, w.text)
		}
		c.Name = name
		switch {
		case lang.Spaceless:
			c.Name = strings.Join(words.Alternatives(name), ", ")
			for _, a := range words.Alternatives(name) {
				c.Aliases = append(c.Aliases, known.Separate(a, true))
			}
		case lang.Compounds:
			for _, w := range namePhrases(name) {
				if split, found := known.SplitCompounds(w.text); found {
					c.Aliases = append(c.Aliases, split)
				}
			}
		}
	}
	e := newEngine(local, lang)
	if lang.Spaceless {
		e.spaceless = known
	}
	return e
}
