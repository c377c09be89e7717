package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/diff"
	"github.com/bulkcat/bulkcat/pipeline/expect"
	"github.com/bulkcat/bulkcat/pipeline/verify"
)

// verifyFlags are the flags of `verify`.
type verifyFlags struct {
	verify.Options
	streams    streams
	taxonomies customFlags
	freeModel  string
	expect     expectFlags
	asJSON     bool
}

func newVerify(s streams) *cobra.Command {
	f := &verifyFlags{streams: s}
	cmd := &cobra.Command{
		Use:   "verify OUTPUT [INPUT...]",
		Short: "Write a run again, offline, and compare the output with it",
		Long: `Write a run again, offline, from its input and the stored answers, and compare the output
and its account with it. Where they differ, name the first record that does, with both
rows. Nothing is asked, written or replaced. The default of the input is that of the
account. What cannot be compared, such as answers that are not stored, is said.`,
		Example: `  bulkcat verify domains.parquet domains.csv
  bulkcat verify out/ --json`,
		Args: operands(1, anyNumber, "nothing to verify: name the output of a run, and the input if you have it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.Output, f.Run.Input.Paths = args[0], args[1:]
			return f.run(cmd.Context())
		},
	}
	addGroup(cmd, "Output", jsonOption(&f.asJSON, "the report as one line of JSON"))
	addGroup(cmd, "Expectation", f.expect.options())
	addGroup(cmd, "Service", []option{
		{name: "taxonomy", to: &f.taxonomies.given, help: "the custom `TAXONOMY` of the run, as the run was given it; may be given several times"},
		{name: "model", to: &f.taxonomies.models.given, help: "the `MODEL` of the run, as the run was given it; may be given several times"},
		{name: "free", to: &f.freeModel, help: "the model in `FILE` of the free answers of the run"},
	})
	addGroup(cmd, "Store", []option{
		{name: "store", to: &f.Store, help: "the `FILE` of the stored answers (default: the store of the run, if it exists)"},
	})
	return cmd
}

func (f *verifyFlags) run(ctx context.Context) (err error) {
	if err := checkRead(f.Output); err != nil {
		return err
	}
	if _, err := os.Stat(f.Store); f.Store != "" && err != nil {
		return &usageError{fmt.Errorf("--store: %s is not there", f.Store)}
	}
	f.Run.Input.Stdin = f.streams.in
	if err := f.load(); err != nil {
		return err
	}
	expected, err := f.expect.list()
	if err != nil {
		return &usageError{err}
	}
	if err := expect.CheckAgainst(expected, f.expect.against); err != nil {
		return &usageError{fmt.Errorf("--expect: %w with --expect-against", err)}
	}
	paths := []*string{&f.Output}
	for i := range f.Run.Input.Paths {
		paths = append(paths, &f.Run.Input.Paths[i])
	}
	if err := takeParameters(ctx, paths...); err != nil {
		return err
	}
	boundMemoryOf(ctx, f.Output)
	report, err := verify.Run(ctx, f.Options)
	if err != nil {
		return flagged(err)
	}
	var results []account.Expected
	if len(expected) > 0 {
		if results, err = f.check(ctx, expected); err != nil {
			return err
		}
	}
	if err := f.streams.print(expectedReport{report, results}, f.asJSON); err != nil {
		return err
	}
	if expect.Broken(results) {
		err = &expect.BrokenError{Results: results}
	}
	return cmp.Or(balance(report, f.Output), err)
}

// load reads the taxonomies and the models of the run.
func (f *verifyFlags) load() (err error) {
	if err := f.taxonomies.load(slog.New(slog.DiscardHandler)); err != nil {
		return err
	}
	f.Run.Program = version()
	f.Run.Taxonomies, f.Run.Models = f.taxonomies.loaded, f.taxonomies.models.loaded
	if f.freeModel != "" {
		if f.Run.Free.Model, err = readModel(f.freeModel); err != nil {
			return &usageError{fmt.Errorf("--free: %w", err)}
		}
	}
	return nil
}

// check compares the output with the expectations.
func (f *verifyFlags) check(ctx context.Context, list []expect.Expectation) ([]account.Expected, error) {
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

// expectedReport is a report with the expectations of the output, if there are any.
type expectedReport struct {
	verify.Report
	Expectations []account.Expected `json:"expectations,omitempty"`
}

func (r expectedReport) WriteText(out io.Writer) error {
	err := r.Report.WriteText(out)
	for _, e := range r.Expectations {
		if err == nil {
			_, err = fmt.Fprintln(out, expectationText(e))
		}
	}
	return err
}

// balance returns the error of an output that is not balanced.
func balance(report verify.Report, output string) error {
	if !report.Balanced {
		return fmt.Errorf("%s is not balanced", output)
	}
	return nil
}
