package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

// newLimits returns the limits of the run, within its bounds. The embedded service has no limits to learn. stated is the rate
// that a hosted service has stated; 0 for none.
func (c *claimed) newLimits(bounds limits.Options, stated float64) (*limits.Controller, error) {
	_, bounds.CanAsk = c.standing.Told()
	if !c.options.Service.Hosted {
		return limits.New(bounds, time.Now()), nil
	}
	bounds.Trial = client.MostUnusable
	learned, err := c.store.Learned()
	if err != nil {
		return nil, err
	}
	bounds.Learned = learned
	c.options.Log.Debug("learned by an earlier run", "limits", learned)
	if bounds.Rate == 0 && bounds.Learned.Rate == 0 {
		bounds.Learned.Rate = stated
	}
	return limits.New(bounds, time.Now()), nil
}

// keepLearned stores the learned limits for the next run.
func (p *planned) keepLearned() error {
	learned := p.limits.Learned()
	if p.store == nil || learned.Rate == 0 {
		return nil
	}
	p.options.Log.Debug("learned", "limits", learned)
	return p.store.KeepLearned(learned)
}

// tellQuota compares the quota with the requests that the run will make, and logs the result. It logs nothing for an input that
// can be read only once: the number of its requests is unknown.
func (p *planned) tellQuota() {
	usage := p.quota.Usage()
	left, isNumber := usage.Requests()
	lacks, stops := "the quota is not enough: the run ", "will stop, resumable"
	if usage.Gateway {
		lacks, stops = "the quota may not be enough, but answers that the gateway has stored cost nothing: the run ", "may stop, resumable"
	}
	switch log, f := p.options.Log, p.forecast; {
	case !isNumber || !p.canReadAgain():
	case p.whole && f.ToAsk() > left && p.options.Limits.WaitForQuota:
		log.Info(lacks+"waits when it is used up", "to_be_asked", f.ToAsk(), "left", left)
	case p.whole && f.ToAsk() > left:
		log.Warn(lacks+stops, "to_be_asked", f.ToAsk(), "left", left)
	case p.whole && f.IfAuditFails().ToAsk() > left:
		log.Warn("the quota is enough, unless the audit of the free answers fails", "to_be_asked", f.ToAsk(), "if_audit_fails", f.IfAuditFails().ToAsk(), "left", left)
	default:
		log.Info("the quota is enough", "left", left)
	}
}

// Shards know nothing of each other, so each shard takes its part of the service's rate and quota. A gateway divides both
// between its clients itself.

// maxRequests returns the bound of the requests of all starts of the run with the account a; 0 for no bound. A shard gets its
// part.
func (o *Options) maxRequests(a *account.Account) int64 {
	if o.MaxCost == 0 {
		return o.Shard.Part(o.Limits.MaxRequests)
	}
	left := o.MaxCost
	if o.Shard.Count > 0 {
		left = o.Price.Of(o.Shard.Part(o.Price.Requests(o.MaxCost)))
	}
	return a.Before().Requests + o.Price.Requests(max(0, left-a.SpentBefore()))
}

// CostError says that the run has spent its budget of money.
type CostError struct {
	Cost  string        // the budget, such as "0.26 EUR"
	Shard account.Shard // which has a part of the budget; zero for a run without shards
	Err   error         // a *limits.SpentError
}

func (e *CostError) Error() string {
	if e.Shard.Count > 0 {
		return fmt.Sprintf("the part of shard %s in the budget of %s is spent", e.Shard, e.Cost)
	}
	return "the budget of " + e.Cost + " is spent"
}

func (e *CostError) Unwrap() error { return e.Err }

// OptionName returns "pipeline.MaxCost".
func (e *CostError) OptionName() string { return "pipeline.MaxCost" }

// inBounds translates the error of a run whose bound of requests is spent: the new error names the budget of money, or the
// shard's part, from which the bound was computed. Other errors are returned as they are.
func (o *Options) inBounds(err error) error {
	spent, ok := errors.AsType[*limits.SpentError](err)
	switch {
	case !ok || spent.Limit != limits.MaxRequests:
		return err
	case o.MaxCost != 0:
		return &StopError{Cause: account.Budget, Err: &CostError{Cost: o.Price.Text(o.MaxCost), Shard: o.Shard, Err: err}}
	case o.Shard.Count > 0:
		return &StopError{Cause: account.Budget, Err: fmt.Errorf("%w, which is the part of shard %s in the %d requests of all shards", spent, o.Shard, o.Limits.MaxRequests)}
	}
	return err
}

// shareLimits returns the bounds of the run and the rate that the service has stated. Both are reduced to the shard's part
// unless the service is a gateway.
func (c *claimed) shareLimits() (bounds limits.Options, stated float64) {
	o, shards := &c.options, c.options.Shard.Count
	bounds, stated = o.Limits, o.Service.Rate
	bounds.MaxRequests, bounds.Made = c.maxRequests, c.account.Before().Requests
	usage := c.quota.Usage()
	switch limited := bounds.Rate > 0 && !math.IsInf(bounds.Rate, 1); {
	case shards < 2 || c.options.isOffline():
	case usage.Gateway:
		o.Log.Info("a gateway shares the rate and the quota between the shards", "shard", o.Shard.String())
	case o.Service.Hosted || limited:
		bounds.Rate /= float64(shards)
		stated /= float64(shards)
		bounds.Shards = shards
		if _, metered := usage.Requests(); metered && !bounds.KeepReserve {
			bounds.KeepReserve, bounds.Reserve = true, 0 // the run then asks for the quota when its part is used
		}
		o.Log.Info("no gateway: the shard takes its part of the rate and of the quota", "shard", o.Shard.String(), "part", "1/"+strconv.Itoa(shards))
	}
	return bounds, stated
}

// shareQuota wraps Service.Usage so that the function returns the shard's part of the quota.
func (o *Options) shareQuota() {
	if usage := o.Service.Usage; usage != nil && o.Shard.Count > 1 {
		o.Service.Usage = func(ctx context.Context) (client.Usage, error) {
			all, err := usage(ctx)
			return o.shareOf(all), err
		}
	}
}

// shareOf returns the shard's part of the quota: the reserve, which all shards share, and an equal part of the rest. A shard
// that has used its part asks for the quota again and gets a part of the remaining quota, so that the shards together use the
// whole quota.
func (o *Options) shareOf(usage client.Usage) client.Usage {
	left, ok := usage.Requests()
	if !ok || usage.Gateway {
		return usage
	}
	reserve := min(left, max(0, o.Limits.Reserve))
	usage.Remaining = strconv.FormatInt(reserve+(left-reserve)/int64(o.Shard.Count), 10)
	return usage
}
