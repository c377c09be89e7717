package gateway

import (
	"context"
	"errors"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/limits"
)

// dispatch sends attempts as the limits allow, until soft ends. Attempts last until hard ends.
func (g *Gateway) dispatch(soft, hard context.Context) error {
	for soft.Err() == nil {
		now := time.Now()
		queue, due := g.waiting(now)
		switch d := g.limits.Next(now, queue); d.Action {
		case limits.SendFirst, limits.SendRetry:
			c := g.next(d.Action)
			if c == nil { // ended meanwhile
				g.report(g.limits.End(now, d.Permit, limits.Result{Signal: limits.Canceled}))
				continue
			}
			g.asking.Go(func() { g.attempt(hard, c, d.Permit) })
		case limits.AskQuota:
			g.askQuota(soft)
		case limits.Stop:
			return d.Err
		default:
			g.await(soft, now, d.For, due)
		}
	}
	return nil
}

// await waits for a while (0 for no bound), until a retry is due, or until something happens.
func (g *Gateway) await(ctx context.Context, now time.Time, wait time.Duration, due time.Time) {
	select {
	case <-g.waker.Timer(now, wait, due):
	case <-g.waker.Woken():
	case <-ctx.Done():
	}
}

// waiting returns which calls wait for an attempt, and when the next retry is due; zero for none.
func (g *Gateway) waiting(now time.Time) (q limits.Queue, due time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.look(now)
	q.First = g.queue.Len() > 0
	failed, q, due := g.parked.Decide(now, g.limits, q)
	for _, c := range failed {
		err := noAnswer(c.Counted(), c.Last)
		g.failed.add(now, c.Request, err)
		g.metrics.failed.Add(1)
		g.endLocked(c, false, nil, err)
	}
	return q, due
}

// next takes the call that is asked next; nil if there is none.
func (g *Gateway) next(action limits.Action) *call {
	g.mu.Lock()
	defer g.mu.Unlock()
	if action == limits.SendFirst {
		c, _ := g.queue.Pop()
		return c
	}
	return g.unpark()
}

// attempt asks the upstream once. Then the call is committed, parked for a retry, or ended.
func (g *Gateway) attempt(ctx context.Context, c *call, permit limits.Permit) {
	c.Begin(time.Now())
	g.metrics.attempts.Add(1)
	began := time.Now()
	answer, err := g.options.Upstream.Categorize(ctx, c.Request)
	g.metrics.took.Observe(time.Since(began).Seconds())
	if shape, ok := errors.AsType[*client.ShapeError](err); ok && !(shape.Worded && g.isAnswering()) {
		g.report(g.limits.End(time.Now(), permit, ask.ResultOf(answer, err)))
		g.endMisfit(ctx, c, err)
		return
	}
	result := ask.ResultOf(answer, err)
	e, failed := errors.AsType[*client.Error](err)
	if failed && (e.Class == client.Auth || e.Class == client.Fatal) {
		passing := *e // the operator can mend it while the gateway runs
		passing.Class = client.Transient
		e, result.Signal = &passing, limits.Failed // about no limit
		g.doubtKey()
	}
	if failed && e.Class != client.Rejected {
		g.lastErr.Store(e)
	}
	if err == nil {
		g.lastErr.Store(nil) // it is not the cause of what comes
	}
	g.report(g.limits.End(time.Now(), permit, result))
	switch {
	case err == nil:
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
	switch now := time.Now(); e.Class {
	case client.Rejected:
		g.reject(ctx, c, e)
	case client.Unsent:
		c.Repeat(now)
		g.park(c)
	case client.Quota:
		g.limits.Exhausted(now, e.RetryAfter)
		c.Repeat(now)
		g.park(c)
		g.waker.Wake() // to ask for the quota later
	default:
		c.Fail(now, e, g.options.Retry)
		g.log.Debug("attempt failed", "attempt", c.Made(), "error", e)
		g.park(c)
	}
}

// endMisfit ends a call that got an answer of another shape: with a rejection once other answers fit.
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
	g.look(time.Now())
}

// isAnswering reports whether the upstream has given an answer of the expected shape.
func (g *Gateway) isAnswering() bool { return g.standing.State() == client.Answering }

// doubtKey has the usage operation asked whether the upstream accepts the key.
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

// askQuota asks how much of the upstream's quota is left, for the limits.
func (g *Gateway) askQuota(ctx context.Context) {
	usage, err := g.askUsage(ctx)
	if ctx.Err() != nil {
		return
	}
	quota := ask.QuotaOf(usage, err)
	quota.Transient = true // the operator can mend any cause while the gateway runs
	g.report(g.limits.ReportQuota(time.Now(), quota))
	g.judge(time.Now(), err, false)
}

// report acts on a change of the upstream.
func (g *Gateway) report(change limits.Effect) {
	g.mu.Lock()
	g.look(time.Now())
	g.mu.Unlock()
	if change.Wake {
		g.waker.Wake()
	}
}
