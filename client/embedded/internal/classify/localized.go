package classify

import (
	"slices"
	"strings"
	"sync"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// localized has the engines of a taxonomy for titles in other languages than English. Each is built when it is first needed.
type localized struct {
	engines []func() *Engine              // in the order of languages
	words   func() map[string]languageSet // see knownWords
}

// AddNames adds the languages other than English. names returns the names of the taxonomy's categories, by language and id.
// Call AddNames before any other method.
func (e *Engine) AddNames(names func() map[string]map[string]string) {
	l := &localized{words: sync.OnceValue(func() map[string]languageSet { return knownWords(names()) })}
	for _, lang := range languages {
		l.engines = append(l.engines, sync.OnceValue(func() *Engine { return translated(e.taxonomy, names()[lang.code], lang) }))
	}
	e.localized = l
}

// forTitle returns the engine of a title's language; e itself for English.
func (e *Engine) forTitle(title string) *Engine {
	if e.localized == nil {
		return e
	}
	if i := e.detect(title); i >= 0 {
		return e.localized.engines[i]()
	}
	return e
}

// translated builds the engine of a language. Its categories keep the English phrases, which occur in titles of all languages.
func translated(t *taxonomy.Taxonomy, names map[string]string, lang *language) *Engine {
	local := &taxonomy.Taxonomy{Name: t.Name, Categories: slices.Clone(t.Categories)}
	known := nameWords(names, lang)
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
		case lang.spaceless:
			c.Name = strings.Join(alternatives(name), ", ")
			for _, a := range alternatives(name) {
				c.Aliases = append(c.Aliases, known.separate(a, true))
			}
		case lang.compounds:
			c.Aliases = append(c.Aliases, known.splitCompounds(name)...)
		}
	}
	e := newEngine(local, lang)
	if lang.spaceless {
		e.spaceless = &known
	}
	return e
}

// lexicon has the words of the names in one language.
type lexicon struct {
	*language
	words map[string]bool // stemmed words; in a language without spaces, the alternatives in names
}

func nameWords(names map[string]string, lang *language) lexicon {
	k := lexicon{lang, make(map[string]bool)}
	var r reader
	for _, name := range names {
		if lang.spaceless {
			for _, a := range alternatives(name) {
				k.words[a] = true
			}
			continue
		}
		for r.reset(name); r.next(); {
			k.words[string(lang.stem(r.word))] = true
		}
	}
	return k
}

// splitCompounds returns the phrases of a name that have compounds, with the compounds split in two: "Nachttisch lampe" for
// "Nachttischlampe".
func (k *lexicon) splitCompounds(name string) (phrases []string) {
	var r reader
	for _, w := range namePhrases(name) {
		var words []string
		parted := false
		for r.reset(w.text); r.next(); {
			word := string(r.word)
			for from := range k.lastParts(word) {
				if k.words[string(k.stem([]byte(word[from:])))] {
					words, word, parted = append(words, word[:from]), word[from:], true
					break
				}
			}
			words = append(words, word)
		}
		if parted {
			phrases = append(phrases, strings.Join(words, " "))
		}
	}
	return phrases
}
