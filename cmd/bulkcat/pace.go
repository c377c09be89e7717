package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
)

// paceFlags are the limits of a run.
type paceFlags struct {
	rate         rateValue
	burst        int
	workers      int
	maxAttempts  int
	maxRetryWait time.Duration
	maxOutage    time.Duration

	maxRequests  int64
	reserve      int64
	waitForQuota bool
	finishBy     deadlineValue
}

const mostWorkers = 16384

func (f *paceFlags) bind(flags *pflag.FlagSet) {
	retry := client.DefaultRetryPolicy()
	flags.Var(&f.rate, "rate", "requests at most, such as 10/s or 600/m; auto learns what the service allows; 0 starts without any limit")
	flags.IntVar(&f.burst, "burst", 1, "requests at once within --rate, after a pause")
	flags.IntVar(&f.workers, "workers", 0, "requests in flight at most; 0 for as many as rate and latency need")
	flags.IntVar(&f.maxAttempts, "max-attempts", retry.MaxAttempts, "attempts of a request, before its records are failed")
	flags.DurationVar(&f.maxRetryWait, "max-retry-wait", retry.MaxWait, "longest wait after a response, whatever its Retry-After says")
	flags.DurationVar(&f.maxOutage, "max-outage", 6*time.Hour, "stop, resumable, when the service is out for longer than this")
}

func (f *paceFlags) bindLimits(flags *pflag.FlagSet) {
	flags.Int64Var(&f.maxRequests, "max-requests", 0, "stop, resumable, after `N` requests; 0 for no bound")
	flags.Int64Var(&f.reserve, "reserve", -1, "stop, resumable, while `N` requests of the quota are left; -1 for no bound")
	flags.BoolVar(&f.waitForQuota, "wait-for-quota", false, "when the quota is used up, wait until there is quota again, instead of stopping")
	flags.Var(&f.finishBy, "finish-by", "stop, resumable, in time to be done by a time of day or within a duration, such as 07:00 or 8h")
}

func (f *paceFlags) check() error {
	switch {
	case f.workers < 0 || f.workers > mostWorkers:
		return fmt.Errorf("--workers: %d must be 0 to %d", f.workers, mostWorkers)
	case f.maxOutage <= 0:
		return fmt.Errorf("--max-outage: %v must be more than 0", f.maxOutage)
	}
	return errors.Join(atLeast("--burst", f.burst, 1), atLeast("--max-attempts", f.maxAttempts, 1),
		atLeast("--max-retry-wait", f.maxRetryWait, 0), atLeast("--max-requests", f.maxRequests, 0))
}

func (f *paceFlags) retryPolicy() client.RetryPolicy {
	p := client.DefaultRetryPolicy()
	p.MaxAttempts, p.MaxWait = f.maxAttempts, f.maxRetryWait
	return p
}

// limits gives the limits of a run, without learned values.
func (f *paceFlags) limits() limits.Options {
	return limits.Options{
		Rate: f.rate.limit(), Burst: f.burst, InFlight: f.workers,
		MaxWait: max(f.maxRetryWait, 1), MaxOutage: f.maxOutage,
		MaxRequests: f.maxRequests, KeepReserve: f.reserve >= 0, Reserve: f.reserve, WaitForQuota: f.waitForQuota,
	}
}
