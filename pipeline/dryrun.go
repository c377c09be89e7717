package pipeline

import (
	"context"
	"errors"
	"io"

	"github.com/bulkcat/bulkcat/client"
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
		if err := forecast(&f, distinct, parts, options, newTask(record)); err != nil {
			return f, err
		}
	}
	f.Distinct, f.Answered, err = distinct.count()
	return f, err
}

func forecast(f *Forecast, distinct *distinct, parts Parts, options Options, t *task) error {
	err := t.record.Err
	var request client.Request
	if err == nil {
		request, err = options.Normalizer.Request(options.Kind, t.record.Input, options.Classification)
	}
	if err != nil {
		f.Invalid++
		return nil
	}
	answered := false
	if parts.Store != nil {
		if _, answered, err = parts.Store.Lookup(request); err != nil {
			return err
		}
	}
	return distinct.add(request.Input, answered)
}
