package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/evaluate"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// evalFlags are the flags of `eval`.
type evalFlags struct {
	streams        streams
	input          inputFlags
	labelColumn    string
	kind           string
	classification string
	limit          int64
	service        serviceFlags
	asJSON         bool
	log            logFlags
}

func newEval(s streams) *cobra.Command {
	f := &evalFlags{streams: s}
	f.service.timeout = 5 * time.Minute // a busy machine must not change what is measured
	cmd := &cobra.Command{
		Use:   "eval FILE... --input-column COLUMN --label-column COLUMN",
		Short: "Measure the embedded service against labelled inputs",
		Long: `Measure the embedded service against labelled inputs: how often the first entry, or one
of the first three, is right, at which level, what is confused with what, and whether the
confidences can be believed. A label holds the allowed answers, '|' between them; an answer
is right when it is one of them or lies below one. Always the embedded service is asked,
never a hosted one, so that nothing is charged; with --fetch never no network is needed.`,
		Example: `  bulkcat eval labelled.csv --input-column title --label-column category
  bulkcat eval companies.tsv --input-column url --label-column code --classification naics --fetch never`,
		Args: operands(1, 0, "no input: name a file of inputs and their labels"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.input.Paths = args
			return f.run(cmd.Context())
		},
	}
	addGroup(cmd, "Input", func(flags *pflag.FlagSet) {
		flags.StringVar(&f.input.Column, "input-column", "", "the `column` of the inputs")
		flags.StringVar(&f.labelColumn, "label-column", "", "the `column` of the labels")
		f.input.bindFormat(flags)
		flags.Int64Var(&f.limit, "limit", 0, "read only the first `N` records")
	})
	addGroup(cmd, "Service", func(flags *pflag.FlagSet) {
		flags.StringVar(&f.kind, "kind", "", "website or product (default: by the classification; product without one)")
		flags.StringVar(&f.classification, "classification", "", "the `name` of what to ask for (default "+client.TaxonomyV3+" or "+client.ProductTaxonomy+")")
		f.service.fetch.bind(flags)
		f.service.taxonomies.bind(flags)
	})
	addGroup(cmd, "Output", func(flags *pflag.FlagSet) {
		flags.BoolVar(&f.asJSON, "json", false, "one line of JSON")
	})
	addGroup(cmd, "Run", f.log.bind)
	return cmd
}

func (f *evalFlags) run(ctx context.Context) error {
	if err := f.service.taxonomies.load(); err != nil {
		return err
	}
	kind, err := f.check()
	if err != nil {
		return &usageError{err}
	}
	log := f.log.logger(f.streams.err)
	svc, err := f.service.open(embeddedInFlight, log)
	if err != nil {
		return err
	}
	defer svc.Close()
	if err := f.service.taxonomies.has(f.classification); err != nil {
		return &usageError{err}
	}
	f.input.ExtraColumns, f.input.Log = []string{f.labelColumn}, log
	input, err := f.input.open(kind, f.streams.in)
	if err != nil {
		return err
	}
	defer input.Close() // only read from
	tally, err := f.measure(ctx, kind, svc, input)
	if err != nil {
		return err
	}
	report := tally.Report()
	if report.Labelled == 0 {
		return fmt.Errorf("none of %d records has a label in %q: check --label-column", report.Records, f.labelColumn)
	}
	return f.print(report)
}

// check finds the kind, and the classification where it is left open.
func (f *evalFlags) check() (client.Kind, error) {
	kind := client.Kind(f.kind)
	switch {
	case f.input.Column == "":
		return "", errors.New("no inputs: name their column with --input-column")
	case f.labelColumn == "":
		return "", errors.New("no labels: name their column with --label-column")
	case f.limit < 0:
		return "", fmt.Errorf("--limit: %d must not be negative", f.limit)
	case kind == "" && client.CheckClassification(client.Website, f.classification) == nil:
		kind = client.Website
	case kind == "":
		kind = client.Product
	case operations[kind] == "":
		return "", fmt.Errorf("--kind: %q must be %s or %s", kind, client.Website, client.Product)
	}
	if f.classification == "" {
		f.classification = f.service.taxonomies.fallback(kind)
	}
	if err := client.CheckClassification(kind, f.classification); err != nil {
		return "", fmt.Errorf("--classification: %w", err)
	}
	return kind, f.log.check()
}

// measure is a run whose rows are counted and not written.
func (f *evalFlags) measure(ctx context.Context, kind client.Kind, svc service, input *reader.Reader) (*evaluate.Tally, error) {
	place := slices.Index(input.Columns(), f.labelColumn)
	if place < 0 {
		return nil, &usageError{fmt.Errorf("--label-column: the input has no column %q; it has: %s", f.labelColumn, strings.Join(input.Columns(), ", "))}
	}
	sink := &tallySink{tally: f.newTally()}
	parts := pipeline.Parts{Source: input, Categorizer: svc.categorizer, Sink: sink, Counters: new(pipeline.Counters)}
	_, err := pipeline.Run(ctx, parts, pipeline.Options{
		Kind: kind, Classifications: []pipeline.Classification{{Name: f.classification}}, Retry: client.DefaultRetryPolicy(),
		Limit:  f.limit,
		Schema: writer.Schema{Carry: []string{f.labelColumn}}, Carry: []int{place},
	})
	return sink.tally, err
}

// newTally knows the values of the classification.
func (f *evalFlags) newTally() *evaluate.Tally {
	levels, t := evaluate.Levels(evaluate.PathLevels), f.service.taxonomies.of(f.classification)
	if f.classification == client.NAICS {
		levels = evaluate.CodeLevels
	}
	known := make(map[string]bool, len(t.Categories))
	for i := range t.Categories {
		known[strings.Join(levels(t.Categories[i].Path), taxonomy.PathSeparator)] = true
	}
	return evaluate.New(levels, func(value string) bool { return known[value] })
}

// tallySink counts each record once its rows are there.
type tallySink struct {
	tally *evaluate.Tally

	record  int64 // whose rows are being collected; 0 for none
	status  writer.Status
	label   string
	answers []evaluate.Answer
}

// Write takes the rows of records in order.
func (s *tallySink) Write(rows []writer.Row) error {
	for i := range rows {
		row := &rows[i]
		if row.Record != s.record {
			s.count()
			s.record, s.status, s.label = row.Record, row.Status, ""
			if len(row.Fields) > 0 {
				s.label = row.Fields[0]
			}
		}
		if row.Rank > 0 {
			s.answers = append(s.answers, evaluate.Answer{Value: row.Value, Confidence: row.Confidence})
		}
	}
	return nil
}

func (s *tallySink) count() {
	switch {
	case s.record == 0:
	case s.status == writer.StatusInvalid:
		s.tally.Invalid()
	default:
		s.tally.Add(s.label, s.answers)
	}
	s.record, s.answers = 0, s.answers[:0]
}

// Close counts the last record.
func (s *tallySink) Close() (writer.Published, error) {
	s.count()
	return writer.Published{}, nil
}

// Abort leaves nothing behind.
func (s *tallySink) Abort() error { return nil }

func (f *evalFlags) print(r evaluate.Report) error {
	if f.asJSON {
		encoder := json.NewEncoder(f.streams.out)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(r)
	}
	return printReport(f.streams.text(), r)
}

func printReport(out io.Writer, r evaluate.Report) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "records\t%d\t%d labelled, %d without a label, %d invalid\n", r.Records, r.Labelled, r.Unlabelled, r.Invalid)
	if r.Unknown > 0 {
		fmt.Fprintf(w, "unknown labels\t%d\tare not in the taxonomy: no answer to them can be right\n", r.Unknown)
	}
	fmt.Fprintf(w, "coverage\t%s\t%d answered\n", percent(r.Coverage), r.Answered)
	fmt.Fprintf(w, "top-1\t%s\t%s of the answered\n", percent(r.Top1), percent(r.Top1OfAnswered))
	fmt.Fprintf(w, "top-3\t%s\n", percent(r.Top3))
	fmt.Fprintln(w, "\nLEVEL\tLABELLED\tRIGHT")
	for _, level := range r.Levels {
		fmt.Fprintf(w, "%d\t%d\t%s\n", level.Level, level.Labelled, percent(level.Right))
	}
	fmt.Fprintln(w, "\nCONFIDENCE\tRECORDS\tMEAN\tRIGHT")
	for _, bin := range r.Bins {
		fmt.Fprintf(w, "%.1f to %.1f\t%d\t%.2f\t%.2f\n", bin.From, bin.To, bin.Count, bin.Confidence, bin.Right)
	}
	fmt.Fprintf(w, "calibration error\t\t\t%.2f\n", r.CalibrationError)
	if len(r.Confusions) > 0 {
		fmt.Fprintln(w, "\nCOUNT\tLABEL\tANSWERED")
	}
	for _, c := range r.Confusions {
		fmt.Fprintf(w, "%d\t%s\t%s\n", c.Count, c.Label, c.Answer)
	}
	if r.Uncounted > 0 {
		fmt.Fprintf(w, "%d\t(rarer pairs, not told apart)\n", r.Uncounted)
	}
	return w.Flush()
}

func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }
