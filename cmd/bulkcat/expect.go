package main

import (
	"errors"
	"fmt"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/expect"
)

// expectFlags say what must hold of an output.
type expectFlags struct {
	texts   []string
	against string
	other   string // what happens to an output that breaks an expectation: keep, hold or stop
}

// list parses the expectations.
func (f *expectFlags) list() (list []expect.Expectation, err error) {
	for _, text := range f.texts {
		e, problem := expect.Parse(text)
		if problem != nil {
			err = errors.Join(err, fmt.Errorf("--expect: %w", problem))
		}
		list = append(list, e)
	}
	return list, err
}

func expectationText(e account.Expected) string {
	if e.Met {
		return e.Expectation + ": " + e.Value
	}
	return "NOT MET: " + e.Expectation + ": " + e.Value
}

// isBroken reports whether err is that of a complete run whose published output breaks an expectation.
func isBroken(err error) bool {
	broken, ok := errors.AsType[*expect.BrokenError](err)
	return ok && !broken.Held
}
