package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/figures"
	"github.com/bulkcat/bulkcat/pipeline/labelled"
)

// importFlags are the flags of `store import`.
type importFlags struct {
	storeFlags
	input          inputFlags
	category       string // the column
	confidence     string // the column
	kind           string
	classification string
	source         string
	as             string
}

func newStoreImport(s streams) *cobra.Command {
	f := importFlags{storeFlags: storeFlags{streams: s}}
	cmd := &cobra.Command{
		Use:   "import FILE...",
		Short: "Add the answers of other stores, or of tables that were paid for elsewhere",
		Long: `Add the answers of other stores; of two answers to one request the newer is kept, and a
missing store is made. With --category-column the files are tables of answers that were
paid for elsewhere: a row for each category, those of one input one after the other. The
answers are as old as the file. Runs that ask the service at --source find them.`,
		Example: `  bulkcat store import --store project/answers.db colleague/answers.db
  bulkcat store import old.csv --input-column url --category-column category --source https://api.example.com
  bulkcat store import answers.db --source https://old.example.com --as https://new.example.com   # it has moved`,
		Args: operands(1, anyNumber, "name the stores or the tables whose answers are added"),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd.Context(), args) },
	}
	addGroup(cmd, "Store", f.options(), []option{
		{name: "source", to: &f.source, help: "the `URL` of the service that has given the answers; of stores, only its answers are added"},
		{name: "as", to: &f.as, help: "add the answers of stores as those of the service at `URL`, to which it has moved"},
	})
	addGroup(cmd, "Table", f.input.columnOptions("input-column", "the `column` of the inputs; may be given several times"), []option{
		{name: "category-column", to: &f.category, help: "the `column` of the categories, as the service gives them"},
		{name: "confidence-column", to: &f.confidence, help: "the `column` of their confidences (default: none)"},
		{name: "kind", to: &f.kind, words: kinds, only: true, help: "website or product (default: by the name of the input column)"},
	}, classificationOption(&f.classification), f.input.formatOptions())
	return cmd
}

func (f *importFlags) run(ctx context.Context, paths []string) (err error) {
	for _, url := range []*string{&f.source, &f.as} {
		if *url == "" {
			continue
		}
		service, err := client.New(client.Options{BaseURL: *url})
		if err != nil {
			return &usageError{err}
		}
		*url = service.Source() // the name that runs use
	}
	add := f.addStore
	if f.category != "" || len(f.input.Columns) > 0 {
		if err := f.checkTable(); err != nil {
			return &usageError{err}
		}
		add = f.addTable
	} else if err := f.checkStores(paths); err != nil {
		return &usageError{err}
	}
	return f.with(answers.Options{}, func(store *answers.Store) error {
		for _, path := range paths {
			if err := add(ctx, store, path); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *importFlags) checkStores(paths []string) error {
	for _, path := range paths {
		if err := answers.Check(path); err != nil || !answers.IsStore(path) {
			return fmt.Errorf("import: %v; of a table name --input-column and --category-column", cmp.Or(err, error(&answers.Error{Path: path, Kind: answers.Missing}))) // --store names another file
		}
	}
	if f.as != "" && f.source == "" {
		return errors.New("--as: say which service has moved with --source")
	}
	return nil
}

func (f *importFlags) checkTable() error {
	switch kind := pipeline.KindOf(append(f.input.Columns, "")[0]); {
	case len(f.input.Columns) == 0:
		return errors.New("no inputs: name their column with --input-column")
	case f.category == "":
		return errors.New("no categories: name their column with --category-column")
	case f.source == "":
		return errors.New("no service: name the service that has given the answers with --source, as runs do with --base-url")
	case f.as != "":
		return errors.New("--as is for stores: name the present service of a table with --source")
	case f.kind == "" && f.classification != "" && client.CheckClassification(client.Website, f.classification) == nil:
		f.kind = string(client.Website)
	case f.kind == "" && f.classification != "":
		f.kind = string(client.Product)
	case f.kind == "" && kind == "":
		return fmt.Errorf("the column %s does not show the kind of its inputs: add --kind website or --kind product", f.input.Columns[0])
	case f.kind == "":
		f.kind = string(kind)
	}
	kind := client.Kind(f.kind)
	f.classification = cmp.Or(f.classification, client.Classifications(kind)[0])
	if err := client.CheckClassification(kind, f.classification); err != nil {
		return fmt.Errorf("--classification: %w", err)
	}
	return nil
}

// addStore adds the answers of a store, or only the answers of one service.
func (f *importFlags) addStore(ctx context.Context, to *answers.Store, path string) error {
	from, err := answers.Open(answers.Options{Path: path, ReadOnly: true})
	if err != nil {
		return err
	}
	imported, err := to.Import(ctx, func(visit func(answers.Stored) error) error {
		return from.Scan(func(a answers.Stored) error {
			if f.source != "" && a.Source != f.source {
				return nil
			}
			a.Source = cmp.Or(f.as, a.Source)
			return visit(a)
		})
	})
	f.tell(imported, "")
	return errors.Join(err, from.Close())
}

// addTable adds the answers of a table.
func (f *importFlags) addTable(ctx context.Context, to *answers.Store, path string) error {
	f.input.Paths = []string{path}
	f.input.Log = new(logFlags).logger(f.err)
	input, err := f.input.options(f.in)
	if err != nil {
		return &usageError{err}
	}
	t := labelled.Table{
		Kind: client.Kind(f.kind), Classification: f.classification, Source: f.source,
		Input: input, CategoryColumn: f.category, ConfidenceColumn: f.confidence,
	}
	imported, err := to.Import(ctx, func(visit func(answers.Stored) error) error { return t.Scan(ctx, visit) })
	f.tell(imported, fmt.Sprintf(" (%ss in %s, of %s; %d inputs, %d rows without a category, %d invalid)",
		f.kind, f.classification, t.As.Format(time.DateOnly), t.Answers, t.Without, t.Invalid))
	if t.Unknown > 0 {
		input.Log.Warn("the taxonomy does not have some of the categories: they are stored as they are", "option", "pipeline.Classifications", "unknown", t.Unknown, "of", t.Unknown+t.Known)
	}
	if t.Apart > 0 {
		input.Log.Warn("rows of one input are not one after the other: the answer is that of the first ones, so sort the table by the input, and import it to a new store", "places", t.Apart)
	}
	if t.Unread > 0 {
		input.Log.Warn("some confidences are no numbers such as 0.87, and were left out", "flag", "--confidence-column", "rows", t.Unread)
	}
	return err
}

func (f *importFlags) tell(imported answers.Imported, more string) {
	fmt.Fprintf(f.err, "imported %s, %d were there%s\n", figures.Counted(imported.Added, "answer"), imported.Kept, more)
}
