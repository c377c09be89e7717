package pipeline

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/flow"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/refresh"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
)

// DryRun reads the whole input and says what a run with the same options would ask and save. It asks
// the service for nothing but its quota, which costs nothing, and writes nothing. The errors are those of [Open] and of
// the store. Output.Path may be empty; the store is then that of a stream. Carried columns of
// Parquet are not read, so a row that is too long because of them counts as one to be asked.
func DryRun(ctx context.Context, options SessionOptions) (_ Forecast, err error) {
	options.noSpool, options.Input.InputsOnly = true, true
	if err := options.Check(); err != nil {
		return Forecast{}, err
	}
	objects := storage.Own(ctx)
	options, err = options.withoutURLParameters(objects.TakeParameters)
	if err != nil {
		return Forecast{}, err
	}
	ctx = storage.With(ctx, objects)
	s := newSession(options)
	s.options.Input.Storage = objects
	defer func() { err = causeOf(ctx, errors.Join(err, s.Close())) }()
	if err := s.findEarlier(ctx); err != nil {
		return Forecast{}, err
	}
	if err := s.openInput(ctx); err != nil {
		return Forecast{}, err
	}
	defer context.AfterFunc(ctx, s.endReading)()
	parts := flow.Parts{Source: s.input.Load(), Counters: s.counters}
	stored, err := s.options.stored()
	if err != nil {
		return Forecast{}, err
	}
	if stored.Path != "" {
		stored.ReadOnly = true
		store, err := answers.Open(stored)
		if _, missing := errors.AsType[*answers.MissingError](err); err != nil && !missing {
			return Forecast{}, err
		}
		if store != nil {
			defer store.Close() // only read from
			parts.Store = store
		}
	}
	account := s.newAccount()
	if s.options.Output.Path != "" {
		s.follow(ctx, account)
	}
	s.bound(account)
	if !s.options.Offline {
		if err := s.warnElsewhere(ctx, parts.Store, s.options.requests()); err != nil {
			return Forecast{}, err
		}
	}
	f, err := s.forecast(ctx, parts)
	if err != nil {
		return f, err
	}
	f.Column, f.Guessed = columnsOf(s.input.Load().Files())
	for i, input := range f.Inputs {
		f.Inputs[i] = clipped(input)
	}
	f.Paid, f.Limits = min(account.OutcomesBefore(), f.Answered), s.options.Limits
	if account.FinishBy != nil {
		f.By = account.FinishBy.At
	}
	if f.Rate, f.Learned, err = s.rate(parts.Store); err != nil {
		return f, err
	}
	err = s.quota.Check(ctx, s.everAnswered(parts.Store))
	f.Quota = s.quota.Usage()
	return f, err
}

// columnsOf are the names of the input columns of files, and whether one was guessed.
func columnsOf(files []reader.FileInfo) (columns string, guessed bool) {
	var names []string
	for _, file := range files {
		guessed = guessed || file.Guessed && len(file.Inputs) > 0
		for _, name := range file.Inputs {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, ", "), guessed
}

// rate is the rate that is stated or that an earlier run has learned; 0 if unknown.
func (s *Session) rate(store *answers.Store) (perSecond float64, learned bool, err error) {
	if stated := s.options.Limits.Rate; stated > 0 {
		return stated, false, nil
	}
	if store != nil && s.options.Service.Hosted {
		l, err := store.Learned()
		if l.Rate > 0 || err != nil {
			return l.Rate, true, err
		}
	}
	return s.options.Service.Rate, false, nil
}

// Outlook is when a run would end, and what would end it.
type Outlook struct {
	Requests int64        `json:"requests"`                   // that are made until then, without retries
	Rate     float64      `json:"requests_per_second"`        // 0 if unknown
	Learned  bool         `json:"learned"`                    // Rate is what an earlier run has learned
	Ends     *time.Time   `json:"ends,omitempty"`             // nil if the rate is unknown
	Stop     record.Cause `json:"stops_because_of,omitempty"` // QuotaExhausted, Budget or Deadline; "" for a run that becomes complete
}

// NewOutlook is the outlook of a forecast of a run that starts now.
func NewOutlook(f Forecast, now time.Time) Outlook {
	v := Outlook{Requests: f.ToAsk(), Learned: f.Learned}
	end := func(most int64, cause record.Cause) {
		if most = max(most, 0); most < v.Requests {
			v.Requests, v.Stop = most, cause
		}
	}
	if left, known := f.Quota.Requests(); known && !f.Limits.WaitForQuota {
		if f.Limits.KeepReserve {
			left -= f.Limits.Reserve
		}
		end(left, record.QuotaExhausted)
	}
	if most := f.Limits.MaxRequests; most > 0 {
		end(most-f.Limits.Made, record.Budget)
	}
	if !f.By.IsZero() && !now.Before(f.By) {
		end(0, record.Deadline)
	}
	if f.Rate <= 0 || math.IsInf(f.Rate, 1) {
		return v
	}
	v.Rate = f.Rate
	if !f.By.IsZero() {
		end(int64(f.By.Sub(now).Seconds()*f.Rate), record.Deadline)
	}
	ends := now.Add(time.Duration(float64(v.Requests) / f.Rate * float64(time.Second)))
	v.Ends = &ends
	return v
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
	f.Refresh = r.Left()
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
	s.options.Log.Info("stored answers are asked again", "answers", r.Left())
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
