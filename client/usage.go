package client

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client/internal/wire"
)

// Usage is the quota of the API key.
type Usage struct {
	Plan      string // name of the plan; "" if the service gave none
	Remaining string // as the service gave it: usually a number of requests, or a word such as "unlimited"
	Gateway   bool   // the service is a gateway, whose clients share the rate and the quota: see package client/gateway
}

// Requests returns Remaining as a whole number of requests. ok is false if Remaining is not a number, or is below 0, which many
// services send for "no limit". The interface does not require an integer, so 1500.0 and 1,500 are numbers as well.
func (u Usage) Requests() (n int64, ok bool) {
	left, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(u.Remaining), ",", ""), 64)
	if err != nil || !(left >= 0) || math.IsInf(left, 0) { // left may be NaN
		return 0, false
	}
	return int64(min(left, 1<<62)), true
}

// unlimited are the usual values of Remaining for a key without a quota.
var unlimited = []string{"unlimited", "no limit", "infinite", "infinity", "inf", "∞", "-1"}

// Understood reports whether Remaining is a number of requests or a usual word for "no limit".
func (u Usage) Understood() bool {
	_, isNumber := u.Requests()
	return isNumber || slices.Contains(unlimited, strings.ToLower(strings.TrimSpace(u.Remaining)))
}

// Usage asks for the remaining quota, which costs nothing. The error is an *Error, or the cause of ctx.
func (c *HTTP) Usage(ctx context.Context) (Usage, error) { return c.standing.askUsage(ctx, c.usage) }

func (c *HTTP) usage(ctx context.Context) (Usage, error) {
	req, err := c.newRequest("/api/usage", nil)
	if err != nil {
		return Usage{}, &Error{Class: Fatal, Err: err}
	}
	share := c.bodies.Share()
	defer share.Release()
	resp, body, err := c.do(ctx, req, "", share)
	if err != nil {
		return Usage{}, err
	}
	usage, err := parseUsage(body)
	if err != nil {
		if json.Valid(body) {
			return Usage{}, c.shapeError(resp.StatusCode, body, err, `{"plan": "basic", "remaining": "1000"}`)
		}
		return Usage{}, &Error{Class: Transient, Status: resp.StatusCode, Err: err, Detail: c.snippet(body)}
	}
	usage.Plan, usage.Remaining = c.Hide(usage.Plan), c.Hide(usage.Remaining)
	usage.Gateway = resp.Header.Get(wire.GatewayHeader) != ""
	return usage, nil
}

// isShared reports whether a gateway has answered or refused without a request of its own.
func isShared(h http.Header) bool {
	return h.Get(wire.GatewayHeader) != "" && h.Get(wire.CacheHeader) != wire.CacheMiss
}

var errUsage = errors.New("the answer does not say how many requests remain")

func parseUsage(body []byte) (Usage, error) {
	var wire struct {
		Plan      looseString     `json:"plan"`
		Remaining json.RawMessage `json:"remaining"`
	}
	if err := json.Unmarshal(body, &wire); err != nil || wire.Remaining == nil {
		return Usage{}, errUsage
	}
	usage := Usage{Plan: string(wire.Plan), Remaining: string(wire.Remaining)}
	switch wire.Remaining[0] {
	case '"':
		if err := json.Unmarshal(wire.Remaining, &usage.Remaining); err != nil {
			return Usage{}, errUsage
		}
	case '{', '[':
		return Usage{}, errUsage
	}
	return usage, nil
}
