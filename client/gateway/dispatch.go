package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/limits"
)

// front is the Gateway as the front of its dispatcher: see [ask.Front].
type front struct{ *Gateway }

// Waiting returns whether calls wait for their first attempt.
func (g front) Waiting() limits.Queue {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refresh(time.Now())
	return limits.Queue{First: g.queue.Len() > 0}
}

// Next takes the call that is asked next; false if it has ended meanwhile.
func (g front) Next(action limits.Action) (c *call, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if action == limits.SendFirst {
		return g.queue.Pop()
	}
	if c, ok = g.dispatcher.Take(); ok {
		g.queue.Count(c.key)
		select {
		case <-c.late:
			c.late = make(chan struct{})
		default:
		}
	}
	return c, ok
}

// Send makes an attempt.
func (g front) Send(c *call, permit limits.Permit) {
	g.asking.Go(func() { g.attempt(g.asks, c, permit) })
}

// GiveUp ends a call without an answer, and remembers the failure.
func (g front) GiveUp(c *call) {
	err := noAnswer(c.Counted(), c.Last)
	g.metrics.failed.Add(1)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.failed.add(time.Now(), c.Request, err)
	g.endLocked(c, false, nil, err)
}

// attempt asks the upstream once, if the request is still claimed. Then the call is committed, parked for a retry, or ended.
func (g *Gateway) attempt(ctx context.Context, c *call, permit limits.Permit) {
	if !g.isClaimed(c) {
		g.dispatcher.End(permit, ask.NotSent)
		return
	}
	c.Begin(time.Now())
	g.metrics.attempts.Add(1)
	answer, err := g.options.Upstream.Attempt(ctx, c.Request)
	g.metrics.took.Observe(time.Since(c.Sent).Seconds())
	if shape, ok := errors.AsType[*client.ShapeError](err); ok && !(shape.Worded && g.isAnswering()) {
		g.dispatcher.End(permit, ask.ResultOf(answer, err))
		g.endMisfit(ctx, c, err)
		return
	}
	result := ask.ResultOf(answer, err)
	e, failed := errors.AsType[*client.Error](err)
	if failed && (e.Class == client.Auth || e.Class == client.Fatal) {
		passing := *e // the operator can mend it while the gateway runs
		passing.Class = client.Transient
		e, result.Signal = &passing, limits.Failed // the error says nothing about limits
		g.doubtKey()
	} else if failed && e.Status == http.StatusUnauthorized {
		g.doubtKey()
	} else if failed {
		e, result = g.responses.Failed(&c.Attempts, e, g.options.Retry)
	}
	if failed && e.Class != client.Rejected {
		g.lastErr.Store(e)
	}
	if err == nil {
		g.lastErr.Store(nil) // an earlier error is not the cause of a later change
	}
	g.dispatcher.End(permit, result)
	switch {
	case err == nil:
		g.responses.Answered(&c.Attempts)
		c.outcome.Answer = answer
		g.save(ctx, c)
	case failed:
		g.unanswered(ctx, c, e)
	default: // ctx has ended
		g.end(c, false, nil, stopping())
	}
}

// unanswered acts on an attempt without an answer.
func (g *Gateway) unanswered(ctx context.Context, c *call, e *client.Error) {
	now := time.Now()
	if e.Class == client.Rejected {
		c.unsure = !g.responses.IsSure(&c.Attempts, e)
		g.reject(ctx, c, e)
		return
	}
	if e.Class == client.Quota {
		g.limits.Exhausted(now, e.RetryAfter)
		defer g.dispatcher.Wake() // to ask for the quota later
	}
	g.log.Debug("attempt failed", "attempt", c.Made(), "error", e)
	c.Fail(now, e, g.options.Retry)
	g.park(c)
}

// endMisfit ends a call that got an answer of an unexpected shape: with a rejection if other answers had the expected shape.
func (g *Gateway) endMisfit(ctx context.Context, c *call, err error) {
	e, _ := errors.AsType[*client.Error](err)
	if g.isAnswering() {
		g.reject(ctx, c, e.Rejection())
		return
	}
	g.lastErr.Store(e)
	g.standing.Doubt()
	g.end(c, false, nil, unusable())
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refresh(time.Now())
}

// isAnswering reports whether the upstream has given an answer of the expected shape.
func (g *Gateway) isAnswering() bool { return g.standing.State() == client.Answering }

// doubtKey makes watch ask the usage operation whether the upstream accepts the key.
func (g *Gateway) doubtKey() {
	select {
	case g.doubted <- struct{}{}:
	default:
	}
}

// reject passes a rejection on to commit.
func (g *Gateway) reject(ctx context.Context, c *call, e *client.Error) {
	c.outcome.Rejection, c.outcome.Answer.AnsweredAt = e, time.Now().UTC().Truncate(time.Microsecond)
	g.save(ctx, c)
}

// AskQuota asks how much of the upstream's quota is left, for the limits.
func (g front) AskQuota(ctx context.Context) limits.Quota {
	usage, err := g.askUsage(ctx)
	g.judge(time.Now(), err, false)
	quota := ask.QuotaOf(usage, err)
	quota.Transient = true // the operator can mend any cause while the gateway runs
	return quota
}

// Report acts on a change of the upstream.
func (g front) Report(limits.Effect) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refresh(time.Now())
}
