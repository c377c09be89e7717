package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/cmd/bulkcat/internal/terminal"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/pipeline/report"
	"github.com/bulkcat/bulkcat/writer"
)

// topFlags are the flags of `top`.
type topFlags struct {
	report.TopOptions
	streams streams
	asJSON  bool
}

func newTop(s streams) *cobra.Command {
	f := &topFlags{streams: s}
	cmd := &cobra.Command{
		Use:   "top OUTPUT",
		Short: "Show the largest categories of an output, its coverage and its confidence",
		Long: `Show the largest categories of an output, its coverage and its confidence. A record
counts for its category of the highest confidence. OUTPUT is a file or a folder of any
format and shape that bulkcat writes; a run need not be complete.`,
		Example: `  bulkcat top domains.parquet
  bulkcat top out/ --level 2 --most 50
  bulkcat top domains.csv --json`,
		Args: operands(1, 1, "no output: name a file or folder that a run has written"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args[0]) },
	}
	addGroup(cmd, "Output", []option{
		{name: "level", to: &f.Level, or: 1, check: atLeast(&f.Level, 1), help: "the level `N` of the categories, from 1; a record whose category has fewer levels counts for that category"},
		{name: "most", to: &f.Most, or: 20, check: atLeast(&f.Most, 0), help: "the `N` largest categories of each classification; 0 for all"},
		{name: "json", to: &f.asJSON, help: "one line of JSON"},
	})
	return cmd
}

func (f *topFlags) run(ctx context.Context, output string) error {
	parts, err := f.streams.partsOf(ctx, &output)
	if err != nil {
		return err
	}
	summary, err := report.Summarize(ctx, parts)
	switch {
	case err != nil:
		return err
	case f.asJSON:
		return writeJSON(f.streams.out, summary.Top(f.Level, f.Most))
	}
	f.Width = terminal.Width(f.streams.out)
	f.Blocks = f.Width > 0 && terminal.Blocks()
	return summary.WriteTop(f.streams.text(), f.TopOptions)
}

// partsOf lists the files of an output, and removes the parameters from its path.
func (s streams) partsOf(ctx context.Context, output *string) ([]readback.Part, error) {
	if err := cmp.Or(checkRead(*output), takeParameters(ctx, output)); err != nil {
		return nil, err
	}
	parts, _, err := readback.Find(ctx, *output)
	if err != nil {
		return nil, err
	}
	return parts, s.warnUnfinished(ctx, *output)
}

// warnUnfinished warns if an output is not complete. The error is that of reading the folder.
func (s streams) warnUnfinished(ctx context.Context, output string) error {
	unfinished, err := readback.IsUnfinished(ctx, output)
	if unfinished {
		fmt.Fprintf(s.err, "%s is incomplete, for it has no %s: its run goes on, was stopped, or is held back. The following is about the parts that exist.\n", output, writer.SuccessName)
	}
	return err
}

// checkRead returns a usage error if the output is a stream.
func checkRead(output string) error {
	if output == "-" || output == "" {
		return &usageError{errors.New("standard input and output cannot be read back: name the file or folder that a run has written")}
	}
	return nil
}
