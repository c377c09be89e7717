package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/pipeline/expect"
	"github.com/bulkcat/bulkcat/pipeline/record"
)

// expectFlags say what must hold of an output.
type expectFlags struct {
	texts   []string
	against string
	other   string // what happens otherwise: keep, hold or stop
}

func (f *expectFlags) bind(flags *pflag.FlagSet) {
	var names []string
	for _, figure := range expect.Figures() {
		names = append(names, figure[0])
	}
	flags.StringArrayVar(&f.texts, "expect", nil, "what must hold of the output, such as 'ok >= 95%' or 'records >= 10000', else the exit status is 4; may be given several times. The figures: "+strings.Join(names, ", "))
	flags.StringVar(&f.against, "expect-against", "", "the output of an earlier `RUN`, with which changed and new_categories compare; without one they are not compared")
}

// bindElse also binds what happens to the output of a run.
func (f *expectFlags) bindElse(flags *pflag.FlagSet) {
	f.bind(flags)
	flags.StringVar(&f.other, "expect-else", "keep", "publish an output that breaks an expectation (keep), hold it back (hold), or stop the run, too, as soon as it is clear that one will be broken, after at least 200 records (stop); its answers are stored")
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
	if f.other != "" && !slices.Contains([]string{"keep", "hold", "stop"}, f.other) {
		err = errors.Join(err, fmt.Errorf("--expect-else: %q must be keep, hold or stop", f.other))
	}
	return list, err
}

func expectationText(e record.Expected) string {
	if e.Met {
		return e.Expectation + ": " + e.Value
	}
	return "NOT MET: " + e.Expectation + ": " + e.Value
}

// isBroken reports whether a run is complete, and its output, which is published, breaks an expectation.
func isBroken(err error) bool {
	broken, ok := errors.AsType[*expect.BrokenError](err)
	return ok && !broken.Held
}
