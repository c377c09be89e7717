package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/pipeline/diff"
	"github.com/bulkcat/bulkcat/pipeline/expect"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/pipeline/verify"
)

// verifyFlags are the flags of `verify`.
type verifyFlags struct {
	verify.Paths
	streams streams
	input   inputFlags
	expect  expectFlags
	asJSON  bool
}

func newVerify(s streams) *cobra.Command {
	f := &verifyFlags{streams: s}
	cmd := &cobra.Command{
		Use:   "verify OUTPUT [INPUT...]",
		Short: "Compare an output with its account, its input and the stored answers",
		Example: `  bulkcat verify domains.parquet domains.csv
  bulkcat verify out/ --json`,
		Args: operands(1, 0, "nothing to verify: name the output of a run, and the input if you have it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Output, f.input.Paths = args[0], args[1:]
			return f.run(cmd.Context())
		},
	}
	addGroup(cmd, "Input", f.input.bind)
	addGroup(cmd, "Output", func(flags *pflag.FlagSet) {
		flags.BoolVar(&f.asJSON, "json", false, "the report as one line of JSON")
	})
	addGroup(cmd, "Expectation", f.expect.bind)
	addGroup(cmd, "Store", func(flags *pflag.FlagSet) {
		flags.StringVar(&f.Store, "store", "", "the `DIR` of the stored answers (default "+stores.Name+" beside the output, if it is there)")
	})
	return cmd
}

func (f *verifyFlags) run(ctx context.Context) (err error) {
	if f.Output == "-" || f.Output == "" {
		return &usageError{errors.New("standard output cannot be verified: name the file or folder that a run has written")}
	}
	if _, err := os.Stat(f.Store); f.Store != "" && err != nil {
		return &usageError{fmt.Errorf("--store: %s is not there", f.Store)}
	}
	if f.Input, err = f.input.options(f.streams.in); err != nil {
		return &usageError{err}
	}
	expected, err := f.expect.list()
	if err != nil {
		return &usageError{err}
	}
	if err := expect.CheckAgainst(expected, f.expect.against); err != nil {
		return &usageError{fmt.Errorf("--expect: %w with --expect-against", err)}
	}
	paths := []*string{&f.Output}
	for i := range f.Input.Paths {
		paths = append(paths, &f.Input.Paths[i])
	}
	if err := takeParameters(paths...); err != nil {
		return err
	}
	boundMemoryOf(ctx, f.Output)
	report, err := verify.Output(ctx, f.Paths)
	for _, store := range report.Locked {
		fmt.Fprintf(f.streams.err, "bulkcat: the answers are not compared: a run holds the store %s\n", store)
	}
	if err != nil {
		return err
	}
	if len(expected) == 0 {
		return f.streams.printBalance(report, f.Output, f.asJSON)
	}
	results, err := f.check(ctx, expected)
	if err != nil {
		return err
	}
	if err := f.streams.print(expectedReport{report, results}, f.asJSON); err != nil {
		return err
	}
	if expect.Broken(results) {
		err = &expect.BrokenError{Results: results}
	}
	return cmp.Or(balance(report, f.Output), err)
}

// check compares the output with the expectations.
func (f *verifyFlags) check(ctx context.Context, list []expect.Expectation) ([]record.Expected, error) {
	output, err := diff.SideOf(ctx, f.Output)
	if err != nil {
		return nil, err
	}
	earlier, err := expect.Earlier(ctx, f.expect.against)
	if err != nil {
		return nil, err
	}
	return expect.Check(ctx, list, output, earlier, "")
}

// expectedReport is a report with the expectations of the output.
type expectedReport struct {
	verify.Report
	Expectations []record.Expected `json:"expectations"`
}

func (r expectedReport) WriteText(out io.Writer) error {
	if err := r.Report.WriteText(out); err != nil {
		return err
	}
	for _, e := range r.Expectations {
		if _, err := fmt.Fprintln(out, expectationText(e)); err != nil {
			return err
		}
	}
	return nil
}

// printBalance prints a report. The error says that the output is not balanced.
func (s streams) printBalance(report verify.Report, output string, asJSON bool) error {
	if err := s.print(report, asJSON); err != nil {
		return err
	}
	return balance(report, output)
}

func balance(report verify.Report, output string) error {
	if !report.Balanced {
		return fmt.Errorf("%s is not balanced", output)
	}
	return nil
}
