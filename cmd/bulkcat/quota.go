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

// quota knows what a hosted account has left, as of a minute ago at most while it is shown.
type quota struct {
	service  service
	counters *pipeline.Counters
	log      *slog.Logger

	mu       sync.Mutex
	usage    client.Usage
	told     time.Time // when the service told usage
	answers  int64     // that the run had by then
	asked    time.Time
	sampling bool // for the bar
	unclear  bool // it was told that usage is not understood
}

const (
	quotaInterval = time.Minute
	quotaTimeout  = 10 * time.Second // what is left is only for show
	lastTimeout   = 3 * time.Second  // the summary waits for the answer
)

func newQuota(s service, counters *pipeline.Counters, log *slog.Logger) *quota {
	return &quota{service: s, counters: counters, log: log}
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

// sample asks what is left.
func (q *quota) sample(ctx context.Context) error {
	answers := answered(q.counters.Snapshot())
	usage, err := q.service.Usage(ctx)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked = time.Now()
	if err == nil {
		q.usage, q.told, q.answers = usage, q.asked, answers
		q.warnUnclear()
	}
	return err
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
	_, isNumber := q.last()
	return isNumber
}

// last is what the account has left by the service's last word, if each answer since costs
// one, as is usual.
func (q *quota) last() (left int64, isNumber bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	left, isNumber = q.usage.Requests()
	return max(0, left-(answered(q.counters.Snapshot())-q.answers)), isNumber
}

// left is what last gives; the service is asked anew in the background.
func (q *quota) left() (left int64, isNumber bool) {
	q.mu.Lock()
	stale := q.service.hosted && !q.sampling && time.Since(q.asked) >= quotaInterval
	q.sampling = q.sampling || stale
	q.mu.Unlock()
	if stale {
		go q.sampleForShow()
	}
	return q.last()
}

func (q *quota) sampleForShow() {
	q.refresh(quotaTimeout)
	q.mu.Lock()
	q.sampling = false
	q.mu.Unlock()
}

// refresh asks for a figure that is only shown.
func (q *quota) refresh(timeout time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := q.sample(ctx); err != nil {
		q.log.Debug("the service does not say what is left", "error", err)
	}
}

// final is what is left after a run, or was when the service last told; "" if it never did.
func (q *quota) final() string {
	if !q.known() {
		return ""
	}
	q.refresh(lastTimeout)
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.told.Equal(q.asked) {
		return q.usage.Remaining + " left"
	}
	return fmt.Sprintf("%s left %s ago", q.usage.Remaining, about(time.Since(q.told)))
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
