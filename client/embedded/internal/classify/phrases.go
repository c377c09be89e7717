package classify

import (
	"regexp"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// parts matches the separators of alternatives in a name: "Coats & Jackets",
// "Action/Adventure", "Skis, Boots and Poles".
var parts = regexp.MustCompile(`\s*(?:[,/;()]|\s&\s|\sand\s|\sor\s)\s*`)

// exceptions matches the part of a NAICS title that excludes other industries.
var exceptions = regexp.MustCompile(`\s*\(?\bexcept\b[^)]*\)?`)

// wording is a phrase before it is indexed.
type wording struct {
	text string
	bare bool // lacks the words that it may share with its neighbours
}

// namePhrases returns the phrases of a category's name: the whole name and each of its alternatives. A short alternative takes
// the words that it shares with its neighbours: "Baby & Toddler Clothing" gives "Baby Clothing", and "Vehicle Parts &
// Accessories" gives "Vehicle Accessories". An alternative that takes words of the first is also a bare phrase: it may not share
// them.
func namePhrases(name string) []wording {
	if strings.Contains(name, "except") {
		name = exceptions.ReplaceAllString(name, "")
	}
	phrases := []wording{{text: name}}
	if !mayHaveParts(name) {
		return phrases
	}
	alternatives := parts.Split(name, -1)
	first := strings.Fields(alternatives[0])
	last := strings.Fields(alternatives[len(alternatives)-1])
	for i, a := range alternatives {
		n := len(strings.Fields(a))
		switch {
		case n == 0:
			continue
		case i < len(alternatives)-1 && n == 1 && len(last) > 1 && !strings.HasSuffix(a, "s"):
			phrases = append(phrases, wording{text: a + " " + last[len(last)-1]})
		case i > 0 && n == 1 && len(first) > 1:
			borrowed := strings.Join(first[:len(first)-1], " ") + " " + a
			phrases = append(phrases, wording{text: borrowed}, wording{text: a, bare: true})
		default:
			phrases = append(phrases, wording{text: a})
		}
	}
	return phrases
}

// mayHaveParts is a quick test for separators: regular expressions are slow, and there are
// thousands of names.
func mayHaveParts(name string) bool {
	return strings.ContainsAny(name, ",/;()&") || strings.Contains(name, " and ") || strings.Contains(name, " or ")
}

// categoryPhrases returns all phrases of a category. The aliases, which are never bare, are first, because the first of equal
// phrases counts.
func categoryPhrases(c *taxonomy.Category) []wording {
	var phrases []wording
	for _, a := range c.Aliases {
		phrases = append(phrases, wording{text: a})
	}
	return append(phrases, namePhrases(c.Name)...)
}

// phraseKeys returns a category's phrases as their terms, sorted, each once.
func phraseKeys(c *taxonomy.Category) []string {
	var keys []string
	for _, phrase := range categoryPhrases(c) {
		if key := words.Key(phrase.text); key != "" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}
