package client

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Usage is what the account has left.
type Usage struct {
	Plan      string
	Remaining string // as the service gave it: usually a number, or a word such as "unlimited"
}

// Requests is the number of whole requests left, or false where Remaining is not such a number
// and so limits nothing. The interface promises no integer: 1500.0 and 1,500 are numbers, too. A number
// below 0 is none: many services mean by it that there is no limit.
func (u Usage) Requests() (int64, bool) {
	n, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(u.Remaining), ",", ""), 64)
	if err != nil || !(n >= 0) || math.IsInf(n, 0) { // NaN too
		return 0, false
	}
	return int64(min(n, 1<<62)), true
}

// unlimited are the usual ways to say that there is no limit.
var unlimited = []string{"unlimited", "no limit", "infinite", "infinity", "inf", "∞", "-1"}

// Understood says whether Remaining is a number of requests, or says that there is no limit.
func (u Usage) Understood() bool {
	_, isNumber := u.Requests()
	return isNumber || slices.Contains(unlimited, strings.ToLower(strings.TrimSpace(u.Remaining)))
}

// Usage asks what is left. It costs nothing.
func (c *HTTP) Usage(ctx context.Context) (Usage, error) {
	req, err := c.newRequest("/api/usage", nil)
	if err != nil {
		return Usage{}, &Error{Class: Fatal, Err: err}
	}
	share := c.bodies.Share()
	defer share.Release()
	resp, body, err := c.do(ctx, req, share)
	if err != nil {
		return Usage{}, err
	}
	usage, err := parseUsage(body)
	if err != nil {
		return Usage{}, &Error{Class: Transient, Status: resp.StatusCode, Err: err, Detail: c.snippet(body)}
	}
	return usage, nil
}

var errUsage = errors.New(`the answer is not {"plan": ..., "remaining": ...}`)

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
