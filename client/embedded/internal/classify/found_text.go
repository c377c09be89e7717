package classify

import (
	"fmt"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// Describe returns a text with the category's path, its title if it has one, and the matching phrase unless that is the
// category's name.
func (f Found) Describe(t *taxonomy.Taxonomy) string {
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
