package pipeline

import (
	"context"
	"errors"
	"io"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
)

// Forecast is what a run would do.
type Forecast struct {
	Records  int64 // read
	Invalid  int64 // cannot be asked, cost nothing
	Distinct int64 // requests
	Answered int64 // of the distinct ones, by the store
}

// ToAsk is how many requests the run would make, retries aside.
func (f Forecast) ToAsk() int64 { return f.Distinct - f.Answered }

// DryRun reads the whole input and asks nothing. Equal inputs are counted exactly, with
// a temporary file instead of memory for large inputs.
func DryRun(ctx context.Context, parts Parts, options Options) (Forecast, error) {
	var f Forecast
	distinct, err := newDistinct()
	if err != nil {
		return f, err
	}
	defer distinct.close()
	batch := forecasts{parts: parts, distinct: distinct}
	for options.Limit == 0 || f.Records < options.Limit {
		if ctx.Err() != nil {
			return f, &StopError{Cause: Interrupted}
		}
		record, err := parts.Source.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return f, err
		}
		f.Records++
		parts.Counters.Read.Add(1)
		request, err := options.Normalizer.Request(options.Kind, record.Input, options.Classification)
		if record.Err != nil || err != nil {
			f.Invalid++
			continue
		}
		if err := batch.add(request); err != nil {
			return f, err
		}
	}
	if err := batch.flush(); err != nil {
		return f, err
	}
	f.Distinct, f.Answered, err = distinct.count()
	return f, err
}

// forecasts are requests that are looked up together.
type forecasts struct {
	parts    Parts
	distinct *distinct
	queries  []answers.Query
}

func (b *forecasts) add(r client.Request) error {
	b.queries = append(b.queries, answers.Query{Request: r})
	if len(b.queries) < lookupBatch {
		return nil
	}
	return b.flush()
}

func (b *forecasts) flush() error {
	if b.parts.Store != nil {
		if err := b.parts.Store.LookupAll(b.queries); err != nil {
			return err
		}
	}
	for i := range b.queries {
		if err := b.distinct.add(b.queries[i].Request.Input, b.queries[i].Found); err != nil {
			return err
		}
	}
	b.queries = b.queries[:0]
	return nil
}
