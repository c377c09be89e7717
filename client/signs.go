package client

import (
	"net/http"
	"regexp"
)

// sign is a response by which services limit requests. The first sign that matches counts.
type sign struct {
	status  int            // 0 for any status from 400
	text    *regexp.Regexp // in the body; nil for any body
	waits   bool           // only if the response states a wait, such as Retry-After
	meaning meaning
}

// meaning is what a sign says about a request.
type meaning uint8

const (
	notLimited  meaning = iota
	limited             // the service has not worked on the request, because the client asks too much
	unavailable         // the service cannot serve now: it is out, or the client asks too much
	behind              // a gateway got no answer from the service
)

// signs is all that is known of how services limit requests. A new sign is one line.
var signs = []sign{
	{status: http.StatusAccepted}, // the service works on the request
	{status: http.StatusTooManyRequests, meaning: limited},
	{status: http.StatusForbidden, meaning: limited}, // unless the key is in doubt: see Diagnoser
	{status: http.StatusUnauthorized, meaning: limited},
	{status: http.StatusBadGateway, meaning: behind},
	{status: http.StatusGatewayTimeout, meaning: behind},
	{waits: true, meaning: limited},
	{status: http.StatusServiceUnavailable, meaning: unavailable},
	{status: http.StatusInternalServerError, text: limitWords, meaning: limited}, // an exception of a limiter that nobody catches
}

// limitWords match bodies that report a limit of the rate.
var limitWords = regexp.MustCompile(`(?i)too many requests|rate.?limit|limit exceeded|throttl|\bper (second|minute|hour)\b`)

// quotaWords match bodies that report a used-up quota. Some services also call a limit per second or per
// minute a quota; the remaining quota then decides.
var quotaWords = regexp.MustCompile(`(?i)\bquota|\bcredits?\b|out of (requests|calls|funds)|insufficient (funds|balance)|no (requests|calls) (left|remaining)|(monthly|daily|plan|usage|account) (limit|allowance)|\ballowance|upgrade your plan|payment required`)

// meaning returns what the response says about limits.
func (e *Error) meaning() meaning {
	if e.Class != Transient || e.Status == 0 {
		return notLimited
	}
	for _, s := range signs {
		if (s.status == 0 || s.status == e.Status) && (s.text == nil || s.text.MatchString(e.Detail)) && (!s.waits || e.RetryAfter > 0) {
			return s.meaning
		}
	}
	return notLimited
}

// Refused reports whether the service did not work on the request because the client asks too much.
func (e *Error) Refused() bool { return e.meaning() == limited }

// Unavailable reports whether the service says that it cannot serve now: it is out, or the caller asks too much.
func (e *Error) Unavailable() bool { return e.meaning() == unavailable }

// mayLimit reports whether the response may be that of a limiter, whose short waits a lower rate replaces.
func (e *Error) mayLimit() bool {
	m := e.meaning()
	return m == limited || m == unavailable
}
