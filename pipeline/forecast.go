package pipeline

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
)

// DryRun reads the whole input and says what a run with the same options would ask and save. It asks the service only for its
// quota, which costs nothing, and writes nothing. The errors are those of [Open] and of the store. Output.Path may be empty:
// the store is then that of a run to standard output. Carried columns of Parquet are not read, so the forecast counts a
// request for a row that a run refuses as too long because of its carried columns.
func DryRun(ctx context.Context, options Options) (_ Forecast, err error) {
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
	o := newOpened(options, objects)
	defer func() { err = causeOf(ctx, errors.Join(err, o.input.Close())) }()
	if _, err := o.options.findEarlier(ctx); err != nil {
		return Forecast{}, err
	}
	if err := o.openInput(ctx); err != nil {
		return Forecast{}, err
	}
	defer context.AfterFunc(ctx, o.input.end)()
	store, err := o.options.readStore()
	if err != nil {
		return Forecast{}, err
	}
	defer store.Close() // only read from
	a := o.newAccount()
	if o.options.Output.Path != "" {
		o.follow(ctx, a)
	}
	if err := o.quota.Check(ctx, store, o.options.Service.Name); err != nil {
		return Forecast{}, err
	}
	p, err := o.look(ctx, a, store, o.input)
	f := p.forecast
	if err != nil {
		return f, err
	}
	f.Column, f.Guessed = columnsOf(o.input.Files())
	for i, input := range f.Inputs {
		f.Inputs[i] = figures.Clipped(input, mostShown)
	}
	f.Paid, f.Limits, f.Quota, f.By = min(a.Before().WithOutcome, f.Answered), o.options.Limits, o.quota.Usage(), a.FinishBy.Deadline()
	f.Limits.MaxRequests, f.Limits.Made = o.options.maxRequests(a), a.Before().Requests
	f.Rate, f.Learned, err = o.options.rate(store)
	return f, err
}

// columnsOf returns the names of the input columns of files, and whether a name was guessed.
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

// rate returns the rate at which a run begins: given, learned by an earlier run, or stated by the service; 0 if unknown.
func (o *Options) rate(store *answers.Store) (perSecond float64, learned bool, err error) {
	given := o.Limits.Rate
	if o.Service.Hosted {
		if l, err := store.Learned(); err != nil || l.Rate > 0 && l.Counts(given, time.Now()) {
			return min(l.Rate, cmp.Or(given, l.Rate)), true, err
		}
	}
	return cmp.Or(given, o.Service.Rate), false, nil
}

// Outlook says when a run would end, and why.
type Outlook struct {
	Requests int64         `json:"requests"`                   // requests until the end, without retries
	Rate     float64       `json:"requests_per_second"`        // 0 if unknown
	Learned  bool          `json:"learned"`                    // an earlier run has learned Rate
	Ends     *time.Time    `json:"ends,omitempty"`             // nil if the rate is unknown
	Stop     account.Cause `json:"stops_because_of,omitempty"` // QuotaExhausted, Budget or Deadline; "" for a run that becomes complete
}

// NewOutlook returns the outlook of a run that starts now, from its forecast.
func NewOutlook(f Forecast, now time.Time) Outlook {
	v := Outlook{Requests: f.ToAsk(), Learned: f.Learned}
	end := func(most int64, cause account.Cause) {
		if most = max(most, 0); most < v.Requests {
			v.Requests, v.Stop = most, cause
		}
	}
	if left, known := f.Quota.Requests(); known && !f.Limits.WaitForQuota {
		if f.Limits.KeepReserve {
			left -= f.Limits.Reserve
		}
		end(left, account.QuotaExhausted)
	}
	if most := f.Limits.MaxRequests; most > 0 {
		end(most-f.Limits.Made, account.Budget)
	}
	if !f.By.IsZero() && !now.Before(f.By) {
		end(0, account.Deadline)
	}
	if f.Rate <= 0 || math.IsInf(f.Rate, 1) {
		return v
	}
	v.Rate = f.Rate
	if !f.By.IsZero() {
		end(int64(f.By.Sub(now).Seconds()*f.Rate), account.Deadline)
	}
	ends := now.Add(time.Duration(float64(v.Requests) / f.Rate * float64(time.Second)))
	v.Ends = &ends
	return v
}
