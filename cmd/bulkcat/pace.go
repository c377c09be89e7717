package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
)

const mostWorkers = 16384

func (f *runFlags) bindPace(flags *pflag.FlagSet) {
	f.Retry = client.DefaultRetryPolicy()
	flags.Var((*rateValue)(&f.Limits.Rate), "rate", "requests at most, such as 10/s or 600/m; auto learns what the service allows; 0 starts without any limit")
	flags.IntVar(&f.Limits.InFlight, "workers", 0, "requests in flight at most; 0 for as many as rate and latency need")
	flags.IntVar(&f.Retry.MaxAttempts, "max-attempts", f.Retry.MaxAttempts, "attempts of a request, before its records are failed")
	flags.DurationVar(&f.Retry.MaxWait, "max-retry-wait", f.Retry.MaxWait, "longest wait after a response, whatever its Retry-After says")
	flags.DurationVar(&f.Limits.MaxOutage, "max-outage", 6*time.Hour, "stop, resumable, when the service is out for longer than this")
}

func (f *runFlags) bindLimits(flags *pflag.FlagSet) {
	flags.Int64Var(&f.Limits.MaxRequests, "max-requests", 0, "stop after `N` requests of all starts of the run; 0 for no bound")
	f.money.bind(flags)
	flags.Int64Var(&f.Limits.Reserve, "reserve", -1, "stop, resumable, while `N` requests of the quota are left; -1 for no bound")
	flags.BoolVar(&f.Limits.WaitForQuota, "wait-for-quota", false, "when the quota is used up, wait until there is quota again, instead of stopping")
	flags.Var(&f.finishBy, "finish-by", "stop, resumable, in time to be done by a time of day or within a duration, such as 07:00 or 8h; a run that is started again has the deadline of its first start")
}

func (f *runFlags) checkPace() error {
	o := &f.Limits
	switch {
	case o.InFlight < 0 || o.InFlight > mostWorkers:
		return fmt.Errorf("--workers: %d must be 0 to %d", o.InFlight, mostWorkers)
	case o.MaxOutage <= 0:
		return fmt.Errorf("--max-outage: %v must be more than 0", o.MaxOutage)
	}
	return errors.Join(atLeast("--max-attempts", f.Retry.MaxAttempts, 1), atLeast("--max-retry-wait", f.Retry.MaxWait, 0), atLeast("--max-requests", o.MaxRequests, 0))
}
