package classify

import (
	"regexp"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// parts splits a name at what joins alternatives: "Coats & Jackets",
// "Action/Adventure", "Skis, Boots and Poles".
var parts = regexp.MustCompile(`\s*(?:[,/;()]|\s&\s|\sand\s|\sor\s)\s*`)

// exceptions tell what a NAICS industry is not.
var exceptions = regexp.MustCompile(`\s*\(?\bexcept\b[^)]*\)?`)

// namePhrases returns the phrases a category's name stands for: the whole name
// and each of its alternatives. A short alternative borrows the words it shares
// with its neighbours: "Baby & Toddler Clothing" gives "Baby Clothing", and
// "Vehicle Parts & Accessories" gives "Vehicle Accessories".
func namePhrases(name string) []string {
	name = exceptions.ReplaceAllString(name, "")
	phrases := []string{name}
	alternatives := parts.Split(name, -1)
	if len(alternatives) == 1 {
		return phrases
	}
	first := strings.Fields(alternatives[0])
	last := strings.Fields(alternatives[len(alternatives)-1])
	for i, a := range alternatives {
		words := strings.Fields(a)
		switch {
		case len(words) == 0:
			continue
		case i < len(alternatives)-1 && len(words) == 1 && len(last) > 1 && !strings.HasSuffix(a, "s"):
			a += " " + last[len(last)-1]
		case i > 0 && len(words) == 1 && len(first) > 1:
			phrases = append(phrases, strings.Join(first[:len(first)-1], " ")+" "+a)
		}
		phrases = append(phrases, a)
	}
	return phrases
}

// categoryPhrases returns all phrases of a category, its name's first.
func categoryPhrases(c *taxonomy.Category) []string {
	return append(namePhrases(c.Name), c.Aliases...)
}
