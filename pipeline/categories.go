package pipeline

import (
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/texts"
)

// categories keeps what has been worked out of the categories of a classification that were
// met: a taxonomy has few, answers name them again and again.
type categories struct {
	Classification
	schema writer.Schema
	cache  texts.Cache[category]
}

// category is what is worked out of one.
type category struct {
	id     string
	levels []string
	known  bool
}

// newCategories makes one for each classification.
func newCategories(o *Options) []categories {
	all := make([]categories, len(o.Classifications))
	for i, c := range o.Classifications {
		all[i].Classification, all[i].schema = c, o.Schema
	}
	return all
}

// of gives what is worked out of a category, for use until the next call.
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
