package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/evaluate"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Evaluation describes a measurement of a service against labelled inputs. All but Taxonomies and Limit
// is required.
type Evaluation struct {
	Kind           client.Kind
	Classification string
	Taxonomies     []*taxonomy.Custom // of custom classifications, beside the published ones
	Categorizer    client.Categorizer
	Input          reader.Options // Columns is required
	LabelColumn    string         // of the right answers: see package evaluate
	Limit          int64          // records read at most; 0 for all
}

// Evaluate asks for all records, and compares the answers with the labels. Nothing is stored or written.
// The errors are an *[OptionError] for a missing LabelColumn, those of reader.Open and those of [Run].
func Evaluate(ctx context.Context, e Evaluation) (evaluate.Report, error) {
	e.Input.Context, e.Input.Missing = ctx, client.Normalizer{}.IsMissing
	e.Input.ExtraColumns = []string{e.LabelColumn}
	input, err := reader.Open(e.Input)
	if err != nil {
		return evaluate.Report{}, err
	}
	defer input.Close() // only read from
	place := slices.Index(input.Columns(), e.LabelColumn)
	if place < 0 {
		return evaluate.Report{}, &OptionError{"LabelColumn", fmt.Errorf("the input has no column %q; it has: %s", e.LabelColumn, strings.Join(input.Columns(), ", "))}
	}
	o := SessionOptions{Taxonomies: e.Taxonomies}
	sink := &tallySink{tally: evaluate.ForTaxonomy(o.taxonomyOf(e.Classification))}
	parts := Parts{Source: input, Categorizer: e.Categorizer, Sink: sink}
	_, err = Run(ctx, parts, Options{
		Kind: e.Kind, Classifications: []Classification{{Name: e.Classification}}, Retry: client.DefaultRetryPolicy(),
		Limit:  e.Limit,
		Schema: writer.Schema{Carry: []string{e.LabelColumn}}, Carry: []int{place},
	})
	return sink.tally.Report(), err
}

// tallySink is a sink that compares the rows of each record with its label.
type tallySink struct {
	tally *evaluate.Comparison

	record  int64 // the number of the record whose rows come in; 0 for none
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
