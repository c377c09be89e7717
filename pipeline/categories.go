package pipeline

import (
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/texts"
)

// categories caches the columns of the categories of a classification: a taxonomy has few categories, and
// answers repeat them.
type categories struct {
	Classification
	schema writer.Schema
	cache  texts.Cache[category]
}

// category has the columns of a category.
type category struct {
	id     string
	levels []string
	known  bool
}

// newCategories makes a cache for each classification.
func newCategories(o *Options) []categories {
	all := make([]categories, len(o.Classifications))
	for i, c := range o.Classifications {
		all[i].Classification, all[i].schema = c, o.Schema
	}
	return all
}

// of gives a category by the value in answers. The result is valid until the next call.
func (c *categories) of(value string) *category {
	worked, met := c.cache.Of(value)
	if !met {
		*worked = category{levels: c.schema.AppendLevels([]string{}, c.Name, value), known: true}
		if c.Category != nil {
			worked.id, worked.known = c.Category(value)
		}
	}
	return worked
}
