package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// quota knows what a hosted account has left, as of a minute ago at most.
type quota struct {
	service service
	log     *slog.Logger
	last    client.Usage
	asked   time.Time
}

const (
	quotaInterval = time.Minute
	quotaTimeout  = 10 * time.Second // what is left is only for show; it must not hold up the bar
)

func newQuota(s service, log *slog.Logger) *quota { return &quota{service: s, log: log} }

// check asks a hosted service before the first record: a wrong key shows here, where it
// costs nothing. A usage operation that is out of order decides nothing.
func (q *quota) check(ctx context.Context) error {
	if !q.service.hosted {
		return nil
	}
	usage, err := q.service.Usage(ctx)
	q.asked = time.Now()
	var e *client.Error
	if errors.As(err, &e) && e.Class == client.Auth {
		return err
	}
	if err != nil && ctx.Err() == nil {
		q.log.Warn("the service does not say what is left", "error", err)
	}
	q.last = usage
	return nil
}

// left is what is left, as the service says it; "" where it does not. It is called by
// one goroutine, the one that shows progress.
func (q *quota) left() string {
	if q.service.hosted && time.Since(q.asked) >= quotaInterval {
		ctx, cancel := context.WithTimeout(context.Background(), quotaTimeout)
		defer cancel()
		if usage, err := q.service.Usage(ctx); err == nil {
			q.last = usage
		}
		q.asked = time.Now()
	}
	return q.last.Remaining
}
