package classify

import (
	"regexp"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// parts matches the separators of alternatives in a name: "Coats & Jackets",
// "Action/Adventure", "Skis, Boots and Poles".
var parts = regexp.MustCompile(`\s*(?:[,/;()]|\s&\s|\sand\s|\sor\s)\s*`)

// exceptions match the part of a NAICS title that says what the industry is not.
var exceptions = regexp.MustCompile(`\s*\(?\bexcept\b[^)]*\)?`)

// wording is a phrase before it is indexed.
type wording struct {
	text string
	bare bool // without the words that it may share with its neighbours
}

// namePhrases returns the phrases a category's name stands for: the whole name
// and each of its alternatives. A short alternative borrows the words it shares
// with its neighbours: "Baby & Toddler Clothing" gives "Baby Clothing", and "Vehicle Parts &
// Accessories" gives "Vehicle Accessories". If it is not certain that the words are shared, the
// alternative also stays as a bare phrase.
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
		words := strings.Fields(a)
		switch {
		case len(words) == 0:
			continue
		case i < len(alternatives)-1 && len(words) == 1 && len(last) > 1 && !strings.HasSuffix(a, "s"):
			phrases = append(phrases, wording{text: a + " " + last[len(last)-1]})
		case i > 0 && len(words) == 1 && len(first) > 1:
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

// categoryPhrases returns all phrases of a category, the aliases first: of equal
// phrases the first counts, and an alias is never bare.
func categoryPhrases(c *taxonomy.Category) []wording {
	var phrases []wording
	for _, a := range c.Aliases {
		phrases = append(phrases, wording{text: a})
	}
	return append(phrases, namePhrases(c.Name)...)
}
