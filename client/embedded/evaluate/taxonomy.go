package evaluate

import (
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// ForTaxonomy makes a tally of answers in a taxonomy. The values of NAICS are codes, all others are
// paths.
func ForTaxonomy(t *taxonomy.Taxonomy) *Tally {
	levels := Levels(PathLevels)
	if t == taxonomy.NAICS() {
		levels = CodeLevels
	}
	known := make(map[string]bool, len(t.Categories))
	for i := range t.Categories {
		known[strings.Join(levels(t.Categories[i].Path), taxonomy.PathSeparator)] = true
	}
	return New(levels, func(value string) bool { return known[value] })
}
