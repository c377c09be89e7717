package reply

import (
	"iter"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Limit is the service's limit, as a response reports it. Package client exports it as RateLimit.
type Limit struct {
	PerSecond float64       // requests per second that the policy allows on average; 0 if unknown
	Remaining int64         // requests left in the current window; -1 if unknown
	Reset     time.Duration // time until the window ends; 0 if unknown
}

// Names of fields in canonical form. The first are from the IETF draft (draft-ietf-httpapi-ratelimit-headers, in its newer and
// its older forms). The X- fields are older, and no standard defines them.
var (
	policyFields = []string{"Ratelimit-Policy", "Ratelimit-Limit", "X-Ratelimit-Limit", "X-Rate-Limit-Limit"}
	countFields  = []struct {
		remaining, reset string
		parse            func(string, time.Time) time.Duration // of the reset
	}{
		{"Ratelimit-Remaining", "Ratelimit-Reset", parseReset},
		{"X-Ratelimit-Remaining", "X-Ratelimit-Reset", parseAnyReset},
		{"X-Rate-Limit-Remaining", "X-Rate-Limit-Reset", parseAnyReset},
	}
)

// LimitOf parses the fields of a limit. Of several limits the tightest counts. Lines with the same name are one list
// (RFC 9651 §4.2). Invalid text is ignored, because services send malformed fields. Most responses have none of the fields, so
// absent fields must take little time.
func LimitOf(h http.Header, now time.Time) Limit {
	now = clockOf(h, now)
	l := Limit{Remaining: -1}
	for _, name := range policyFields {
		if lines := h[name]; len(lines) > 0 {
			l.readPolicies(strings.Join(lines, ","))
		}
	}
	if lines := h["Ratelimit"]; len(lines) > 0 {
		l.readField(strings.Join(lines, ","), now)
	}
	for _, names := range countFields {
		if remaining, resets := h[names.remaining], h[names.reset]; len(remaining)+len(resets) > 0 {
			l.readCounts(remaining, resets, func(text string) time.Duration { return names.parse(text, now) })
		}
	}
	return l
}

// tighten sets the window to the given window if fewer requests remain in the given window, or if equally many remain and the
// given window ends later: a request has to wait for both.
func (l *Limit) tighten(remaining int64, reset time.Duration) {
	isTighter := remaining == l.Remaining && reset > l.Reset
	if isTighter || remaining >= 0 && (l.Remaining < 0 || remaining < l.Remaining) {
		l.Remaining, l.Reset = remaining, reset
	}
}

// readCounts sets Remaining and Reset, if they are unknown, from the lines of a field of counts and of a field of resets. The
// nth count belongs to the nth reset.
func (l *Limit) readCounts(counts, resets []string, parse func(reset string) time.Duration) {
	var waits []time.Duration
	for _, line := range resets {
		if wait := parse(line); wait > 0 || !strings.Contains(line, ",") { // dates have a comma
			waits = append(waits, wait)
			continue
		}
		for reset := range split(line, ',') {
			waits = append(waits, parse(reset))
		}
	}
	if len(waits) == 0 {
		waits = []time.Duration{0}
	}
	tightest, i := Limit{Remaining: -1}, 0
	for count := range split(strings.Join(counts, ","), ',') {
		count, _, _ = strings.Cut(count, ";")
		tightest.tighten(parseRemaining(count), waits[min(i, len(waits)-1)])
		i++
	}
	if l.Remaining < 0 {
		l.Remaining = tightest.Remaining
	}
	if l.Reset == 0 {
		l.Reset = tightest.Reset
	}
}

// longestWindow is the longest window of a policy that limits the rate. A policy with a longer window is
// a quota.
const longestWindow = 60 // seconds

// readPolicies lowers PerSecond to the tightest policy of a list, such as `"name";q=100;w=60` or `100;w=60`.
func (l *Limit) readPolicies(text string) {
	for policy := range split(text, ',') {
		quota, window, first, ofRequests := int64(0), int64(0), true, true
		for param := range split(policy, ';') {
			name, value, found := cutParam(param)
			switch {
			case first && !found:
				quota = parseRemaining(name)
			case name == "q":
				quota = parseRemaining(value)
			case name == "w":
				window = parseRemaining(value)
			case name == "qu": // the unit of the quota
				ofRequests = value == `"requests"`
			}
			first = false
		}
		if quota <= 0 || window <= 0 || window > longestWindow || !ofRequests {
			continue
		}
		if perSecond := float64(quota) / float64(window); l.PerSecond == 0 || perSecond < l.PerSecond {
			l.PerSecond = perSecond
		}
	}
}

// readField parses a list of windows such as `"name";r=50;t=30`, or one window in the older form
// `limit=100, remaining=50, reset=30`.
func (l *Limit) readField(text string, now time.Time) {
	older := Limit{Remaining: -1}
	for item := range split(text, ',') {
		window, first := &Limit{Remaining: -1}, true
		for param := range split(item, ';') {
			name, value, found := cutParam(param)
			if first && found {
				window = &older
			}
			first = false
			switch name {
			case "r", "remaining":
				window.Remaining = parseRemaining(value)
			case "t", "reset":
				window.Reset = parseReset(value, now)
			}
		}
		if window != &older {
			l.tighten(window.Remaining, window.Reset)
		}
	}
	l.tighten(older.Remaining, older.Reset)
}

// split returns the parts of a list or of an item in a structured field (RFC 9651). It ignores separators within quoted
// strings.
func split(text string, separator byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, isQuoted := 0, false
		for i := 0; i < len(text); i++ {
			switch {
			case text[i] == '"':
				isQuoted = !isQuoted
			case isQuoted && text[i] == '\\':
				i++
			case !isQuoted && text[i] == separator:
				if !yield(text[start:i]) {
					return
				}
				start = i + 1
			}
		}
		yield(text[start:])
	}
}

func cutParam(param string) (name, value string, found bool) {
	name, value, found = strings.Cut(param, "=")
	return strings.TrimSpace(name), strings.TrimSpace(value), found
}

// parseRemaining parses a number of requests or of seconds, and drops its fraction. It returns -1 for any other text.
func parseRemaining(text string) int64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n >= 0) {
		return -1
	}
	return int64(min(n, 1<<53)) // above, a float64 has no exact integers
}

const leastUnix = 9e8 // seconds: a Unix time in 1998, or a wait of 28 years

// parseReset parses a number of seconds, a Unix time in seconds, milliseconds, microseconds or nanoseconds, or a date. The size
// of the number tells its unit.
func parseReset(text string, now time.Time) time.Duration {
	text = strings.TrimSpace(text)
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return untilDate(text, now)
	}
	if !(n >= leastUnix) || math.IsInf(n, 1) {
		return secondsToDuration(n)
	}
	for n >= 1000*leastUnix {
		n /= 1000
	}
	wait := n - float64(now.UnixMilli())/1000
	if wait > 0 && n == math.Trunc(n) { // a truncated time: the window ends within this second
		wait++
	}
	return secondsToDuration(wait)
}

// longestSeconds is the largest number that is taken as seconds in a field that no standard defines. Most windows last up to an
// hour, so a larger number is milliseconds. If that is wrong, a request is sent too early and its response states the wait
// again. The opposite mistake would wait for hours.
const longestSeconds = 3600

// parseAnyReset is parseReset for a field that no standard defines, which may also be a number of milliseconds.
func parseAnyReset(text string, now time.Time) time.Duration {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err == nil && n > longestSeconds && n < leastUnix {
		return secondsToDuration(n / 1000)
	}
	return parseReset(text, now)
}
