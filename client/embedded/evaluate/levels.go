package evaluate

import "strings"

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
