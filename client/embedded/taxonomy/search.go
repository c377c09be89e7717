package taxonomy

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
)

// Found is a category that a search has found.
type Found struct {
	Category int    // index in the taxonomy's Categories
	Phrase   string // the name or alias that fits best
	Fit      float64
}

// nameAdvantage puts a category with a matching name before one with a matching alias.
const nameAdvantage = 1.05

// Search returns the categories whose name or alias has at least half of the query's words, the best first. It compares words
// as the service does: without case, accents and plural endings.
func (t *Taxonomy) Search(query string) []Found {
	terms := distinct(words.Terms(query))
	if len(terms) == 0 {
		return nil
	}
	var list []Found
	for i := range t.Categories {
		c := &t.Categories[i]
		best := Found{i, c.Name, nameAdvantage * fit(terms, c.Name)}
		for _, alias := range c.Aliases {
			if f := fit(terms, alias); f > best.Fit {
				best = Found{i, alias, f}
			}
		}
		if best.Fit > 0 {
			list = append(list, best)
		}
	}
	slices.SortStableFunc(list, func(a, b Found) int {
		return cmp.Or(cmp.Compare(b.Fit, a.Fit), cmp.Compare(t.Categories[a.Category].Depth, t.Categories[b.Category].Depth))
	})
	return list
}

// fit is Dice's coefficient of the query's and the phrase's terms. It is 0 if the phrase has less than half of the query's
// terms.
func fit(terms []string, phrase string) float64 {
	own := distinct(words.Terms(phrase))
	common := 0
	for _, term := range terms {
		if slices.Contains(own, term) {
			common++
		}
	}
	if 2*common < len(terms) {
		return 0
	}
	return 2 * float64(common) / float64(len(terms)+len(own))
}

func distinct(terms []string) []string {
	slices.Sort(terms)
	return slices.Compact(terms)
}

// Describe returns a text with the category's path, its title if it has one, and the matching phrase unless that is the
// category's name.
func (f Found) Describe(t *Taxonomy) string {
	category := &t.Categories[f.Category]
	text := category.Path
	if category.Title != "" {
		text += "  " + category.Title
	}
	if f.Phrase != category.Name {
		text += fmt.Sprintf("  (%s)", f.Phrase)
	}
	return text
}
