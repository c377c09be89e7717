package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/embedded/evaluate"
	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline/labelled"
	"github.com/bulkcat/bulkcat/pipeline/places"
)

// learnFlags are the flags of `learn`.
type learnFlags struct {
	evalFlags // of the service, at most one taxonomy and no models
	store     string
	source    string     // the service that has given the answers in the store
	output    outputFile // the model
	suspects  outputFile
}

func newLearn(s streams) *cobra.Command {
	f := &learnFlags{
		evalFlags: evalFlags{streams: s},
		output:    outputFile{flag: "--output", extension: ".model", isOwn: learn.IsModel}, suspects: outputFile{flag: "--suspects", extension: ".csv", isOwn: isSuspects},
	}
	cmd := &cobra.Command{
		Use:   "learn (FILE... --input-column COLUMN --label-column COLUMN | --store FILE) -o MODEL",
		Short: "Make a model of labelled inputs, with which the embedded service answers better",
		Long: `Make a model of labelled inputs, with which the embedded service answers better: --model
of 'bulkcat website', 'product', 'serve', 'eval' and 'explain' uses it. At least 50
different inputs must have a label, a category of the taxonomy; several allowed ones have
'|' between. The model is on this machine alone, and the same inputs give the same file of
at most 2 MB.

With --store the labels are the answers that a hosted service has given: the best category
of each. See whether the terms of that service permit it.

The report is of a cross-validation: each input is answered by a model of other inputs.
Labels that are not in the taxonomy or contradict each other, and repeated inputs, are
listed with their lines; --suspects also lists the labels that are probably wrong.`,
		Example: `  bulkcat learn labelled.csv --input-column title --label-column category -o shop.model
  bulkcat product catalog.csv -o catalog.parquet --model shop.model
  bulkcat learn labelled.csv --input-column title --label-column category -o shop.model --taxonomy shop.csv
  bulkcat learn companies.csv --input-column url --label-column code --classification naics -o naics.model
  bulkcat learn --store answers.db --classification product_taxonomy -o vendor.model`,
		Args: operands(0, anyNumber, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.input.Paths = args
			if len(args) > 0 && !given(cmd.Flags(), "store") {
				f.store = ""
			}
			return f.run(cmd.Context())
		},
	}
	addGroup(cmd, "Input", f.input.labelledOptions(&f.labelColumn), []option{
		{name: "store", to: &f.store, help: "learn from the answers of a hosted service in the store `FILE` in place of files"},
		{name: "source", to: &f.source, help: "the `URL` of that service, if the store has answers of several"},
		{name: "limit", to: &f.limit, check: atLeast(&f.limit, 0), help: "read only the first `N` records; of a store N answers, chosen by a hash of their inputs (default 100000)"},
	})
	addGroup(cmd, "Output", f.output.options("write the model to `FILE`"), []option{
		{name: "suspects", to: &f.suspects.path, help: "write the labels that are wrong or probably wrong to `FILE`, as CSV, and the repeated inputs"},
	}, jsonOption(&f.asJSON, "one line of JSON"))
	addGroup(cmd, "Service", f.kindOptions(), []option{
		{name: "taxonomy", to: &f.service.taxonomies.given, help: "the labels are categories of the custom product taxonomy in `FILE`, which the model keeps, and whose classification is " + client.CustomPrefix + " and the name of the file; NAME=FILE gives the classification a name"},
	}, f.service.taxonomies.editionOptions(), f.service.fetch.options())
	addGroup(cmd, "Run", f.log.options())
	return cmd
}

// memoryOfLearning is the size of the heap in bytes from which on the garbage collector works harder: the features of 100,000
// titles and the training of their model take 300 MB.
const memoryOfLearning = 360 << 20

func (f *learnFlags) run(ctx context.Context) error {
	kind, err := f.check()
	if err != nil {
		return &usageError{err}
	}
	limitMemory(memoryOfLearning)
	log := f.log.logger(f.streams.err)
	stored, err := f.stored(kind, log)
	if err != nil {
		return err
	}
	custom, err := f.taxonomy(stored)
	if err != nil {
		return &usageError{err}
	}
	if err := f.checkOutputs(custom); err != nil {
		return err
	}
	options := embedded.Options{Fetch: f.service.fetch.fetcher(log), Logger: log}
	if custom.File != "" {
		options.Custom = []*taxonomy.Custom{custom}
	}
	learning := labelled.Learning{Kind: kind, Taxonomy: custom, Features: embedded.New(options).Features, Stored: stored}
	if stored == nil {
		f.input.Log = log
		if learning.Input, err = f.input.options(f.streams.in); err != nil {
			return &usageError{err}
		}
		learning.LabelColumn, learning.Limit = f.labelColumn, f.limit
	}
	started := time.Now()
	learned, err := labelled.Learn(ctx, learning)
	f.tellFindings(learned.Findings)
	if err != nil {
		return err
	}
	log.Debug("the model is made", "seconds", time.Since(started).Seconds())
	return f.write(learned)
}

// check returns the kind, and sets the default classification.
func (f *learnFlags) check() (client.Kind, error) {
	if len(f.service.taxonomies.given) > 1 {
		return "", fmt.Errorf("--taxonomy: a model is of one taxonomy: leave out %s", f.service.taxonomies.given[1])
	}
	if err := f.service.taxonomies.load(f.log.logger(f.streams.err)); err != nil {
		return "", err
	}
	for _, custom := range f.service.taxonomies.loaded {
		if f.classification == "" {
			f.classification = custom.Name
		} else if f.classification != custom.Name {
			return "", fmt.Errorf("--classification: %s is not the name of the taxonomy %s: leave it out", f.classification, custom.Name)
		}
	}
	kind, err := f.checkSource()
	switch {
	case err != nil:
		return "", err
	case f.store == "" && f.source != "":
		return "", errors.New("--source: is about the answers of a store: name it with --store")
	case f.output.path == "":
		return "", errors.New("no output: name a file for the model (-o shop.model)")
	case f.output.path == "-":
		return "", errors.New("--output: a model is no text: name a file")
	}
	return kind, nil
}

// checkSource checks that either files and their columns or a store are given.
func (f *learnFlags) checkSource() (client.Kind, error) {
	switch {
	case f.store == "" && len(f.input.Paths) == 0:
		return "", errors.New("no input: name a file of inputs and their labels, or a store with --store")
	case f.store == "":
		return f.evalFlags.check()
	case len(f.input.Paths) > 0:
		return "", fmt.Errorf("--store: the labels are those of the store: leave out %s", f.input.Paths[0])
	case len(f.input.Columns) > 0 || f.labelColumn != "":
		return "", errors.New("--store: a store has no columns: leave out --input-column and --label-column")
	}
	return f.checkKind()
}

// stored reads the labels of the store, if one is named.
func (f *learnFlags) stored(kind client.Kind, log *slog.Logger) (*labelled.StoredLabels, error) {
	if f.store == "" {
		return nil, nil
	}
	labels, err := labelled.ReadLabels(labelled.StoredAnswers{
		Path: f.store, Source: f.source, Kind: kind, Classification: f.classification, Most: f.limit,
	})
	if err != nil {
		return nil, err
	}
	log.Info(fmt.Sprintf("learning from %d of %d stored answers of %s; %d more have no category", labels.Len(), labels.Found, labels.Source, labels.Without))
	return labels, nil
}

// taxonomy returns the taxonomy of the labels. Of a published taxonomy it returns the given edition, or the edition that has the
// most stored labels, or the default edition.
func (f *learnFlags) taxonomy(stored *labelled.StoredLabels) (*taxonomy.Custom, error) {
	for _, e := range f.service.taxonomies.editions {
		if len(f.service.taxonomies.loaded) > 0 || e.Name != f.classification {
			return nil, fmt.Errorf("--edition: %s is an edition of %s, and the labels are of %s", e.Version, e.Name, f.classification)
		}
	}
	if len(f.service.taxonomies.loaded) > 0 {
		return f.service.taxonomies.loaded[0], nil
	}
	edition, _ := f.service.taxonomies.editions.Of(f.classification) // published, or check has refused it
	if stored != nil && f.service.taxonomies.versions == nil {
		edition, _ = stored.Edition(f.classification)
	}
	return &taxonomy.Custom{Taxonomy: *edition.Load()}, nil
}

// checkOutputs checks that the files of the model and the suspects can be written, and are no inputs.
func (f *learnFlags) checkOutputs(custom *taxonomy.Custom) error {
	f.suspects.overwrite = f.output.overwrite
	read := append(slices.Clone(f.input.Paths), custom.File)
	if err := errors.Join(f.output.check(read...), f.suspects.check(read...)); err != nil {
		return err
	}
	if f.suspects.path != "" && places.IsSame(f.suspects.path, f.output.path) {
		return &usageError{errors.New("--suspects: is the file of the model: name another")}
	}
	return nil
}

// mostFindings is the maximum number of findings on standard error; --suspects writes all.
const mostFindings = 20

func (f *learnFlags) tellFindings(findings []learn.Finding) {
	for i, finding := range findings {
		if i == mostFindings {
			fmt.Fprintf(f.streams.err, "and %d more lines: --suspects FILE writes all\n", len(findings)-i)
			break
		}
		fmt.Fprintf(f.streams.err, "%s: %s (%q, %q)\n", finding.Row, finding.Problem, finding.Input, finding.Label)
	}
}

// write publishes the files, and prints the report.
func (f *learnFlags) write(learned labelled.Learned) error {
	var file bytes.Buffer
	if _, err := learned.Model.WriteTo(&file); err != nil {
		return err
	}
	if f.suspects.path != "" {
		if err := f.suspects.publish(f.streams.out, func(out io.Writer) error { return writeSuspects(out, learned) }); err != nil {
			return err
		}
	}
	write := func(out io.Writer) error { _, err := out.Write(file.Bytes()); return err }
	if err := f.output.publish(nil, write); err != nil {
		return err
	}
	m := learned.Model
	return f.streams.print(learnedReport{
		Model: f.output.path, Fingerprint: m.Fingerprint(), Bytes: file.Len(), Classification: m.Classification, Records: learned.Records,
		Invalid: learned.Invalid, Unread: learned.Unread, Labels: m.Labels, Classes: len(m.Classes), Findings: len(learned.Findings), Suspects: len(learned.Suspects),
		Engine: m.Engine, Report: m.Report, Sure: surenessOf(m),
	}, f.asJSON)
}

const suspectsHeader = "file,line,input,label,problem,answer,confidence\n"

func isSuspects(text []byte) bool { return bytes.HasPrefix(text, []byte(suspectsHeader)) }

// writeSuspects writes the findings, and then the suspects, the most probable suspect first.
func writeSuspects(out io.Writer, learned labelled.Learned) error {
	w := csv.NewWriter(out)
	_ = w.Write(strings.Split(strings.TrimSpace(suspectsHeader), ",")) // Error reports it
	for _, f := range learned.Findings {
		_ = w.Write([]string{f.File, lineText(f.Row), f.Input, f.Label, f.Problem, "", ""})
	}
	for _, s := range learned.Suspects {
		problem := "a model of the other inputs answers otherwise"
		_ = w.Write([]string{s.File, lineText(s.Row), s.Input, s.Label, problem, s.Answer, fmt.Sprintf("%.4f", s.Confidence)})
	}
	w.Flush()
	return w.Error()
}

// lineText returns the line of a row; "" for a row from a store.
func lineText(r learn.Row) string {
	if r.Line == 0 {
		return ""
	}
	return strconv.FormatInt(r.Line, 10)
}

// learnedReport is the result of `learn`.
type learnedReport struct {
	Model          string `json:"model"`
	Fingerprint    string `json:"fingerprint"`
	Bytes          int    `json:"bytes"`
	Classification string `json:"classification"`
	Records        int64  `json:"records"`
	Invalid        int64  `json:"invalid"`
	Unread         int64  `json:"unread"`
	Labels         int    `json:"labels"`
	Classes        int    `json:"classes"`
	Findings       int    `json:"findings"`
	Suspects       int    `json:"suspects"`

	Engine float64         `json:"engine_top_1"`
	Report evaluate.Report `json:"cross_validation"`
	Sure   []sureness      `json:"sure"`
}

// sureness is the lowest confidence from which on at least the share Precision of a model's answers equal the labels: see
// learn.Model.Sure.
type sureness struct {
	Precision  float64 `json:"precision"`
	Confidence float64 `json:"confidence"`
	Inputs     float64 `json:"inputs"` // the share of the inputs with such answers
}

// surenessOf returns the confidences for some precisions; none for a model of few labels.
func surenessOf(m *learn.Model) []sureness {
	list := []sureness{}
	for _, precision := range []float64{0.99, 0.95, 0.90, 0.80} {
		if confidence, ok := m.Sure(precision); ok {
			list = append(list, sureness{precision, confidence, float64(m.From(confidence).Rows) / float64(m.Compared)})
		}
	}
	return list
}

// WriteText writes the report as text for a terminal.
func (r learnedReport) WriteText(out io.Writer) error {
	fmt.Fprintf(out, "model     %s (%d bytes, %s, fingerprint %s)\n", r.Model, r.Bytes, r.Classification, r.Fingerprint)
	fmt.Fprintf(out, "records   %d: %d with a label, %d invalid, %d that could not be read\n", r.Records, r.Labels, r.Invalid, r.Unread)
	fmt.Fprintf(out, "labels    %d different; %d lines to look at, %d labels that are probably wrong\n", r.Classes, r.Findings, r.Suspects)
	fmt.Fprintf(out, "engine    %.1f%% top-1 without the model\n\nCross-validation: each input is answered by a model of other inputs.\n", 100*r.Engine)
	if err := r.Report.WriteText(out); err != nil || len(r.Sure) == 0 {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nEQUAL TO THE LABEL\tFROM CONFIDENCE\tINPUTS")
	for _, s := range r.Sure {
		fmt.Fprintf(w, "at least %.0f%%\t%.4f\t%.1f%%\n", 100*s.Precision, s.Confidence, 100*s.Inputs)
	}
	return w.Flush()
}
