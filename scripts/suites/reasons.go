package main

import "strings"

// reasons explain refusals and differences, by the beginnings of suite and name of a case.
var reasons = []struct{ suite, name, reason string }{}

// reasonFor returns why a case is refused or differs; "" if nobody has said so.
func reasonFor(r result) string {
	for _, known := range reasons {
		if strings.HasPrefix(r.suite, known.suite) && strings.HasPrefix(r.name, known.name) {
			return known.reason
		}
	}
	return ""
}
