package pipeline

import (
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/texts"
)

// categories keeps what has been worked out of the categories met: a taxonomy has few,
// answers name them again and again.
type categories struct {
	schema writer.Schema
	known  func(value string) bool // nil where no taxonomy is
	cache  texts.Cache[category]
}

// category is what is worked out of one.
type category struct {
	levels []string
	known  bool
}

// of gives what is worked out of a category, for use until the next call.
func (c *categories) of(value string) *category {
	worked, met := c.cache.Of(value)
	if !met {
		*worked = category{
			levels: c.schema.AppendLevels([]string{}, value),
			known:  c.known == nil || c.known(value),
		}
	}
	return worked
}
