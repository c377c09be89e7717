package client

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// RateLimit is the service's limit, as a response reports it.
type RateLimit struct {
	PerSecond float64       // requests per second that the policy allows on average; 0 if unknown
	Remaining int64         // requests left in the current window; -1 if unknown
	Reset     time.Duration // time until the window ends; 0 if unknown
}

// parseRateLimit parses the fields of the IETF draft (draft-ietf-httpapi-ratelimit-headers, in its newer
// and its older form), and then the older fields with the prefix X-. Names are in canonical form.
func parseRateLimit(h http.Header, now time.Time) RateLimit {
	l := RateLimit{Remaining: -1}
	if policy := first(h["Ratelimit-Policy"]); policy != "" {
		l.PerSecond = parsePolicy(policy)
	}
	if field := first(h["Ratelimit"]); field != "" {
		l.readField(field)
	}
	l.readCounts(first(h["Ratelimit-Remaining"]), first(h["Ratelimit-Reset"]), now)
	l.readCounts(first(h["X-Ratelimit-Remaining"]), first(h["X-Ratelimit-Reset"]), now)
	return l
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// readCounts sets the fields that are still unknown. Most services send no such field, and the errors of
// parsing "" would cost 7% of an attempt.
func (l *RateLimit) readCounts(remaining, reset string, now time.Time) {
	if remaining != "" && l.Remaining < 0 {
		if n, err := strconv.ParseInt(strings.TrimSpace(remaining), 10, 64); err == nil && n >= 0 {
			l.Remaining = n
		}
	}
	if reset != "" && l.Reset == 0 {
		l.Reset = parseReset(reset, now)
	}
}

// longestWindow is the longest window of a policy that limits the rate. A policy with a longer window is
// a quota.
const longestWindow = 60 // seconds

// parsePolicy returns the tightest of policies such as `"name";q=100;w=60` or `100;w=60`, in requests per
// second; 0 if none can be parsed.
func parsePolicy(text string) float64 {
	tightest := 0.0
	for policy := range strings.SplitSeq(text, ",") {
		quota, window := 0.0, 0.0
		for i, param := range strings.Split(policy, ";") {
			name, value, found := strings.Cut(strings.TrimSpace(param), "=")
			switch {
			case i == 0 && !found:
				quota = parseCount(name)
			case name == "q":
				quota = parseCount(value)
			case name == "w":
				window = parseCount(value)
			}
		}
		if perSecond := quota / max(window, 1); window > 0 && window <= longestWindow && perSecond > 0 && (tightest == 0 || perSecond < tightest) {
			tightest = perSecond
		}
	}
	return tightest
}

// parseCount parses a whole number below 2^40; 0 for any other text.
func parseCount(text string) float64 {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 40)
	if err != nil {
		return 0
	}
	return float64(n)
}

// readField parses `"name";r=50;t=30` or `limit=100, remaining=50, reset=30`.
func (l *RateLimit) readField(text string) {
	for param := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ';' || r == ',' }) {
		name, value, _ := strings.Cut(strings.TrimSpace(param), "=")
		switch name {
		case "r", "remaining":
			if n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64); err == nil && n >= 0 {
				l.Remaining = n
			}
		case "t", "reset":
			if seconds, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil {
				l.Reset = secondsToDuration(seconds)
			}
		}
	}
}

// parseReset parses a number of seconds, or a Unix time in seconds, milliseconds, microseconds or
// nanoseconds. The size of the number decides.
func parseReset(text string, now time.Time) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	const leastUnix = 9e8 // seconds: a Unix time in 1998, or a wait of 28 years
	if err != nil || !(n > 0) {
		return 0
	}
	if n < leastUnix {
		return secondsToDuration(n)
	}
	for n >= 1000*leastUnix {
		n /= 1000
	}
	return secondsToDuration(n - float64(now.UnixMilli())/1000)
}

// retryWait returns the wait that the response of a failed attempt asks for: Retry-After, a number in the
// body, or the end of a window without remaining requests; 0 if there is none.
func retryWait(h http.Header, body []byte, limit RateLimit, now time.Time) time.Duration {
	if wait := retryAfter(h, now); wait > 0 {
		return wait
	}
	if wait := retryAfterBody(body, 2); wait > 0 {
		return wait
	}
	if limit.Remaining <= 0 {
		return limit.Reset
	}
	return 0
}

// retryAfterBody looks for a number of seconds in a JSON body, such as {"retry_after": 3}, to a depth of
// levels.
func retryAfterBody(body []byte, levels int) time.Duration {
	if levels == 0 || !bytes.Contains(body, []byte("retry")) {
		return 0
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return 0
	}
	for _, name := range []string{"retry_after", "retryAfter", "retry-after"} {
		if seconds, err := strconv.ParseFloat(strings.Trim(string(members[name]), `"`), 64); err == nil {
			return secondsToDuration(seconds)
		}
	}
	for _, nested := range members {
		if len(nested) > 0 && nested[0] == '{' {
			if wait := retryAfterBody(nested, levels-1); wait > 0 {
				return wait
			}
		}
	}
	return 0
}
