package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/pipeline/verify"
)

// verifyFlags are the flags of `verify`.
type verifyFlags struct {
	verify.Paths
	streams streams
	input   inputFlags
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
	return f.streams.printBalance(report, f.Output, f.asJSON)
}

// printBalance prints a report. The error says that the output is not balanced.
func (s streams) printBalance(report verify.Report, output string, asJSON bool) error {
	if err := s.print(report, asJSON); err != nil {
		return err
	}
	if !report.Balanced {
		return fmt.Errorf("%s is not balanced", output)
	}
	return nil
}
