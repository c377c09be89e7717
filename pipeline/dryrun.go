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
	Invalid  int64 // records that cannot be asked, cost nothing
	Distinct int64 // requests
	Answered int64 // of the distinct ones, by the store
	Saved    int64 // requests that a run by sites makes less than one by exact spellings
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
	batch := forecasts{parts: parts, normalizer: options.Normalizer, distinct: distinct}
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
		request, err := options.request(record.Input, 0)
		if record.Err != nil || err != nil {
			f.Invalid++
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
	tally, err := distinct.count()
	if err != nil {
		return f, err
	}
	mode := exactly
	if options.BySite {
		mode = bySite
	}
	f.Distinct, f.Answered = tally.of(mode), tally.of(mode|answered)
	f.Saved = tally.toAsk(exactly) - tally.toAsk(bySite)
	return f, nil
}

// forecasts are requests that are looked up together.
type forecasts struct {
	parts      Parts
	normalizer client.Normalizer
	distinct   *distinct
	queries    []answers.Query
	sites      []answers.Query
}

func (b *forecasts) add(r client.Request) error {
	b.queries = append(b.queries, answers.Query{Request: r})
	if len(b.queries) < lookupBatch {
		return nil
	}
	return b.flush()
}

// flush counts the requests that a run makes in either mode: see lookups.toSites.
func (b *forecasts) flush() error {
	if err := b.parts.lookUpAll(b.queries); err != nil {
		return err
	}
	b.sites = b.sites[:0]
	for _, q := range b.queries {
		u := exactly
		if site := b.normalizer.Site(q.Request); q.Stored || site == q.Request {
			u |= bySite
		} else {
			b.sites = append(b.sites, answers.Query{Request: site})
		}
		if err := b.count(q, u); err != nil {
			return err
		}
	}
	b.queries = b.queries[:0]
	if err := b.parts.lookUpAll(b.sites); err != nil {
		return err
	}
	for _, q := range b.sites {
		if err := b.count(q, bySite); err != nil {
			return err
		}
	}
	return nil
}

func (b *forecasts) count(q answers.Query, u use) error {
	if q.Found {
		u |= answered
	}
	return b.distinct.add(q.Request.Classification+"\x00"+q.Request.Input, u)
}
