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
)

// diffFlags are the flags of `diff`.
type diffFlags struct {
	streams          streams
	file             outputFile // of the changes
	format           string
	level            int
	asJSON, exitCode bool
}

// errDifferent is the error with --exit-code if the outputs differ.
var errDifferent = errors.New("the outputs differ")

func newDiff(s streams) *cobra.Command {
	f := &diffFlags{streams: s, file: outputFile{flag: "--output"}}
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
			if f.file.path == "" && !given(cmd.Flags(), "output-format") {
				f.format = ""
			}
			return f.run(cmd.Context(), args[0], args[1])
		},
	}
	addGroup(cmd, "Output", f.file.options("write the changes as rows to `FILE`, or - for standard output"), []option{
		{name: "output-format", to: &f.format, words: formats, help: "parquet, csv or jsonl (default: by the extension of the file; csv on standard output)"},
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
	if err := f.file.check(append(filesOf(old, o.Old.Parts), filesOf(fresh, o.New.Parts)...)...); err != nil {
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
	switch f.file.path {
	case "":
		summary, err = diff.Run(ctx, o)
	case "-":
		out := bufio.NewWriterSize(f.streams.out, 64<<10)
		err = errors.Join(compare(out), out.Flush())
	default:
		o.Temp = filepath.Dir(f.file.path)
		err = f.file.publish(nil, compare)
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
	case f.file.path == "" && f.format != "":
		return "", errors.New("--output-format: name a file with -o")
	case f.format != "":
		return writer.ParseFormat(f.format)
	case f.file.path == "-":
		return writer.CSV, nil
	case f.file.path == "":
		return "", nil
	}
	return writer.FormatOf(f.file.path)
}

// open finds the files of an output.
func (f *diffFlags) open(ctx context.Context, output string) (diff.Side, error) {
	if err := checkRead(output); err != nil {
		return diff.Side{}, err
	}
	side, err := diff.SideOf(ctx, output)
	if err == nil {
		err = f.streams.warnUnfinished(ctx, output)
	}
	return side, err
}

// print prints the summary, on standard error if the rows are on standard output.
func (f *diffFlags) print(s diff.Summary) error {
	out, data := f.streams.text(), f.streams.out
	if f.file.path == "-" {
		out, data = f.streams.err, f.streams.err
	}
	if f.asJSON {
		return writeJSON(data, s)
	}
	return s.WriteText(out)
}
