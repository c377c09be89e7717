package reply

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Wait returns the wait that the response of a failed attempt asks for: Retry-After, a number in the
// body, or the end of a window without remaining requests; 0 if there is none.
func Wait(h http.Header, body []byte, limit Limit, now time.Time) time.Duration {
	now = clockOf(h, now)
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

// retryAfterBody looks for a number of seconds in a JSON body, such as {"retry_after": 3}, to a depth of levels. It returns the
// longest wait of the first depth with a wait.
func retryAfterBody(body []byte, levels int) time.Duration {
	if levels == 0 || !bytes.Contains(body, []byte("retry")) {
		return 0
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return 0
	}
	var longest time.Duration
	for _, name := range []string{"retry_after", "retryAfter", "retry-after"} {
		if seconds, err := strconv.ParseFloat(strings.Trim(string(members[name]), `"`), 64); err == nil {
			longest = max(longest, secondsToDuration(seconds))
		}
	}
	if longest > 0 {
		return longest
	}
	for _, nested := range members {
		if len(nested) > 0 && nested[0] == '{' {
			longest = max(longest, retryAfterBody(nested, levels-1))
		}
	}
	return longest
}

// clockError is the difference between a response's Date and this machine's clock that is ignored: Date has whole seconds, and
// the response takes a while.
const clockError = 2 * time.Second

// clockOf returns the time of the service's clock: the response's Date (RFC 9110 §6.6.1), or now if the two differ by less than
// clockError.
func clockOf(h http.Header, now time.Time) time.Time {
	date, err := http.ParseTime(h.Get("Date"))
	if off := date.Sub(now); err != nil || off.Abs() <= clockError {
		return now
	}
	return date
}

// retryAfter parses Retry-After, a number of seconds or a date (RFC 9110 §10.2.3, or RFC 3339); 0 if there is none or
// the value is invalid.
func retryAfter(h http.Header, now time.Time) time.Duration {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if value == "" {
		return 0
	}
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return secondsToDuration(seconds)
	}
	return untilDate(value, now)
}

// untilDate returns the time until an HTTP or RFC 3339 date, up to a year; 0 for past dates and other text.
func untilDate(text string, now time.Time) time.Duration {
	date, err := http.ParseTime(text)
	if err != nil {
		date, err = time.Parse(time.RFC3339, text)
	}
	if err != nil {
		return 0
	}
	return secondsToDuration(date.Sub(now).Seconds())
}

// secondsToDuration converts any number, NaN and 1e300 included, to a duration between 0 and a year.
func secondsToDuration(seconds float64) time.Duration {
	const most = 24 * time.Hour * 365
	if !(seconds > 0) {
		return 0
	}
	if seconds > most.Seconds() {
		return most
	}
	return time.Duration(seconds * float64(time.Second))
}
