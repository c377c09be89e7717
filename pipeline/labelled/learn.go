package labelled

import (
	"context"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/flow"
	"github.com/bulkcat/bulkcat/pipeline/internal/selection"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Learning describes the labels of a model: labelled inputs, or stored answers. All fields but Limit are required; Stored stands
// for Input, LabelColumn and Limit.
type Learning struct {
	Kind     client.Kind
	Taxonomy *taxonomy.Custom // of the labels; a published taxonomy has no File
	Features func(context.Context, client.Request) (learn.Features, error)

	Input       reader.Options // Columns is required
	LabelColumn string
	Limit       int64 // maximum number of records to read; 0 for all

	Stored *StoredLabels // nil for none
}

// Learned is a model, with the findings about its labels.
type Learned struct {
	Model    *learn.Model
	Records  int64 // records read
	Invalid  int64 // of Records: records that could not be asked
	Unread   int64 // of Records: inputs whose features could not be read
	Findings []learn.Finding
	Suspects []learn.Suspect
}

// Learn learns a model from labelled inputs. The errors are a *pipeline.OptionError for a missing LabelColumn, those of reader.Open,
// of [flow.Run] and of learn.Learner.Train. After an error of Train the findings are complete.
func Learn(ctx context.Context, o Learning) (Learned, error) {
	var source selection.Source = o.Stored
	requested, place := account.Requested{AskPlaceholders: o.Stored != nil, Dedupe: account.DedupeExact, Limit: o.Limit}, 0
	if o.Stored == nil {
		input, columns, err := openLabelled(ctx, o.Input, optionColumn{"LabelColumn", o.LabelColumn})
		if err != nil {
			return Learned{}, err
		}
		defer input.Close() // only read from
		source, place = input, columns[0]
	}
	var learned Learned
	learner := learn.NewLearner(o.Kind, o.Taxonomy)
	readFeatures := &featureReader{features: o.Features, normalizer: selection.Normalizer(requested), read: make(map[client.Request]learn.Features)}
	options := flow.Options{
		Kind: o.Kind, Classifications: []flow.Classification{{Name: o.Taxonomy.Name}}, Conduct: flow.Conduct{Retry: client.DefaultRetryPolicy()},
		Requested: requested,
	}
	_, err := flow.Run(ctx, flow.Parts{Source: source, Attempter: readFeatures, Each: readFeatures.each(o, &learned, learner, place)}, options)
	learned.Findings = learner.Findings()
	if err != nil {
		return learned, err
	}
	learned.Model, learned.Suspects, err = learner.Train(ctx)
	return learned, err
}

// featureReader is an Attempter that keeps the features of inputs. Its answers have no categories.
type featureReader struct {
	features   func(context.Context, client.Request) (learn.Features, error)
	normalizer normalize.Normalizer

	mu   sync.Mutex
	read map[client.Request]learn.Features
}

func (f *featureReader) Attempt(ctx context.Context, r client.Request) (client.Answer, error) {
	features, err := f.features(ctx, r)
	if err != nil {
		return client.Answer{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read[r] = features
	return client.Answer{Free: true, AnsweredAt: time.Now()}, nil
}

// each returns the function that adds the records to the learner, in their order.
func (f *featureReader) each(o Learning, learned *Learned, learner *learn.Learner, place int) flow.Each {
	return func(r reader.Record, _ []client.Entry, err error) error {
		learned.Records++
		if !writer.HasInput(flow.StatusOf(err)) {
			learned.Invalid++
			return nil
		}
		request, err := f.normalizer.Request(o.Kind, r.Input, o.Taxonomy.Name)
		if err != nil {
			return err
		}
		f.mu.Lock()
		features, ok := f.read[request]
		f.mu.Unlock()
		if !ok {
			learned.Unread++
			return nil
		}
		learner.Add(learn.Row{File: r.File, Line: r.Line, Input: r.Input}, features, labelOf(r, place))
		return nil
	}
}
