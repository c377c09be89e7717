package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline"
)

// quota knows what a hosted account has left, as of a minute ago at most, and learns
// from it what the run's requests really cost.
type quota struct {
	service  service
	counters *pipeline.Counters
	log      *slog.Logger
	costs    *client.Costs

	mu       sync.Mutex
	usage    client.Usage
	counted  pipeline.Snapshot // when usage was asked
	asked    time.Time
	sampling bool // for the bar
	unclear  bool // it was told that usage is not understood
}

const (
	quotaInterval = time.Minute
	quotaTimeout  = 10 * time.Second // what is left is only for show

	// leastCost is what a record must take of the account for a forecast: what is learned of
	// a service that charges nothing comes close to 0, but not quite there.
	leastCost = 0.001
)

func newQuota(s service, counters *pipeline.Counters, log *slog.Logger) *quota {
	return &quota{service: s, counters: counters, log: log, costs: client.NewCosts()}
}

// check asks a hosted service before the first record: a wrong key shows here, where it
// costs nothing. A usage operation that is out of order decides nothing.
func (q *quota) check(ctx context.Context) error {
	if !q.service.hosted {
		return nil
	}
	err := q.sample(ctx)
	var e *client.Error
	if errors.As(err, &e) && e.Class == client.Auth {
		return err
	}
	if err != nil && ctx.Err() == nil {
		q.log.Info("the service does not say what is left", "error", err)
	}
	return nil
}

// sample asks what is left and learns from the difference.
func (q *quota) sample(ctx context.Context) error {
	now := q.counters.Snapshot()
	usage, err := q.service.Usage(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = time.Now()
	if err != nil {
		return err
	}
	before, wasNumber := q.usage.Requests()
	left, isNumber := usage.Requests()
	if wasNumber && isNumber {
		was := q.counted
		q.costs.Observe(client.Spending{
			Answers:    answered(now) - answered(was),
			Rejections: now.Refused - was.Refused,
			Failures:   now.Transient - was.Transient,
			Spent:      before - left,
		})
	}
	q.usage, q.counted = usage, now
	q.warnUnclear()
	return nil
}

// warnUnclear tells once of a service that says what is left in words that limit nothing.
func (q *quota) warnUnclear() {
	if q.unclear || q.usage.Understood() {
		return
	}
	q.unclear = true
	q.log.Warn("the service does not say what is left as a number of requests: nothing stops the run before the service does", "remaining", q.usage.Remaining)
}

// answered is the number of requests that got an answer.
func answered(s pipeline.Snapshot) int64 {
	return s.Requests - s.InFlight - s.Refused - s.Transient
}

// metered says whether what is left is a number.
func (q *quota) metered() bool {
	_, isNumber := q.usage.Requests()
	return isNumber
}

// left tells what is left, and for how many records that will do; "" where the service
// does not say. It is asked meanwhile, and nobody waits for that.
func (q *quota) left() string {
	q.mu.Lock()
	stale := q.service.hosted && !q.sampling && time.Since(q.asked) >= quotaInterval
	q.sampling = q.sampling || stale
	q.mu.Unlock()
	if stale {
		go q.sampleForShow()
	}
	return q.forecast()
}

func (q *quota) sampleForShow() {
	ctx, cancel := context.WithTimeout(context.Background(), quotaTimeout)
	defer cancel()
	if err := q.sample(ctx); err != nil {
		q.log.Debug("the service does not say what is left", "error", err)
	}
	q.mu.Lock()
	q.sampling = false
	q.mu.Unlock()
}

func (q *quota) forecast() string {
	q.mu.Lock()
	defer q.mu.Unlock()
	left, isNumber := q.usage.Requests()
	if !isNumber {
		return q.usage.Remaining
	}
	now := q.counters.Snapshot()
	cost := q.costs.PerRecord(answered(now), now.Refused, now.Transient)
	if cost < leastCost {
		return q.usage.Remaining
	}
	spent := float64(answered(now)-answered(q.counted)) * q.costs.Answer // since it was asked
	return fmt.Sprintf("%s (for about %.0f more requests)", q.usage.Remaining, max(0, (float64(left)-spent)/cost))
}

// ask asks what is left, for the run's limits.
func (q *quota) ask(ctx context.Context) (client.Usage, error) {
	err := q.sample(ctx)
	if err != nil {
		return client.Usage{}, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.usage, nil
}

// known says whether the service has said what is left.
func (q *quota) known() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.usage != client.Usage{}
}
