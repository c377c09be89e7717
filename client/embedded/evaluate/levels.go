package evaluate

import "strings"

// Levels splits a value into its levels.
type Levels func(value string) []string

// PathLevels splits a path at '>'.
func PathLevels(path string) []string {
	var levels []string
	for name := range strings.SplitSeq(path, ">") {
		if name = strings.TrimSpace(name); name != "" {
			levels = append(levels, name)
		}
	}
	return levels
}

// ranges are the NAICS sectors that span several numbers.
var ranges = map[string]string{
	"31": "31-33", "32": "31-33", "33": "31-33", "44": "44-45", "45": "44-45", "48": "48-49", "49": "48-49",
}

// CodeLevels splits a NAICS code into its sector and its longer prefixes: "311111"
// into "31-33", "311", "3111", "31111" and "311111".
func CodeLevels(code string) []string {
	code = strings.TrimSpace(code)
	digits := len(code) - len(strings.TrimLeft(code, "0123456789"))
	if digits < 2 {
		return nil
	}
	sector := code[:2]
	if r, ok := ranges[sector]; ok {
		sector = r
	}
	levels := []string{sector}
	for n := 3; n <= digits; n++ {
		levels = append(levels, code[:n])
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
