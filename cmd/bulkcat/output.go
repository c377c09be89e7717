package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// outputFlags say where rows go, and in what shape.
type outputFlags struct {
	path          string
	format        string
	partRows      int64
	levels        int
	carry         string
	sourceColumns bool
	overwrite     bool
}

func (f *outputFlags) bind(flags *pflag.FlagSet) {
	flags.StringVarP(&f.path, "output", "o", "", "a `FILE`, a folder of parts (out/), or - for standard output")
	flags.StringVar(&f.format, "output-format", "", "parquet, csv or jsonl (default: by the output's extension; parquet for a folder)")
	flags.Int64Var(&f.partRows, "part-rows", 1_000_000, "rows of a part, at least, in a folder")
	flags.IntVar(&f.levels, "levels", levelsOfTaxonomy, "columns level_1, level_2, ... of a category's path; -1 for as many as the taxonomy has levels")
	flags.StringVar(&f.carry, "carry", "all", "columns of the input to carry along: all, none or `a,b`")
	flags.BoolVar(&f.sourceColumns, "source-columns", false, "add the columns source and answered_at, which differ from run to run")
	flags.BoolVar(&f.overwrite, "overwrite", false, "replace an output that another run has written")
}

const (
	levelsOfTaxonomy = -1
	maxLevels        = 20 // deeper than any taxonomy
)

func (f *outputFlags) check() error {
	switch {
	case f.levels < levelsOfTaxonomy || f.levels > maxLevels:
		return fmt.Errorf("--levels: %d must be 0 to %d, or %d", f.levels, maxLevels, levelsOfTaxonomy)
	case f.partRows < 1:
		return fmt.Errorf("--part-rows: %d must be at least 1", f.partRows)
	}
	if f.path == "" {
		return nil
	}
	_, err := f.outputFormat()
	return err
}

// folder says whether the output is a folder of parts: named so, or there already.
func (f *outputFlags) folder() bool {
	if f.path == "-" {
		return false
	}
	info, err := os.Stat(f.path)
	return strings.HasSuffix(f.path, "/") || err == nil && info.IsDir()
}

func (f *outputFlags) outputFormat() (writer.Format, error) {
	switch {
	case f.format != "":
		format, err := writer.ParseFormat(f.format)
		if err != nil {
			return "", fmt.Errorf("--output-format: %w", err)
		}
		return format, nil
	case f.folder():
		return writer.Parquet, nil
	case f.path == "-":
		return writer.CSV, nil
	}
	return writer.FormatOf(f.path)
}

// named gives the carried columns that the flag names one by one.
func (f *outputFlags) named() []string {
	switch f.carry {
	case "all", "none", "":
		return nil
	}
	return strings.Split(f.carry, ",")
}

// resolve replaces the names of carried columns by those of the input's columns that they fit.
func (f *outputFlags) resolve(input *reader.Reader) {
	names, columns := f.named(), input.Columns()
	for i, name := range names {
		if place, found := input.Place(name); found {
			names[i] = columns[place]
		}
	}
	if len(names) > 0 {
		f.carry = strings.Join(names, ",")
	}
}

// carried gives the names of the carried columns and their places among the input's.
func (f *outputFlags) carried(columns []string) (names []string, places []int, err error) {
	names = f.named()
	if f.carry == "all" {
		names = columns
	}
	for _, name := range names {
		place := slices.Index(columns, name)
		if place < 0 {
			return nil, nil, &usageError{fmt.Errorf("--carry: the input has no column %q; it has: %s", name, strings.Join(columns, ", "))}
		}
		places = append(places, place)
	}
	return names, places, nil
}

// open opens the sink; manifest is nil unless the output is a folder.
func (f *outputFlags) open(schema writer.Schema, metadata map[string]string, manifest *pipeline.Manifest, stdout io.Writer) (writer.Sink, error) {
	format, err := f.outputFormat()
	if err != nil {
		return nil, &usageError{err}
	}
	options := writer.Options{
		Path: f.path, Format: format, Schema: schema,
		PartRows: f.partRows, Metadata: metadata, Stdout: stdout,
	}
	if manifest != nil {
		options.Folder, options.Kept, options.OnPart = true, manifest.Kept(), manifest.AddPart
	}
	return writer.Open(options)
}

// manifest is nil unless the output is a folder. Parts are kept whose records are settled.
func (f *outputFlags) manifest(account *pipeline.Account, settled func(pipeline.Statuses) bool) (*pipeline.Manifest, error) {
	if !f.folder() {
		return nil, nil
	}
	return pipeline.OpenManifest(filepath.Clean(f.path), account, f.overwrite, settled)
}

// accountPath is OUTPUT.run.json; "" for standard output, which has no place beside it.
func (f *outputFlags) accountPath() string {
	if f.path == "-" {
		return ""
	}
	return filepath.Clean(f.path) + ".run.json"
}

// checkFolder wants the folder that the output lies in to be there.
func (f *outputFlags) checkFolder() error {
	if f.path == "-" {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(filepath.Clean(f.path))); err != nil || !info.IsDir() {
		return fmt.Errorf("%s cannot be written: its folder is not there", f.path)
	}
	return nil
}

// lock keeps other processes from the output until this one ends. It gives nil where nothing
// is written beside standard output.
func (f *runFlags) lock() (*writer.Lock, error) {
	if f.output.path == "-" || f.dryRun {
		return nil, nil
	}
	if err := f.output.checkFolder(); err != nil {
		return nil, err
	}
	return writer.TryLock(f.output.path)
}

// claim refuses to replace what another run, or another program, has written. The same
// run started again writes its own output anew; the lock knows it even after a kill
// between the output and its account.
func (f *outputFlags) claim(account *pipeline.Account, lock *writer.Lock) error {
	if lock == nil {
		return nil
	}
	if !f.overwrite && f.occupied() && lock.Claimed() != account.Run() {
		if err := f.checkOwner(account); err != nil {
			return err
		}
	}
	return lock.Claim(account.Run())
}

// checkEmptied refuses to replace rows by none, where the input has no records any more.
func (f *outputFlags) checkEmptied(last *pipeline.Account) error {
	if f.overwrite || f.path == "-" || !f.occupied() || last != nil && last.Records() == 0 {
		return nil
	}
	return &pipeline.OutputTakenError{Path: f.path, Reason: "has rows, and the input has no records any more"}
}

// checkOwner looks at what lies in the output's place for the run that has written it.
func (f *outputFlags) checkOwner(account *pipeline.Account) error {
	if f.folder() && pipeline.HasManifest(filepath.Clean(f.path)) {
		return nil // the manifest is looked at later
	}
	last, err := pipeline.ReadAccount(f.accountPath())
	switch {
	case err != nil:
		return fmt.Errorf("%w (use --overwrite to replace %s all the same)", err, f.path)
	case last == nil:
		return &pipeline.OutputTakenError{Path: f.path, Reason: "exists and has no account of a run beside it"}
	}
	return account.TakenBy(last, f.path)
}

// occupied says whether there is something in the output's place; an empty folder is
// nothing.
func (f *outputFlags) occupied() bool {
	if f.folder() {
		entries, err := os.ReadDir(f.path)
		return err == nil && len(entries) > 0
	}
	_, err := os.Lstat(f.path)
	return err == nil
}

func (f *runFlags) newAccount(svc service) *pipeline.Account {
	format, _ := f.output.outputFormat() // checked before
	settings := pipeline.Settings{
		Kind: string(f.kind), Classification: f.classification,
		Inputs: f.input.Paths, InputPaths: f.seenFromOutput(f.input.Paths), Column: f.input.Column, Scheme: f.scheme,
		Output: f.output.path, OutputFormat: string(format),
		Levels: f.output.levels, Carry: f.output.carry, SourceColumns: f.output.sourceColumns,
		Limit: f.limit,
	}
	if f.dedupe == pipeline.DedupeExact {
		settings.Dedupe = f.dedupe
	}
	if f.output.folder() {
		settings.PartRows = f.output.partRows
	}
	return pipeline.NewAccount(version(), svc.source, settings)
}

// seenFromOutput gives the paths of inputs that do not depend on the working folder.
func (f *runFlags) seenFromOutput(paths []string) []string {
	seen := make([]string, len(paths))
	for i, path := range paths {
		seen[i] = pipeline.SeenFrom(f.output.path, path)
	}
	return seen
}

func (f *runFlags) inputsOf(files []reader.FileInfo) []pipeline.Input {
	inputs := make([]pipeline.Input, len(files))
	for i, file := range files {
		inputs[i] = pipeline.Input{
			Name: file.Name, Path: pipeline.SeenFrom(f.output.path, file.Name),
			Bytes: file.Bytes, SHA256: file.SHA256, Whole: file.Whole,
		}
	}
	return inputs
}
