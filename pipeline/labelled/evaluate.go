package labelled

import (
	"context"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/evaluate"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/flow"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Evaluation describes the evaluation of a service with labelled inputs. All fields but Editions, Taxonomies and Limit are
// required.
type Evaluation struct {
	Kind           client.Kind
	Classification string
	Editions       taxonomy.Choice    // editions that are not the default editions
	Taxonomies     []*taxonomy.Custom // taxonomies of custom classifications, in addition to the published taxonomies
	Attempter      client.Attempter
	Input          reader.Options // Columns is required
	LabelColumn    string         // the column of the right answers: see package evaluate
	Limit          int64          // maximum number of records to read; 0 for all
}

// Evaluate asks for all records, and compares the answers with the labels. Nothing is stored or written.
// The errors are a *pipeline.OptionError for a missing LabelColumn, those of reader.Open and those of [flow.Run].
func Evaluate(ctx context.Context, e Evaluation) (evaluate.Report, error) {
	input, places, err := openLabelled(ctx, e.Input, optionColumn{"LabelColumn", e.LabelColumn})
	if err != nil {
		return evaluate.Report{}, err
	}
	defer input.Close() // only read from
	tally := evaluate.ForTaxonomy(e.Editions.Taxonomy(e.Classification, e.Taxonomies))
	parts := flow.Parts{Source: input, Attempter: e.Attempter, Each: func(r reader.Record, entries []client.Entry, err error) error {
		if !writer.HasInput(flow.StatusOf(err)) {
			tally.Invalid()
			return nil
		}
		tally.Add(labelOf(r, places[0]), entries)
		return nil
	}}
	_, err = flow.Run(ctx, parts, flow.Options{
		Kind: e.Kind, Classifications: []flow.Classification{{Name: e.Classification}}, Conduct: flow.Conduct{Retry: client.DefaultRetryPolicy()},
		Requested: account.Requested{Dedupe: account.DedupeExact, Limit: e.Limit},
	})
	return tally.Report(), err
}
