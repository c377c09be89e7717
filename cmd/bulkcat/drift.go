package main

import (
	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// knownCategories says which values a classification's answers may have, by the embedded
// copy of its taxonomy; nil for a custom one, and for the embedded service, which has no
// others.
func knownCategories(svc service, classification string) func(string) bool {
	var t *taxonomy.Taxonomy
	switch {
	case !svc.hosted:
		return nil
	case classification == client.TaxonomyV3:
		t = taxonomy.IAB()
	case classification == client.NAICS:
		t = taxonomy.NAICS()
	case classification == client.ProductTaxonomy:
		t = taxonomy.Products()
	default:
		return nil
	}
	values := make(map[string]struct{}, len(t.Categories))
	for _, c := range t.Categories {
		value := c.Path
		if classification == client.NAICS {
			value = c.Code
		}
		values[value] = struct{}{}
	}
	return func(value string) bool { _, ok := values[value]; return ok }
}
