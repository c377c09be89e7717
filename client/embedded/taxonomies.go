package embedded

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// CheckTaxonomy returns the faults of a custom taxonomy in the order of its lines: the faults of the file
// ([taxonomy.Custom.Check]), and categories that the service cannot tell apart or cannot find by any word.
func CheckTaxonomy(c *taxonomy.Custom) []taxonomy.Finding {
	findings := append(c.Check(), classify.Check(c)...)
	slices.SortStableFunc(findings, func(a, b taxonomy.Finding) int { return cmp.Compare(a.Line, b.Line) })
	return findings
}

// shownLink is the least weight of a link that LinkTaxonomy returns: weaker links are guesses.
const shownLink = 0.05

// LinkTaxonomy returns the links of each category of a custom taxonomy to categories of product_taxonomy, as "PATH=WEIGHT".
func LinkTaxonomy(c *taxonomy.Custom) [][]string {
	e := linked(&c.Taxonomy)
	all := make([][]string, len(c.Categories))
	for i := range all {
		for _, link := range e.Links(i) {
			if link.Weight >= shownLink {
				all[i] = append(all[i], fmt.Sprintf("%s=%.2f", e.Base().Categories[link.Category].Path, link.Weight))
			}
		}
	}
	return all
}
