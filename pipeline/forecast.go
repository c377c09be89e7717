package pipeline

import (
	"context"
	"errors"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/flow"
	"github.com/bulkcat/bulkcat/pipeline/refresh"
	"github.com/bulkcat/bulkcat/pipeline/stores"
	"github.com/bulkcat/bulkcat/reader"
)

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
	parts := flow.Parts{Source: s.input.Load(), Counters: s.counters}
	if stored, ok := s.options.stored(); ok {
		store, err := stores.OpenToRead(stored) // makes no store, and changes none
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
	err = s.quota.Check(ctx, s.proves(parts.Store))
	f.Quota = s.quota.Usage()
	return f, err
}

// forecast is the forecast of a dry run, without the quota.
func (s *Session) forecast(ctx context.Context, parts flow.Parts) (Forecast, error) {
	o := &s.options
	c, err := s.newFree(parts.Store)
	if err != nil {
		return Forecast{}, err
	}
	if c != nil {
		f, err := s.planFree(ctx, c, parts.Store, o.requests())
		return f, errors.Join(err, c.Close())
	}
	if o.Store.RefreshBudget == 0 || parts.Store == nil || o.Offline {
		return flow.NewForecast(ctx, parts, o.requests(), nil)
	}
	r, err := refresh.Begin(parts.Store, s.newAccount().RunID(), o.Store.RefreshBudget, time.Now())
	if err != nil {
		return Forecast{}, err
	}
	f, err := flow.NewForecast(ctx, parts, o.requests(), r.Offer)
	f.Refresh = r.Choose()
	return f, err
}

// startRefresh chooses the stored answers to be asked again, in a further pass over the input. It gives nil
// if there are none to choose.
func (s *Session) startRefresh(ctx context.Context, store *answers.Store, options flow.Options, run string) (*refresh.Refresh, error) {
	budget := s.options.Store.RefreshBudget
	if budget == 0 || store == nil || options.Offline {
		return nil, nil
	}
	r, err := refresh.Begin(store, run, budget, time.Now())
	if err != nil {
		return nil, err
	}
	if _, err := s.forecastAgain(ctx, store, options, r.Offer); err != nil {
		return nil, err
	}
	chosen := r.Choose()
	s.options.Log.Info("stored answers are asked again", "answers", chosen)
	return r, r.Start(store)
}

// forecastAgain is the forecast of a further pass over the input.
func (s *Session) forecastAgain(ctx context.Context, store *answers.Store, options flow.Options, offer func([]answers.Query) error) (Forecast, error) {
	input, err := reader.Open(inputsAgain(s.options.Input))
	if err != nil {
		return Forecast{}, err
	}
	defer input.Close() // only read from
	return flow.NewForecast(ctx, flow.Parts{Source: input, Store: store}, options, offer)
}
