package pipeline

import (
	"context"
	"errors"
	"math"
	"strconv"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/flow"
	"github.com/bulkcat/bulkcat/pipeline/record"
)

// newLimits gives the limits of the run. The embedded service has none, so that nothing has to be
// learned.
func (s *Session) newLimits(parts flow.Parts) (*limits.Controller, error) {
	o, service := s.options.Limits, &s.options.Service
	_, o.CanAsk = s.standing.Told()
	if service.Hosted {
		o.Trial = client.MostUnusable
	}
	if service.Hosted && o.Rate == 0 && parts.Store != nil {
		learned, err := parts.Store.Learned()
		if err != nil {
			return nil, err
		}
		o.Learned = learned
		s.options.Log.Debug("learned by an earlier run", "limits", learned)
	}
	if service.Hosted && o.Rate == 0 && o.Learned.Rate == 0 {
		o.Learned.Rate = service.Rate
	}
	return limits.New(o, time.Now()), nil
}

// keepLearned leaves what was learned to the next run.
func (s *Session) keepLearned(parts flow.Parts) error {
	if parts.Store == nil {
		return nil
	}
	learned := parts.Limits.Learned()
	if learned.Rate == 0 {
		return nil
	}
	s.options.Log.Debug("learned", "limits", learned)
	return parts.Store.KeepLearned(learned)
}

// checkQuota asks for the quota before the first record, and reports whether it is enough. The input is
// read once more for that, which takes seconds where the run takes hours; a pipe and records of the caller cannot be.
func (s *Session) checkQuota(ctx context.Context, store *answers.Store, options flow.Options) error {
	if err := s.quota.Check(ctx, s.everAnswered(store)); err != nil {
		return err
	}
	left, isNumber := s.quota.Usage().Requests()
	if !isNumber || s.options.readsOnce() {
		return nil
	}
	if most, ok := s.mostRequests(); !ok || most > left {
		f, err := s.forecastAgain(ctx, store, options, nil)
		if err != nil {
			return err
		}
		f.Refresh, f.Free, f.AtRisk = options.Refresh.Left(), s.free.Free(), s.free.AtRisk()
		switch {
		case f.ToAsk() > left && options.WaitForQuota:
			s.options.Log.Info("the quota is not enough: the run waits when it is used up", "to_be_asked", f.ToAsk(), "left", left)
			return nil
		case f.ToAsk() > left:
			s.options.Log.Warn("the quota is not enough: the run will stop, resumable", "to_be_asked", f.ToAsk(), "left", left)
			return nil
		case f.IfAuditFails().ToAsk() > left:
			s.options.Log.Warn("the quota is enough, unless the audit of the free answers fails", "to_be_asked", f.ToAsk(), "if_audit_fails", f.IfAuditFails().ToAsk(), "left", left)
			return nil
		}
	}
	s.options.Log.Info("the quota is enough", "left", left)
	return nil
}

// everAnswered returns a function that reports whether the service has ever answered, which proves the key. The store may be
// nil.
func (s *Session) everAnswered(store *answers.Store) func() (bool, error) {
	service := &s.options.Service
	return func() (bool, error) {
		return s.standing.Ever(func() (bool, error) { return store.Has(service.Name) })
	}
}

// LastUsage asks the service, for 3 seconds at most, how much quota is left, and gives what the service
// said last, with the time since: 0 if the service has just said so. In a hurry the service is not asked. The usage is zero if the service
// did not say at the run's beginning either, or nothing was to be asked.
func (s *Session) LastUsage() (usage client.Usage, since time.Duration) {
	if s.options.Offline {
		return client.Usage{}, 0
	}
	select {
	case <-s.options.Hurry:
		return s.quota.Final(false)
	default:
		return s.quota.Final(true)
	}
}

// Shards that ask a service know nothing of each other, so each takes its part of the rate and of the quota. A
// gateway shares both between its clients, whatever each of these asks.

// bound sets the bound of the requests of all starts of the run, and how many the earlier starts have made. A shard has its
// part.
func (s *Session) bound(account *record.Account) {
	o := &s.options
	l := &o.Limits
	l.Made = account.RequestsBefore()
	part := func(requests int64) int64 {
		if o.Shard.Count > 0 {
			return o.Shard.Part(requests)
		}
		return requests
	}
	switch {
	case o.MaxCost > 0:
		left := o.MaxCost
		if o.Shard.Count > 0 {
			left = o.Price.Of(part(o.Price.Requests(o.MaxCost)))
		}
		l.MaxRequests = l.Made + o.Price.Requests(max(0, left-account.SpentBefore()))
	case l.MaxRequests > 0:
		l.MaxRequests = part(l.MaxRequests)
	}
}

// CostError says that the run has spent its budget of money.
type CostError struct {
	Cost string // the budget, such as "0.26 EUR"
	Err  error  // a *limits.SpentError
}

func (e *CostError) Error() string { return "the budget of " + e.Cost + " is spent" }

func (e *CostError) Unwrap() error { return e.Err }

// OptionName returns "pipeline.MaxCost".
func (e *CostError) OptionName() string { return "pipeline.MaxCost" }

// inMoney returns the error of a run whose bound of requests comes from one of money.
func (s *Session) inMoney(err error) error {
	spent, ok := errors.AsType[*limits.SpentError](err)
	if !ok || spent.Limit != limits.MaxRequests || s.options.MaxCost == 0 {
		return err
	}
	return &StopError{Cause: record.Budget, Err: &CostError{Cost: s.options.Price.Text(s.options.MaxCost), Err: err}}
}

// shareLimits reduces the limits of a run to the shard's part, unless the service is a gateway.
func (s *Session) shareLimits() {
	o, shards := &s.options, s.options.Shard.Count
	usage := s.quota.Usage()
	switch limited := o.Limits.Rate > 0 && !math.IsInf(o.Limits.Rate, 1); {
	case shards < 2:
	case usage.Gateway:
		o.Log.Info("a gateway shares the rate and the quota between the shards", "shard", o.Shard.String())
	case o.Service.Hosted || limited:
		o.Limits.Rate /= float64(shards)
		o.Service.Rate /= float64(shards)
		o.Limits.Shards = shards
		if _, metered := usage.Requests(); metered && !o.Limits.KeepReserve {
			o.Limits.KeepReserve, o.Limits.Reserve = true, 0 // so that the run asks for the quota when its part is used
		}
		o.Log.Info("no gateway: the shard takes its part of the rate and of the quota", "shard", o.Shard.String(), "part", "1/"+strconv.Itoa(shards))
	}
}

// shareQuota makes the service tell the shard's part of the quota.
func (o *SessionOptions) shareQuota() {
	if usage := o.Service.Usage; usage != nil && o.Shard.Count > 1 {
		o.Service.Usage = func(ctx context.Context) (client.Usage, error) {
			all, err := usage(ctx)
			return o.shareOf(all), err
		}
	}
}

// shareOf is the part of the quota that a shard counts with: the reserve, which is for all shards, and an equal
// part of the rest. A shard that has used its part asks for the quota again, and then counts with a part of what
// is left, so that the shards together use the whole quota.
func (o *SessionOptions) shareOf(usage client.Usage) client.Usage {
	left, ok := usage.Requests()
	if !ok || usage.Gateway {
		return usage
	}
	reserve := min(left, max(0, o.Limits.Reserve))
	usage.Remaining = strconv.FormatInt(reserve+(left-reserve)/int64(o.Shard.Count), 10)
	return usage
}
