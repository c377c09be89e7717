package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/pipeline/diff"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// diffFlags are the flags of `diff`.
type diffFlags struct {
	streams          streams
	path, format     string
	level            int
	asJSON, exitCode bool
	replace          replaceFlag
}

// errDifferent is the error with --exit-code if the outputs differ.
var errDifferent = errors.New("the outputs differ")

func newDiff(s streams) *cobra.Command {
	f := &diffFlags{streams: s}
	cmd := &cobra.Command{
		Use:   "diff OLD NEW",
		Short: "Compare two outputs: inputs added, removed, and changed in category or confidence",
		Long: `Compare two outputs: inputs added, removed, and changed in category or confidence. The
outputs may have other formats and shapes. Inputs that the run asks for once, such as all
spellings of a website, are one, in each classification, by their first category; of equal inputs, the first record counts. The
kinds of changes are added, removed, status (such as from rejected to ok), category, and
confidence (with the same category).`,
		Example: `  bulkcat diff monday.parquet tuesday.parquet
  bulkcat diff old/ new/ --level 2
  bulkcat diff old.csv new.csv -o changes.parquet`,
		Args: operands(2, 2, "name the old and the new output"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.path == "" && !given(cmd.Flags(), "output-format") {
				f.format = ""
			}
			return f.run(cmd.Context(), args[0], args[1])
		},
	}
	addGroup(cmd, "Output", []option{
		{name: "output", short: "o", to: &f.path, help: "write the changes as rows to `FILE`, or - for standard output"},
		{name: "output-format", to: &f.format, words: formats, help: "parquet, csv or jsonl (default: by the extension of the file; csv on standard output)"},
	}, f.replace.options(), []option{
		{name: "level", to: &f.level, or: 1, check: atLeast(&f.level, 1), help: "the level `N` of the categories of the moves"},
		{name: "json", to: &f.asJSON, help: "the counts and the moves as one line of JSON"},
		{name: "exit-code", to: &f.exitCode, help: "end with the status 1 if anything changed, and with 0 if nothing did"},
	})
	return cmd
}

func (f *diffFlags) run(ctx context.Context, old, fresh string) error {
	if err := takeParameters(ctx, &old, &fresh); err != nil {
		return err
	}
	format, err := f.check()
	if err != nil {
		return &usageError{err}
	}
	o := diff.Options{Level: f.level}
	if o.Old, err = f.open(ctx, old); err != nil {
		return err
	}
	if o.New, err = f.open(ctx, fresh); err != nil {
		return err
	}
	if err := f.replace.check("--output", f.path, nil); err != nil {
		return err
	}
	var summary diff.Summary
	compare := func(out io.Writer) error {
		table, err := writer.NewTable[diff.Row](out, format)
		if err != nil {
			return err
		}
		o.Use = func(c diff.Change) error { return table.Write(c.Row()) }
		if summary, err = diff.Run(ctx, o); err != nil {
			return err
		}
		return table.Close()
	}
	switch f.path {
	case "":
		summary, err = diff.Run(ctx, o)
	case "-":
		out := bufio.NewWriterSize(f.streams.out, 64<<10)
		err = errors.Join(compare(out), out.Flush())
	default:
		o.Temp = filepath.Dir(f.path)
		err = disk.PublishFrom(f.path, compare)
	}
	if err != nil {
		return err
	}
	if err := f.print(summary); err != nil {
		return err
	}
	if f.exitCode && summary.Changed() > 0 {
		return errDifferent
	}
	return nil
}

// check returns the format of the rows.
func (f *diffFlags) check() (writer.Format, error) {
	switch {
	case f.path == "" && f.format != "":
		return "", errors.New("--output-format: name a file with -o")
	case f.format != "":
		return writer.ParseFormat(f.format)
	case f.path == "-":
		return writer.CSV, nil
	case f.path == "":
		return "", nil
	}
	return writer.FormatOf(f.path)
}

// open finds the files of an output, which the rows must not replace.
func (f *diffFlags) open(ctx context.Context, output string) (diff.Side, error) {
	if err := checkRead(output); err != nil {
		return diff.Side{}, err
	}
	side, err := diff.SideOf(ctx, output)
	if err == nil {
		err = f.streams.warnUnfinished(ctx, output)
	}
	if err != nil || f.path == "" {
		return side, err
	}
	return side, notOver(f.path, output, side.Parts)
}

// print prints the summary, on standard error if the rows are on standard output.
func (f *diffFlags) print(s diff.Summary) error {
	out, data := f.streams.text(), f.streams.out
	if f.path == "-" {
		out, data = f.streams.err, f.streams.err
	}
	if f.asJSON {
		return writeJSON(data, s)
	}
	return s.WriteText(out)
}
