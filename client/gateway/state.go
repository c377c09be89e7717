package gateway

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/limits"
)

// State is the state of the upstream. Refusals, the log, metrics, /healthz and usage all follow from it.
type State string

// The states.
const (
	Up      State = "up"
	Limited State = "limited" // it refuses requests for a while
	Out     State = "out"     // it does not answer, or does not tell the quota, and a reserve must be left
	Blocked State = "blocked" // it refuses the gateway's key, or its answers cannot be used: only the operator can help
	Spent   State = "spent"   // its quota is used up, up to the reserve
)

// States are all states.
var States = []State{Up, Limited, Out, Blocked, Spent}

// waitable is the longest time until the next attempt for which requests wait: the answer then still comes within patience.
const waitable = 10 * time.Second

// condition is the state of the upstream at one moment.
type condition struct {
	state   State
	next    time.Time     // when the upstream is asked again; zero if it may be asked now
	refusal *client.Error // of requests that would wait in vain; nil if requests are asked
}

// condition returns the present condition. The caller holds mu.
func (g *Gateway) condition(now time.Time) condition {
	s := g.limits.Status()
	wait := max(0, s.Next.Sub(now))
	switch {
	case g.standing.State() == client.Doubted: // its answers are charged, so no more are asked for
		return condition{state: Blocked, refusal: unusable()}
	case g.refused != nil:
		return condition{Blocked, g.check, blocked(g.check.Sub(now))}
	case s.Empty:
		return condition{Spent, s.Next, noQuota("the quota that all keys share", wait)}
	case s.State == limits.Out, s.Unknown:
		return condition{Out, s.Next, outage()}
	case s.State == limits.Limited && (s.Lasting || wait > waitable):
		return condition{Limited, s.Next, limited(wait)}
	case s.State == limits.Limited:
		return condition{state: Limited, next: s.Next}
	}
	return condition{state: Up}
}

// refresh returns the present condition, and acts on a change: calls that wait for an attempt end when the upstream begins
// to refuse. The caller holds mu.
func (g *Gateway) refresh(now time.Time) condition {
	c, was := g.condition(now), g.seen
	if c.state == was.state && (c.refusal != nil) == (was.refusal != nil) {
		return c
	}
	g.seen = c
	if c.refusal != nil {
		g.endWaiting(c.refusal)
	}
	if was.state == Up {
		g.since = now
	}
	select {
	case g.changed <- struct{}{}:
	default:
	}
	return c
}

// logChanges logs when the upstream begins to refuse, and when it serves again, until ctx ends.
func (g *Gateway) logChanges(ctx context.Context) {
	for logged := Up; ; {
		select {
		case <-g.changed:
		case <-ctx.Done():
			return
		}
		g.mu.Lock()
		c, since, cause := g.seen, g.since, cmp.Or(g.refused, g.lastErr.Load())
		g.mu.Unlock()
		switch {
		case c.refusal != nil && c.state != logged:
			level := slog.LevelWarn
			if c.state == Blocked {
				level = slog.LevelError
			}
			g.log.Log(ctx, level, "new requests are refused, because "+reasons[c.state]+"; stored answers are served", "state", c.state,
				"asked_again_in", max(0, time.Until(c.next)).Round(time.Second).String(), "error", cause)
			logged = c.state
		case c.state == Up && logged != Up:
			g.log.Info("the upstream serves again", "after", time.Since(since).Round(time.Second).String())
			logged = Up
		}
	}
}

// reasons say why the upstream does not serve in a state.
var reasons = map[State]string{
	Limited: "the upstream refuses requests for a while",
	Out:     "the upstream is out",
	Blocked: "the upstream refuses the API key, or its answers cannot be used",
	Spent:   "the upstream's quota is used up",
}

// takes reports whether a call may be asked beside other calls: without others, one call shows when an upstream that
// refuses serves again.
func (c condition) takes(others int) bool {
	return c.refusal == nil || (c.state == Out || c.state == Limited) && others == 0
}

// Condition implements [embedded.Backend].
func (g *Gateway) Condition() embedded.Condition {
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.refresh(time.Now())
	left := g.left()
	if c.state == Spent {
		left = 0
	}
	return embedded.Condition{State: string(c.state), Left: left, Err: c.refusal}
}

// left is the number of answers that the upstream's quota allows, up to the reserve.
func (g *Gateway) left() embedded.Quota {
	left, isNumber := g.standing.Left()
	if !isNumber {
		return embedded.Unlimited
	}
	if g.options.Limits.KeepReserve {
		left -= g.options.Limits.Reserve
	}
	return embedded.Quota(max(0, left))
}

// refusesKey reports whether the usage operation refused the key. A 403 may come from a limiter. If a request has put the key in
// doubt (doubted), a 403 and any other permanent error count as well.
func refusesKey(err error, doubted bool) bool {
	e, ok := errors.AsType[*client.Error](err)
	if !ok {
		return false
	}
	return e.Status == http.StatusUnauthorized || doubted && (e.Class == client.Auth || e.Class == client.Fatal && e.Status/100 != 2)
}

const (
	checkFirst = time.Second // between looks whether a refused key is accepted again
	checkLast  = time.Minute // the longest such time, and the time between looks at the quota
)

// judge acts on the reply of the usage operation: a key that the upstream refuses is not used until the upstream accepts it. If
// no request has put the key in doubt, a refusal of the key counts only if no request was answered since the usage operation was
// last asked. mended reports whether the upstream accepts the key again.
func (g *Gateway) judge(now time.Time, err error, doubted bool) (mended bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	charged := g.standing.Charged()
	switch {
	case err == nil:
		mended, g.refused = g.refused != nil, nil
	case g.refused == nil && refusesKey(err, doubted) && (doubted || charged == g.judged):
		g.refused, _ = errors.AsType[*client.Error](err)
		g.refusedAt = now
	}
	g.judged = charged
	pause := checkLast
	if g.refused != nil {
		pause = min(max(now.Sub(g.refusedAt)/8, checkFirst), checkLast)
	}
	g.check = now.Add(pause)
	g.refresh(now)
	return mended
}
