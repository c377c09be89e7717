package classify

import (
	"slices"
	"strings"
	"sync"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// stemmedVariants is variants with both spellings stemmed.
var stemmedVariants = sync.OnceValue(func() map[string]string {
	stemmed := make(map[string]string, len(variants))
	for from, to := range variants {
		stemmed[string(stem([]byte(from)))] = string(stem([]byte(to)))
	}
	return stemmed
})

// Terms returns the words of a text as an engine compares them: folded, stemmed, in the spelling of variants, and without stop
// words.
func Terms(text string) []string {
	var terms []string
	var r reader
	for r.reset(text); r.next(); {
		if stopWords[string(r.word)] {
			continue
		}
		term := string(stem(r.word))
		if common, ok := stemmedVariants()[term]; ok {
			term = common
		}
		terms = append(terms, term)
	}
	return terms
}

// phraseKeys returns a category's phrases as their terms, sorted, each once.
func phraseKeys(c *taxonomy.Category) []string {
	var keys []string
	for _, phrase := range categoryPhrases(c) {
		if key := strings.Join(Terms(phrase.text), " "); key != "" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
