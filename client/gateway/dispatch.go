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
func (g *Gateway) dispatch(soft, hard context.Context) {
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
			g.used.Store(true)
			g.log.Error("no more requests are sent until the gateway is started again", "error", d.Err)
			g.endAll(noUpstreamQuota())
			<-soft.Done()
		default:
			g.await(soft, now, d.For, due)
		}
	}
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
	q.First = g.queue.length > 0
	failed, retry, due := g.parked.Decide(now, g.limits, q)
	for _, c := range failed {
		err := noAnswer(c.Counted(), c.Last)
		g.failed.add(now, c.Request, err)
		g.metrics.failed.Add(1)
		g.endLocked(c, false, nil, err)
	}
	q.Retry = retry
	return q, due
}

// next takes the call that is asked next; nil if there is none.
func (g *Gateway) next(action limits.Action) *call {
	g.mu.Lock()
	defer g.mu.Unlock()
	if action == limits.SendFirst {
		return g.queue.pop()
	}
	c, ok := g.parked.Take()
	if ok {
		g.queue.advance(c.key)
	}
	return c
}

// attempt asks the upstream once. Then the call is committed, parked for a retry, or ended.
func (g *Gateway) attempt(ctx context.Context, c *call, permit limits.Permit) {
	c.Begin(time.Now())
	g.metrics.attempts.Add(1)
	answer, err := g.options.Upstream.Categorize(ctx, c.Request)
	if shape, ok := errors.AsType[*client.ShapeError](err); ok && !(shape.Worded && g.fits.Load()) {
		g.report(g.limits.End(time.Now(), permit, ask.ResultOf(answer, err)))
		g.endMisfit(ctx, c, err)
		return
	}
	e, failed := errors.AsType[*client.Error](err)
	if failed && (e.Class == client.Auth || e.Class == client.Fatal) {
		passing := *e // the operator can mend it while the gateway runs
		passing.Class = client.Transient
		e, err = &passing, &passing
	}
	g.report(g.limits.End(time.Now(), permit, ask.ResultOf(answer, err)))
	switch {
	case err == nil:
		g.fits.Store(true)
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
		if wait, isNew := g.limits.Exhausted(now, e.RetryAfter); isNew {
			g.log.Warn("the upstream's quota is used up: paid answers wait until there is quota again", "asked_in", wait.Round(time.Second).String(), "error", e)
		}
		g.end(c, false, nil, noUpstreamQuota())
		g.endAll(noUpstreamQuota())
		g.waker.Wake() // to ask for the quota later
	default:
		c.Fail(now, e, g.options.Retry)
		g.lastErr.Store(e)
		g.log.Debug("attempt failed", "attempt", c.Made(), "error", e)
		g.park(c)
	}
}

// endMisfit ends a call that got an answer of another shape: with a rejection once other answers fit.
func (g *Gateway) endMisfit(ctx context.Context, c *call, err error) {
	e, _ := errors.AsType[*client.Error](err)
	if g.fits.Load() {
		g.reject(ctx, c, e.Rejection())
		return
	}
	g.end(c, false, nil, unusable())
	if g.misfits.Add(1) == mostMisfits {
		g.log.Error("the answers of the upstream cannot be used: no more requests are sent until the gateway is started again", "error", e)
		g.endAll(unusable())
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
	g.report(g.limits.ReportQuota(time.Now(), ask.QuotaOf(usage, err)))
	if g.Exhausted() {
		g.endAll(noUpstreamQuota())
	}
}

// report acts on a change of the upstream.
func (g *Gateway) report(change limits.Effect) {
	switch {
	case change.State == limits.Out, change.Lasting:
		g.log.Warn("the upstream is out: new requests get 503, stored answers are served", "error", g.lastErr.Load())
		g.mu.Lock()
		if !g.isDown() {
			close(g.down)
		}
		g.mu.Unlock()
	case change.State == limits.Up:
		g.log.Info("the upstream answers again", "after", change.After.Round(time.Second).String())
		g.mu.Lock()
		if g.isDown() {
			g.down = make(chan struct{})
		}
		g.mu.Unlock()
	}
	if change.Refilled {
		g.log.Info("the upstream has quota again")
	}
	if change.Wake {
		g.waker.Wake()
	}
}
