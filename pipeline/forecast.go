package pipeline

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/refresh"
	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/reader"
)

// Forecast says what a run would do.
type Forecast struct {
	Records  int64 `json:"records"`  // read
	Invalid  int64 `json:"invalid"`  // records that cannot be asked
	Distinct int64 `json:"distinct"` // different requests
	Answered int64 `json:"answered"` // different requests whose outcome is stored
	Refresh  int64 `json:"refresh"`  // stored answers to be asked again
	Saved    int64 `json:"saved"`    // requests that a run by sites saves, compared with a run by exact spellings

	Quota client.Usage `json:"-"` // what the API key may still ask; zero if the service does not say
}

// ToAsk is how many requests the run would make, without retries.
func (f Forecast) ToAsk() int64 { return f.Distinct - f.Answered + f.Refresh }

// Add adds the figures of another run. An input of both runs counts for each: the first run asks, and the second finds
// the stored answer if the store is the same. The quota stays.
func (f *Forecast) Add(other Forecast) {
	f.Records += other.Records
	f.Invalid += other.Invalid
	f.Distinct += other.Distinct
	f.Answered += other.Answered
	f.Refresh += other.Refresh
	f.Saved += other.Saved
}

// DryRun reads the whole input and says what a run with the same options would ask and save. It asks
// the service for nothing but its quota, which costs nothing, and writes nothing. The errors are those of [Open] and of
// the store. Output.Path may be empty; only the shared store beside the output is not looked at then. Carried columns of
// Parquet are not read, so a row that is too long because of them counts as one to be asked.
func DryRun(ctx context.Context, options SessionOptions) (_ Forecast, err error) {
	options.NoSpool, options.Input.InputsOnly = true, true
	if err := options.Check(); err != nil {
		return Forecast{}, err
	}
	s := newSession(options)
	defer func() { err = causeOf(ctx, errors.Join(err, s.Close())) }()
	if err := s.openInput(ctx); err != nil {
		return Forecast{}, err
	}
	defer context.AfterFunc(ctx, s.endReading)()
	parts := Parts{Source: s.input, counters: s.counters}
	if stored, ok := s.options.stored(); ok {
		store, err := stores.Look(stored) // makes no store, and changes none
		if _, missing := errors.AsType[*answers.MissingError](err); err != nil && !missing {
			return Forecast{}, err
		}
		if store != nil {
			defer store.Close() // only read from
			parts.Store = store.Store
		}
	}
	f, err := s.forecast(ctx, parts)
	if err != nil {
		return f, err
	}
	err = s.quota.check(ctx, s.proves(parts.Store))
	f.Quota = s.quota.usage
	return f, err
}

// forecast is the forecast of a dry run, without the quota.
func (s *Session) forecast(ctx context.Context, parts Parts) (Forecast, error) {
	o := &s.options
	if o.Store.RefreshBudget == 0 || parts.Store == nil || o.Offline {
		return forecast(ctx, parts, o.requests(), nil)
	}
	r, err := refresh.Begin(parts.Store, s.newAccount().RunID(), o.Store.RefreshBudget, time.Now())
	if err != nil {
		return Forecast{}, err
	}
	f, err := forecast(ctx, parts, o.requests(), r.Offer)
	f.Refresh = r.Choose()
	return f, err
}

// checkQuota asks for the quota before the first record, and reports whether it is enough. The input is
// read once more for that, which takes seconds where the run takes hours; a pipe and records of the caller cannot be.
func (s *Session) checkQuota(ctx context.Context, store *answers.Store, options Options) error {
	if err := s.quota.check(ctx, s.proves(store)); err != nil {
		return err
	}
	left, isNumber := s.quota.usage.Requests()
	if !isNumber || s.options.readsOnce() {
		return nil
	}
	if most, ok := s.options.mostRequests(); !ok || most > left {
		input, err := reader.Open(inputsAgain(s.options.Input))
		if err != nil {
			return err
		}
		defer input.Close() // only read from
		f, err := forecast(ctx, Parts{Source: input, Store: store}, options, nil)
		if err != nil {
			return err
		}
		f.Refresh = options.refresh.Left()
		switch {
		case f.ToAsk() > left && options.WaitForQuota:
			s.options.Log.Info("the quota is not enough: the run waits when it is used up", "to_be_asked", f.ToAsk(), "left", left)
			return nil
		case f.ToAsk() > left:
			s.options.Log.Warn("the quota is not enough: the run will stop, resumable", "to_be_asked", f.ToAsk(), "left", left)
			return nil
		}
	}
	s.options.Log.Info("the quota is enough", "left", left)
	return nil
}

// proves returns a function that looks in the store for an outcome of the service, which proves the key, and tells the
// client if there is one. The store may be nil.
func (s *Session) proves(store *answers.Store) func() (bool, error) {
	return func() (bool, error) {
		known, err := hasAnswers(store, s.options.Service.Name)
		if d, ok := s.options.Service.Categorizer.(interface{ Proven() }); ok && known { // a client.Diagnoser
			d.Proven()
		}
		return known, err
	}
}

// forecast reads the whole input and asks nothing. Equal inputs are counted exactly, in temporary files. Stored
// outcomes that the run would find are offered, some several times; offer may be nil.
func forecast(ctx context.Context, parts Parts, options Options, offer func(client.Request, answers.Outcome)) (Forecast, error) {
	var f Forecast
	parts = parts.withDefaults()
	distinct, err := newDistinct()
	if err != nil {
		return f, err
	}
	defer distinct.close()
	mode := exactly
	if options.BySite {
		mode = bySite
	}
	batch := forecasts{parts: parts, normalizer: options.Normalizer, distinct: distinct, mode: mode, offer: offer}
	split := options.splitter()
	for all := int64(0); options.Limit == 0 || all < options.Limit; all++ {
		if ctx.Err() != nil {
			return f, errInterrupted
		}
		record, err := parts.Source.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return f, err
		}
		if !split.holds(&record) {
			continue
		}
		f.Records++
		parts.counters.Read.Add(1)
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
	f.Distinct, f.Answered = tally.of(mode), tally.of(mode|answered)
	f.Saved = tally.toAsk(exactly) - tally.toAsk(bySite)
	return f, nil
}

// forecasts looks up requests in batches.
type forecasts struct {
	parts      Parts
	normalizer client.Normalizer
	distinct   *distinct
	mode       use // of the run
	offer      func(client.Request, answers.Outcome)
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

// flush counts the requests that a run makes in each mode of dedupe: see lookups.toSites.
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
		if u&b.mode != 0 && b.offer != nil {
			b.offer(q.Request, q.Outcome)
		}
		u |= answered
	}
	return b.distinct.add(q.Request.Classification+"\x00"+q.Request.Input, u)
}
