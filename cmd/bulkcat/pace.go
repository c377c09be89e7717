package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/time/rate"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline"
)

// paceFlags say how fast the service is asked, how often, and how long.
type paceFlags struct {
	rate         rateValue
	workers      int
	maxAttempts  int
	maxRetryWait time.Duration
	maxOutage    time.Duration

	maxRequests  int64
	reserve      int64
	waitForQuota bool
	finishBy     deadlineValue
}

const (
	autoWorkers     = 256 // the rate decides how many are really in flight
	embeddedWorkers = 32  // enough to wait for that many pages
	mostWorkers     = 4096
)

func (f *paceFlags) bind(flags *pflag.FlagSet) {
	retry := client.DefaultRetryPolicy()
	flags.Var(&f.rate, "rate", "requests at most, such as 10/s or 600/m; 0 for no limit; auto learns what the service allows")
	flags.IntVar(&f.workers, "workers", 0, "requests in flight at most; 0 for as many as rate and latency ask for, up to 256")
	flags.IntVar(&f.maxAttempts, "max-attempts", retry.MaxAttempts, "for one request, before its records count as failed")
	flags.DurationVar(&f.maxRetryWait, "max-retry-wait", retry.MaxWait, "heed a service's Retry-After up to this long")
	flags.DurationVar(&f.maxOutage, "max-outage", 6*time.Hour, "stop, resumable, when the service is out for longer than this")
}

func (f *paceFlags) bindLimits(flags *pflag.FlagSet) {
	flags.Int64Var(&f.maxRequests, "max-requests", 0, "stop, resumable, after `N` requests; 0 for no bound")
	flags.Int64Var(&f.reserve, "reserve", -1, "stop, resumable, while `N` requests are left of the account; -1 for no bound")
	flags.BoolVar(&f.waitForQuota, "wait-for-quota", false, "when nothing is left of the account, wait until there is, instead of stopping")
	flags.Var(&f.finishBy, "finish-by", "stop, resumable, in time to be done by a time of day or within a duration, such as 07:00 or 8h")
}

func (f *paceFlags) check() error {
	switch {
	case f.workers < 0 || f.workers > mostWorkers:
		return fmt.Errorf("--workers: %d must be 0 to %d", f.workers, mostWorkers)
	case f.maxAttempts < 1:
		return fmt.Errorf("--max-attempts: %d must be at least 1", f.maxAttempts)
	case f.maxRetryWait < 0:
		return fmt.Errorf("--max-retry-wait: %v must not be negative", f.maxRetryWait)
	case f.maxOutage <= 0:
		return fmt.Errorf("--max-outage: %v must be more than nothing", f.maxOutage)
	case f.maxRequests < 0:
		return fmt.Errorf("--max-requests: %d must not be negative", f.maxRequests)
	}
	return nil
}

// inFlight is how many workers there are.
func (f *paceFlags) inFlight(hosted bool) int {
	switch {
	case f.workers > 0:
		return f.workers
	case hosted:
		return autoWorkers
	}
	return embeddedWorkers
}

// connections are kept alive, one a worker.
func (f *paceFlags) connections() int { return f.inFlight(true) }

func (f *paceFlags) retryPolicy() client.RetryPolicy {
	p := client.DefaultRetryPolicy()
	p.MaxAttempts, p.MaxWait = f.maxAttempts, f.maxRetryWait
	return p
}

// apply gives the run its pace. The embedded service sets no limits, so that nothing
// has to be learned of it.
func (f *paceFlags) apply(parts *pipeline.Parts, svc service, quota *quota) error {
	pace := client.PacerOptions{Rate: rate.Limit(f.rate), InFlight: f.inFlight(svc.hosted)}
	if svc.hosted && f.rate == 0 && parts.Store != nil {
		learned, err := parts.Store.LearnedRate()
		if err != nil {
			return err
		}
		pace.Learned = learned
	}
	if pace.Learned == 0 {
		pace.Learned = svc.stated
	}
	if svc.hosted || f.rate.limited() {
		parts.Pacer = client.NewPacer(pace)
	}
	parts.Allowance = client.NewAllowance(client.AllowanceLimits{MaxRequests: f.maxRequests, Reserve: f.reserve}, svc.Usage)
	if f.waitForQuota {
		parts.WaitForQuota = func(ctx context.Context) error { return quota.await(ctx, max(f.reserve, 0)) }
	}
	return nil
}

// keepLearned leaves the learned rate to the next run.
func keepLearned(parts pipeline.Parts) error {
	if parts.Pacer == nil || parts.Store == nil {
		return nil
	}
	learned := parts.Pacer.Learned()
	if learned == 0 {
		return nil
	}
	return parts.Store.KeepLearnedRate(learned)
}
