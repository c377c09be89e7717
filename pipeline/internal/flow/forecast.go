package flow

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/pipeline/internal/forecast"
	"github.com/bulkcat/bulkcat/pipeline/internal/selection"
	"github.com/bulkcat/bulkcat/writer"
)

// NewForecast reads the whole input and asks nothing. It counts equal inputs exactly, in temporary files. It calls offer with
// batches of the requests that the run would make, after their lookup; a request may be offered several times. An error of offer
// ends the forecast; offer may be nil.
func NewForecast(ctx context.Context, parts Parts, options Options, offer func([]answers.Query) error) (forecast.Forecast, error) {
	f := forecast.Forecast{Inputs: []string{}}
	parts = parts.withDefaults()
	distinct := forecast.NewDistinct()
	defer distinct.Close()
	mode := forecast.Exactly << len(selection.Merges(options.Requested, options.Kind))
	batch := forecasts{store: parts.Store, normalizer: selection.Normalizer(options.Requested), distinct: distinct, mode: mode, offer: offer}
	split := selection.NewSplitter(options.Shard, options.Kind, options.Requested)
	source := selection.Sample(ctx, options.Requested, parts.Source, &parts.Counters.Others)
	for all := int64(0); options.Limit == 0 || all < options.Limit; all++ {
		if ctx.Err() != nil {
			return f, errInterrupted
		}
		record, err := source.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return f, err
		}
		if !split.Holds(&record) {
			continue
		}
		f.Records++
		if len(f.Inputs) < forecast.FirstInputs && record.Err == nil {
			f.Inputs = append(f.Inputs, strings.Clone(record.Input))
		}
		parts.Counters.Read.Add(1)
		request, err := options.request(record.Input, 0)
		if err := cmp.Or(record.Err, err); err != nil {
			if StatusOf(err) == writer.StatusBlank {
				f.Blank++
			} else {
				f.Invalid++
			}
			continue
		}
		for _, c := range options.Classifications {
			request.Classification = c.Name
			if err := batch.add(request); err != nil {
				return f, err
			}
		}
	}
	if err := batch.flush(); err != nil {
		return f, err
	}
	tally, err := distinct.Count()
	if err != nil {
		return f, err
	}
	f.Repeated = (f.Records-f.Invalid-f.Blank)*int64(len(options.Classifications)) - tally.Of(mode)
	f.Distinct, f.Answered = tally.Of(mode), tally.Of(mode|forecast.Answered)
	f.Digest = tally.Digest(mode)
	saves := func(mode forecast.Use) int64 { return tally.ToAsk(forecast.Exactly) - tally.ToAsk(mode) }
	f.Saved, f.SavedByHost, f.SavedByDomain = saves(forecast.BySite), saves(forecast.ByHost), saves(forecast.ByDomain)
	return f, nil
}

// forecasts looks up requests in batches.
type forecasts struct {
	store      *answers.Store // nil for none
	normalizer normalize.Normalizer
	distinct   forecast.Distinct
	mode       forecast.Use                // the mode of the run
	offer      func([]answers.Query) error // may be nil
	queries    []answers.Query
	uses       []forecast.Use  // of the queries
	steps      []answers.Query // the requests of the next mode
	made       []answers.Query // the requests that the run would make
}

func (b *forecasts) add(r client.Request) error {
	b.queries = append(b.queries, answers.Query{Request: r})
	if len(b.queries) < lookupBatch {
		return nil
	}
	return b.flush()
}

// flush counts the requests that a run makes in each mode of dedupe: see lookups.merge.
func (b *forecasts) flush() error {
	b.made, b.uses = b.made[:0], b.uses[:0]
	left := b.queries // queries that may change in a later mode, with their uses
	for range left {
		b.uses = append(b.uses, forecast.Exactly)
	}
	if err := b.store.LookupAll(left); err != nil {
		return err
	}
	for i, step := range b.normalizer.Coarser() {
		mode, same := forecast.Exactly<<(i+1), 0
		b.steps = b.steps[:0]
		for j, q := range left {
			next, u := step(q.Request), b.uses[j]
			if !q.Stored && next == q.Request {
				left[same], b.uses[same] = q, u|mode
				same++
				continue
			}
			if q.Stored { // this mode and all later modes keep the request
				u |= forecast.Answered - mode
			} else {
				b.steps = append(b.steps, answers.Query{Request: next})
			}
			if err := b.count(q, u); err != nil {
				return err
			}
		}
		if err := b.store.LookupAll(b.steps); err != nil {
			return err
		}
		left, b.uses = append(left[:same], b.steps...), b.uses[:same]
		for range b.steps {
			b.uses = append(b.uses, mode)
		}
	}
	for j, q := range left {
		if err := b.count(q, b.uses[j]); err != nil {
			return err
		}
	}
	b.queries = b.queries[:0]
	if b.offer == nil {
		return nil
	}
	return b.offer(b.made)
}

func (b *forecasts) count(q answers.Query, u forecast.Use) error {
	if u&b.mode != 0 {
		b.made = append(b.made, q)
	}
	if q.Found {
		u |= forecast.Answered
	}
	return b.distinct.Add(q.Request, u)
}
