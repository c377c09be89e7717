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
)

// reportFlags are the flags of `report`.
type reportFlags struct {
	streams streams
	file    outputFile
	format  string
}

func newReport(s streams) *cobra.Command {
	f := &reportFlags{streams: s, file: outputFile{flag: "--output", path: "-", isOwn: report.IsReport}}
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
	addGroup(cmd, "Report", f.file.options("the `FILE` of the report, or - for standard output"), []option{
		{name: "format", to: &f.format, words: []string{"html", "md", "json"}, only: true, help: "html, md or json (default: by the extension of the file; md on standard output)"},
	})
	return cmd
}

func (f *reportFlags) run(ctx context.Context, output string) error {
	format, err := reportFormat(f.file.path, f.format)
	if err != nil {
		return &usageError{err}
	}
	parts, err := f.streams.partsOf(ctx, &output)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := f.file.check(filesOf(output, parts)...); err != nil {
		return err
	}
	r, err := report.Build(ctx, output)
	if path, ok := errors.AsType[*os.PathError](err); ok {
		err = fmt.Errorf("read %s: %w", output, path.Err)
	}
	if err != nil {
		return err
	}
	return f.streams.writeReport(r, &f.file, format)
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

// filesOf returns the files of an output and of its run.
func filesOf(output string, parts []readback.Part) []string {
	files := []string{output, runfiles.AccountPath(output), runfiles.JournalPath(output), runfiles.StatusPath(output)}
	for _, p := range parts {
		files = append(files, p.Path)
	}
	return files
}

func (s streams) writeReport(r report.Report, file *outputFile, format string) error {
	if file.path == "-" && format == "md" {
		return r.WriteMarkdown(s.text())
	}
	asJSON := func(out io.Writer) error { return writeJSON(out, r) }
	return file.publish(s.out, map[string]func(io.Writer) error{"html": r.WriteHTML, "md": r.WriteMarkdown, "json": asJSON}[format])
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
	return f.streams.writeReport(r, f.reportFile(), format)
}

// reportFile is the file of the report of a run.
func (f *runFlags) reportFile() *outputFile {
	return &outputFile{flag: "--report", path: f.report, isOwn: report.IsReport, overwrite: f.Output.Overwrite}
}

// checkReport checks the file of the report of a run. Check of the options has found a file that the run reads or writes.
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
	output := filepath.Clean(f.Output.Path)
	if _, err := os.Stat(output); errors.Is(err, os.ErrNotExist) && filepath.Dir(f.report) == output {
		return nil // the run makes this folder
	}
	return f.reportFile().check()
}
