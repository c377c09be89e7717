package gateway

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/internal/memory"
	"github.com/bulkcat/bulkcat/client/internal/wire"
	"github.com/bulkcat/bulkcat/client/normalize"
)

// ageHeader is the response header of the age of a stored answer, in whole seconds (RFC 9111 §5.1).
const ageHeader = "Age"

// patience is how long a request waits for the end of its call. Clients of this project wait for 30 seconds.
const patience = 25 * time.Second

const (
	// allBodies bounds the memory of all answers that clients are reading. Clients can stop reading, and an answer may
	// have megabytes.
	allBodies = 64 << 20

	// freeBody is the longest answer that does not count towards allBodies; nearly all are shorter.
	freeBody = 8 << 10
)

// Answer returns the body of the answer to a request: from the store, or from the upstream once the
// answer is durable. It implements [embedded.Backend].
func (g *Gateway) Answer(h http.Header, r *http.Request, key *embedded.Key, request client.Request) (body []byte, release func(), err error) {
	arrived := time.Now()
	if request, err = normalized(request); err != nil {
		return nil, nil, err
	}
	if body, err = g.answer(h, r, key, request, arrived); err != nil {
		return nil, nil, err
	}
	share := g.bodies.Share()
	if size := int64(len(body)); size > freeBody && !share.TryGrow(size) {
		body = nil // not held while the request waits for memory
		body, err = g.readAgain(r.Context(), share, size, request)
	}
	return body, share.Release, err
}

// readAgain returns the body of an answer that is stored, once there is memory for so many bytes.
func (g *Gateway) readAgain(ctx context.Context, share *memory.Share, size int64, request client.Request) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, notReady())
	defer cancel()
	if err := share.Grow(ctx, size); err != nil {
		return nil, err
	}
	q, err := g.find(request, time.Time{}, false)
	if err == nil && !(q.Found && q.Outcome.Rejection == nil) { // replaced
		err = unavailable("the stored answer cannot be read")
	}
	if err != nil {
		share.Release()
		return nil, err
	}
	return q.Outcome.Answer.Body, nil
}

// answer returns the body of an answer. Other requests may be reading the same memory.
func (g *Gateway) answer(h http.Header, r *http.Request, key *embedded.Key, request client.Request, arrived time.Time) ([]byte, error) {
	oldest := arrived.Add(-g.maxAge(r.Header))
	q, err := g.find(request, oldest, false)
	if err != nil {
		return nil, err
	}
	if q.Found {
		return g.hit(h, q.Outcome)
	}
	c, joined, err := g.join(key, request)
	if err != nil {
		g.metrics.refused.Add(1)
		return nil, err
	}
	if joined {
		g.metrics.joined.Add(1)
		h.Set(wire.CacheHeader, wire.CacheJoin)
		return g.wait(r.Context(), c)
	}
	if body, ended, err := g.awaitOthers(r.Context(), h, c, oldest); ended {
		return body, err
	}
	if err := g.enqueue(c); err != nil {
		g.metrics.refused.Add(1)
		return nil, err
	}
	g.metrics.misses.Add(1)
	h.Set(wire.CacheHeader, wire.CacheMiss)
	return g.wait(r.Context(), c)
}

// normalized returns the request with a normalized input. The error is a rejection. Placeholders for missing values are valid
// inputs: the clients decide whether to ask for them (--ask-placeholders of a run).
func normalized(r client.Request) (client.Request, error) {
	if err := client.CheckClassification(r.Kind, r.Classification); err != nil {
		return r, invalid(http.StatusNotFound, err)
	}
	r, err := normalize.Normalizer{AskPlaceholders: true}.Request(r.Kind, r.Input, r.Classification)
	if err != nil {
		return r, invalid(http.StatusBadRequest, err)
	}
	return r, nil
}

// find looks up the outcome of a request that the upstream gave after oldest. If claims, it claims the request unless there is such
// an outcome, or another process has claimed it.
func (g *Gateway) find(request client.Request, oldest time.Time, claims bool) (answers.Query, error) {
	queries := []answers.Query{{Request: request, Body: true, After: oldest}}
	lookUp := g.options.Store.LookupAll
	if claims {
		lookUp = g.options.Store.Claim
	}
	if err := lookUp(queries); err != nil {
		return answers.Query{}, g.storeFailed(err)
	}
	return queries[0], nil
}

// claim is find for a call that is to be asked.
func (g *Gateway) claim(c *call, oldest time.Time) (q answers.Query, err error) {
	if c.lapses, err = g.options.Store.Lapses(); err != nil {
		return q, g.storeFailed(err)
	}
	return g.find(c.Request, oldest, true)
}

// isClaimed reports whether a call with a permit may be asked. It claims the request again if the claim has lapsed because this
// process was suspended for long, and ends the call if another process has asked meanwhile or is asking.
func (g *Gateway) isClaimed(c *call) bool {
	lapses, err := g.options.Store.Lapses()
	var q answers.Query
	switch {
	case err != nil:
		err = g.storeFailed(err)
	case lapses == c.lapses:
		return true
	default:
		q, err = g.claim(c, c.came)
	}
	switch {
	case err != nil:
	case q.Found && q.Outcome.Rejection != nil:
		err = refusal(q.Outcome.Rejection)
	case q.Found:
	case q.Holder != 0:
		err = notReady()
	default:
		return true
	}
	g.end(c, false, q.Outcome.Answer.Body, err)
	return false
}

// othersPoll is the interval between lookups while another process asks.
const othersPoll = 50 * time.Millisecond

// awaitOthers claims the request of a new call. While another process asks for the request, it waits, up to patience. It ends the
// call if there is an outcome: of another process, or of an equal call that ended before this call began. Otherwise the caller
// enqueues the call.
func (g *Gateway) awaitOthers(ctx context.Context, h http.Header, c *call, oldest time.Time) (body []byte, ended bool, err error) {
	// Other requests may have joined the call, and still wait after this client has gone.
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), patience, notReady())
	defer cancel()
	for {
		var q answers.Query
		if err == nil {
			q, err = g.claim(c, oldest)
		}
		if q.Found {
			body, err = g.hit(h, q.Outcome)
		}
		if err != nil || q.Found {
			g.end(c, false, body, err)
			return body, true, err
		}
		if q.Holder == 0 {
			return nil, false, nil
		}
		select {
		case <-time.After(othersPoll):
		case <-g.stopped:
			err = stopping()
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
}

// hit returns a stored outcome.
func (g *Gateway) hit(h http.Header, o answers.Outcome) ([]byte, error) {
	g.metrics.hits.Add(1)
	h.Set(wire.CacheHeader, wire.CacheHit)
	h.Set(ageHeader, strconv.Itoa(max(0, int(time.Since(o.AskedAt()).Seconds()))))
	if o.Rejection != nil {
		return nil, refusal(o.Rejection)
	}
	return o.Answer.Body, nil
}

// wait waits until a call ends, and returns its body or error.
func (g *Gateway) wait(ctx context.Context, c *call) ([]byte, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	g.mu.Lock()
	late := c.late
	g.mu.Unlock()
	select {
	case <-c.done:
		return c.body, c.err
	case <-late:
		g.mu.Lock()
		defer g.mu.Unlock()
		return nil, limited(time.Until(c.again))
	case <-timer.C:
		return nil, notReady()
	case <-g.stopped:
		return nil, stopping()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// anyAge is the age up to which answers count if there is no limit.
const anyAge time.Duration = 100 * 365 * 24 * time.Hour

// maxAge is the lower of Options.MaxAge and the age that a request accepts (RFC 9111 §5.2.1): max-age in seconds, or 0 with
// no-cache or no-store. Values that cannot be read are ignored.
func (g *Gateway) maxAge(h http.Header) time.Duration {
	age := anyAge
	if g.options.MaxAge > 0 {
		age = g.options.MaxAge
	}
	for _, line := range h["Cache-Control"] {
		for directive := range strings.SplitSeq(line, ",") {
			name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
			switch name {
			case "no-cache", "no-store":
				return 0
			case "max-age":
				if seconds, err := strconv.ParseInt(strings.Trim(value, `"`), 10, 64); err == nil && seconds >= 0 {
					age = min(age, time.Duration(min(seconds, math.MaxInt64/int64(time.Second)))*time.Second)
				}
			}
		}
	}
	return age
}
