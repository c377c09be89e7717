package evaluate

import (
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// ForTaxonomy returns a Comparison of answers in a taxonomy.
func ForTaxonomy(t *taxonomy.Taxonomy) *Comparison {
	levels := LevelsOf(t)
	known := make(map[string]bool, len(t.Categories))
	for i := range t.Categories {
		known[strings.Join(levels(t.Categories[i].Path), taxonomy.PathSeparator)] = true
	}
	return newComparison(levels, func(value string) bool { return known[value] })
}

// LevelsOf returns the Levels of a taxonomy's values, codes or paths. The first level of a code is the sector that spans its
// number: "311111" has the levels "31-33", "311", "3111", "31111" and "311111".
func LevelsOf(t *taxonomy.Taxonomy) Levels {
	split := client.Codes()[t.Name]
	if split == nil {
		return pathLevels
	}
	spans := make(map[string]string)
	for _, c := range t.Categories {
		first, last, ok := strings.Cut(c.Code, "-")
		from, _ := strconv.Atoi(first)
		to, _ := strconv.Atoi(last)
		for n := from; ok && n <= to; n++ {
			spans[strconv.Itoa(n)] = c.Code
		}
	}
	return func(code string) []string {
		code = strings.TrimSpace(code)
		levels := split(nil, code, len(code))
		if len(levels) > 0 && spans[levels[0]] != "" {
			levels[0] = spans[levels[0]]
		}
		return levels
	}
}

// Levels splits a value into its levels.
type Levels func(value string) []string

// pathLevels splits a path at '>'.
func pathLevels(path string) []string {
	var levels []string
	for name := range strings.SplitSeq(path, ">") {
		if name = strings.TrimSpace(name); name != "" {
			levels = append(levels, name)
		}
	}
	return levels
}

// common counts the levels that two values share from the top.
func common(a, b []string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
