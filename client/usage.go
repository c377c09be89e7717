package client

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// Usage is what the account has left.
type Usage struct {
	Plan      string
	Remaining string // as the service gave it: usually a number, or a word such as "unlimited"
}

// Requests is the number of whole requests left, or false where it is not a number and so
// limits nothing. Nobody promises an integer: 1500.0 and 1,500 are numbers, too.
func (u Usage) Requests() (int64, bool) {
	n, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(u.Remaining), ",", ""), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, false
	}
	return int64(min(max(n, 0), 1<<62)), true
}

// Usage asks what is left. It costs nothing.
func (c *HTTP) Usage(ctx context.Context) (Usage, error) {
	req, err := c.newRequest("/api/usage", nil)
	if err != nil {
		return Usage{}, &Error{Class: Fatal, Err: err}
	}
	resp, body, err := c.do(ctx, req)
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
		Plan      looseString  `json:"plan"`
		Remaining *looseString `json:"remaining"`
	}
	if err := json.Unmarshal(body, &wire); err != nil || wire.Remaining == nil {
		return Usage{}, errUsage
	}
	return Usage{Plan: string(wire.Plan), Remaining: string(*wire.Remaining)}, nil
}
