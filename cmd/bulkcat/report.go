package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/pipeline/report"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// reportFlags are the flags of `report`.
type reportFlags struct {
	streams      streams
	path, format string
	replace      replaceFlag
}

func newReport(s streams) *cobra.Command {
	f := &reportFlags{streams: s}
	cmd := &cobra.Command{
		Use:   "report OUTPUT [-o FILE]",
		Short: "Report on an output and its run: one HTML file, Markdown or JSON",
		Long: `Report on an output and its run: how the run went and what it cost, coverage, categories,
confidence, records worth a look, and failures. The HTML is one file without scripts that
loads nothing from elsewhere. Without the account or the journal beside the output, the
report says what is unknown.`,
		Example: `  bulkcat report domains.parquet -o report.html
  bulkcat report out/ --format md`,
		Args: operands(1, 1, "no output: name a file or folder that a run has written"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args[0]) },
	}
	addGroup(cmd, "Report", []option{
		{name: "output", short: "o", to: &f.path, or: "-", help: "the `FILE` of the report, or - for standard output"},
		{name: "format", to: &f.format, words: []string{"html", "md", "json"}, only: true, help: "html, md or json (default: by the extension of the file; md on standard output)"},
	}, f.replace.options())
	return cmd
}

func (f *reportFlags) run(ctx context.Context, output string) error {
	if err := takeParameters(ctx, &output); err != nil {
		return err
	}
	format, err := reportFormat(f.path, f.format)
	if err != nil {
		return &usageError{err}
	}
	parts, err := f.streams.partsOf(ctx, output)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := notOver(f.path, output, parts); err != nil {
		return err
	}
	if err := f.replace.check("--output", f.path, report.IsReport); err != nil {
		return err
	}
	r, err := report.Build(ctx, output)
	if path, ok := errors.AsType[*os.PathError](err); ok {
		err = fmt.Errorf("read %s: %w", output, path.Err)
	}
	if err != nil {
		return err
	}
	return writeReport(r, f.path, format, f.streams)
}

// reportFormat returns the format of the report in a file: html, md or json.
func reportFormat(path, format string) (string, error) {
	switch {
	case format != "":
		return format, nil
	case path == "-":
		return "md", nil
	}
	format = map[string]string{".html": "html", ".htm": "html", ".md": "md", ".json": "json"}[strings.ToLower(filepath.Ext(path))]
	if format == "" {
		return "", fmt.Errorf("%s: a report ends in .html, .md or .json", path)
	}
	return format, nil
}

// notOver returns a usage error if a file is the output or belongs to the output.
func notOver(path, output string, parts []readback.Part) error {
	if path == "-" {
		return nil
	}
	for _, other := range []string{output, runfiles.AccountPath(output), runfiles.JournalPath(output), runfiles.StatusPath(output)} {
		parts = append(parts, readback.Part{Path: other})
	}
	info, err := os.Stat(path)
	for _, p := range parts {
		other, otherErr := os.Stat(p.Path)
		if filepath.Clean(path) == filepath.Clean(p.Path) || err == nil && otherErr == nil && os.SameFile(info, other) {
			return &usageError{fmt.Errorf("%s is read, and cannot be written: name another file", path)}
		}
	}
	return nil
}

func writeReport(r report.Report, path, format string, s streams) error {
	asJSON := func(out io.Writer) error { return writeJSON(out, r) }
	write := map[string]func(io.Writer) error{"html": r.WriteHTML, "md": r.WriteMarkdown, "json": asJSON}[format]
	if path == "-" {
		if format == "md" {
			return write(s.text())
		}
		return write(s.out)
	}
	return disk.PublishFrom(path, write)
}

// writeRunReport writes the report of a run that has ended. It reads the rows of the output only if the run is complete.
func (f *runFlags) writeRunReport(ctx context.Context, a *account.Account) error {
	if f.report == "" || a == nil {
		return nil
	}
	format, err := reportFormat(f.report, "")
	if err != nil {
		return err
	}
	build := report.Build
	if a.Ending != account.Complete {
		build = report.OfRun
	}
	r, err := build(ctx, f.Output.Path)
	if err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	if err := f.checkReplaced(); err != nil { // another program may have written the file during the run
		return err
	}
	return writeReport(r, f.report, format, f.streams)
}

// checkReplaced returns an error if the file of the report exists and is no report.
func (f *runFlags) checkReplaced() error {
	output := filepath.Clean(f.Output.Path)
	if _, err := os.Stat(output); errors.Is(err, os.ErrNotExist) && filepath.Dir(f.report) == output {
		return nil // the run makes this folder
	}
	replace := replaceFlag{overwrite: f.Output.Overwrite}
	return replace.check("--report", f.report, report.IsReport)
}

// checkReport checks the file of the report of a run.
func (f *runFlags) checkReport() error {
	if f.report == "" {
		return nil
	}
	if f.Output.Path == "-" {
		return errors.New("--report: standard output cannot be read back: name an output with -o")
	}
	if _, err := reportFormat(f.report, ""); err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	if err := notOver(f.report, f.Output.Path, nil); err != nil {
		return fmt.Errorf("--report: %w", err)
	}
	return f.checkReplaced()
}
