package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/labelled"
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
	f.service.Timeout = 5 * time.Minute // a busy machine must not change the measurement
	cmd := &cobra.Command{
		Use:   "eval FILE... --input-column COLUMN --label-column COLUMN",
		Short: "Measure the embedded service against labelled inputs",
		Long: `Measure the embedded service against labelled inputs: how often the first entry, or one
of the first three, is right, at which level, which categories are confused, and whether
the confidences are right. A label is a list of allowed categories with '|' between; an
answer is right if it is an allowed category, or lies below one. Hosted services are never
asked, so nothing is charged; with --fetch never no network is needed.`,
		Example: `  bulkcat eval labelled.csv --input-column title --label-column category
  bulkcat eval companies.tsv --input-column url --label-column code --classification naics --fetch never`,
		Args: operands(1, anyNumber, "no input: name a file of inputs and their labels"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.input.Paths = args
			return f.run(cmd.Context())
		},
	}
	addGroup(cmd, "Input", f.input.labelledOptions(&f.labelColumn), []option{
		{name: "limit", to: &f.limit, check: atLeast(&f.limit, 0), help: "read only the first `N` records"},
	})
	addGroup(cmd, "Service", f.kindOptions(), f.service.fetch.options(), f.service.taxonomies.options(), f.service.taxonomies.editionOptions())
	addGroup(cmd, "Output", jsonOption(&f.asJSON, "one line of JSON"))
	addGroup(cmd, "Run", f.log.options())
	return cmd
}

func (f *evalFlags) run(ctx context.Context) error {
	log := f.log.logger(f.streams.err)
	if err := f.service.taxonomies.load(log); err != nil {
		return err
	}
	kind, err := f.check()
	if err != nil {
		return &usageError{err}
	}
	svc, err := f.service.open(ctx, 1, log)
	if err != nil {
		return err
	}
	defer svc.Close()
	f.input.Log = log
	input, err := f.input.options(f.streams.in)
	if err != nil {
		return &usageError{err}
	}
	report, err := labelled.Evaluate(ctx, labelled.Evaluation{
		Kind: kind, Classification: f.classification, Taxonomies: f.service.taxonomies.loaded, Editions: f.service.taxonomies.editions, Attempter: svc.Attempter,
		Input: input, LabelColumn: f.labelColumn, Limit: f.limit,
	})
	if err != nil {
		return err
	}
	if report.Labelled == 0 {
		return fmt.Errorf("none of %d records has a label in %q: check --label-column", report.Records, f.labelColumn)
	}
	return f.streams.print(report, f.asJSON)
}

// kindOptions returns the options of the labels: their kind and their classification.
func (f *evalFlags) kindOptions() []option {
	return append([]option{
		{name: "kind", to: &f.kind, words: kinds, only: true, help: "website or product (default: by the classification; product without one)"},
	}, classificationOption(&f.classification)...)
}

// check checks the columns, returns the kind, and sets the default classification.
func (f *evalFlags) check() (client.Kind, error) {
	switch {
	case len(f.input.Columns) == 0:
		return "", errors.New("no inputs: name their column with --input-column")
	case f.labelColumn == "":
		return "", errors.New("no labels: name their column with --label-column")
	}
	return f.checkKind()
}

// checkKind returns the kind, and sets the default classification.
func (f *evalFlags) checkKind() (client.Kind, error) {
	kind := client.Kind(f.kind)
	switch {
	case kind == "" && client.CheckClassification(client.Website, f.classification) == nil:
		kind = client.Website
	case kind == "" && len(f.service.taxonomies.models.loaded) > 0:
		kind = f.service.taxonomies.models.loaded[0].Kind
	case kind == "":
		kind = client.Product
	}
	var err error
	f.classification, err = f.service.taxonomies.choose(kind, f.classification)
	return kind, err
}
