package embedded

import (
	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// CheckTaxonomy lists the faults of a custom taxonomy in the order of its lines: those of the
// file ([taxonomy.Custom.Check]), and categories that the service cannot tell apart or cannot
// find by any word.
func CheckTaxonomy(c *taxonomy.Custom) []taxonomy.Finding {
	findings := append(c.Check(), classify.Check(c)...)
	taxonomy.SortFindings(findings)
	return findings
}

// FoundCategory is a category that matches a search.
type FoundCategory = classify.Found

// SearchTaxonomy returns the categories whose name or alias has at least half of the query's
// words, the best first. It compares words as the service does: without case, accents and
// plural endings.
func SearchTaxonomy(t *taxonomy.Taxonomy, query string) []FoundCategory {
	return classify.Search(t, query)
}
