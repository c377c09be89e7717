package client

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// sign describes a response that may be of a limiter. The first sign that matches counts.
type sign struct {
	status  int            // 0 for any status from 400
	text    *regexp.Regexp // in the body; nil for any body
	spent   bool           // only if the body says that the quota is used up, although usage says that it is not
	waits   bool           // only if the response states a wait, such as Retry-After
	meaning meaning
}

// meaning is what a sign says about a request.
type meaning uint8

const (
	notLimited  meaning = iota
	limited             // the service did not work on the request, because the client asks too much
	unavailable         // the service cannot serve now: it is out, or the client asks too much
	behind              // a gateway got no answer from the service
)

// signs are all known responses of limiters. A new sign is one line.
var signs = []sign{
	{status: http.StatusAccepted}, // the service works on the request
	{status: http.StatusTooManyRequests, meaning: limited},
	{status: http.StatusForbidden, meaning: limited}, // unless the key is in doubt: see HTTP.Attempt
	{status: http.StatusUnauthorized, meaning: limited},
	{spent: true, meaning: limited},
	{status: http.StatusBadGateway, meaning: behind},
	{status: http.StatusGatewayTimeout, meaning: behind},
	{waits: true, meaning: limited},
	{text: limitWords, meaning: limited}, // with any status: some limiters answer 400, 409 or 500
	{status: http.StatusServiceUnavailable, meaning: unavailable},
}

// limitWords matches messages about a limit of the rate.
var limitWords = regexp.MustCompile(`(?i)too many requests|rate.?limit|limit exceeded|throttl|\bper (second|minute|hour)\b`)

// quotaWords matches messages about a used-up quota. Some services also call a limit per second or per minute a quota: then the
// remaining quota decides.
var quotaWords = regexp.MustCompile(`(?i)\bquota|\bcredits?\b|out of (requests|calls|funds)|insufficient (funds|balance)|no (requests|calls) (left|remaining)|(monthly|daily|plan|usage|account) (limit|allowance)|\ballowance|upgrade your plan|payment required`)

// The words of responses that say that a quota is used up, with any status and in any member. spentWords are enough.
// spentUnlessRate count only if the response does not mention a limit of the rate. spentInAnswers count, in addition, only with
// a status of success, which no rate limiter sends.
var (
	spentWords = words(
		`PERIOD (WORD )?LIMIT.{0,40}OVER`, `OVER.{0,40}PERIOD (WORD )?LIMIT`, `(LIMIT|requests|calls|queries) per (day|week|month)\b.{0,40}OVER`,
		`OVER.{0,40}(LIMIT|requests|calls|queries) per (day|week|month)\b`, `LIMIT (BEEN )?(OVER )?(for|of) (today|(the|this) (day|week|month))`,
		`LIMIT of (your|this|the) (plan|account|subscription) (BEEN )?OVER`, `payment required`, `credits? (BEEN )?OVER`, `no (more )?(requests|calls|queries) (left|remaining)`,
		`(insufficient|not enough|out of|no|no more) (credits?|quota|funds|balance)\b`,
	)
	spentUnlessRate = words(
		`resource (BEEN )?exhausted`, `(quota|allowance) (BEEN )?OVER`, `OVER (your |the |its )?(WORD ){0,3}(quota|allowance)`,
		`STARTlimit (BEEN )?(reached|exhausted|used up|hit)`, `(reached|exhausted|used up|hit) (your |the |its )(WORD ){0,3}LIMIT`,
	)
	spentInAnswers = words(`STARTlimit (BEEN )?exceeded`, `exceeded (your |the |its )(WORD ){0,3}LIMIT`)
	rateWords      = words(`rate limit`, `too many`, `throttl`, `\bper (sec(ond)?|min(ute)?|hour)\b`, `concurren`, `parallel`, `simultaneous`, `connection`)
)

// words returns a pattern of texts in any case. A space matches any separator of words, or none, as in names of errors.
func words(texts ...string) *regexp.Regexp {
	pattern := strings.Join(texts, "|")
	for _, part := range [][2]string{
		{"START", `(^|[^\w\s-] |\b(WORD )+)`},
		{"WORD", `(api|requests?|calls?|usage|plan|account|user|key|quer(y|ies)|search(es)?|lookups?|credits?|free|trial|tier|subscription|daily|weekly|monthly|max(imum)?|total|current|allowed|number|of|your|the)`},
		{"PERIOD", `(daily|weekly|monthly|yearly|annual)`},
		{"LIMIT", `(limit|quota|allowance)`},
		{"OVER", `(exceeded|reached|exhausted|used up|depleted|\bhit\b|\bover\b)`},
		{"BEEN", `(has been|have been|was|is|are)`},
		{" ", `[\s_-]*`},
	} {
		pattern = strings.ReplaceAll(pattern, part[0], part[1])
	}
	return regexp.MustCompile("(?im)" + pattern)
}

// longestRateWait is the longest wait that a rate limiter states. A quota states longer waits.
const longestRateWait = time.Hour

// isSpent reports whether a response says that the quota is used up. The service may repeat the input, whose words do not
// count.
func isSpent(status int, body []byte, wait time.Duration, input string) bool {
	text := strings.Join(textsOf(body), "\n")
	if _, name, isURL := strings.Cut(input, "://"); isURL {
		input = strings.TrimSuffix(name, "/")
	}
	if input != "" {
		text = regexp.MustCompile("(?i)"+regexp.QuoteMeta(input)).ReplaceAllString(text, "…")
	}
	if spentWords.MatchString(text) {
		return true
	}
	if wait > 0 && wait <= longestRateWait || rateWords.MatchString(text) {
		return false
	}
	return spentUnlessRate.MatchString(text) || isSuccess(status) && spentInAnswers.MatchString(text)
}

// textsOf returns the texts in a response: the strings of a JSON value and the names of members that are true, or the beginning
// of another body. It leaves out URLs, as of a documentation.
func textsOf(body []byte) (texts []string) {
	var value any
	if len(body) > maxErrorBody || json.Unmarshal(body, &value) != nil {
		return []string{htmlTags.ReplaceAllString(string(body[:min(len(body), bodyShown)]), " ")}
	}
	var add func(any)
	add = func(value any) {
		switch v := value.(type) {
		case string:
			if !strings.Contains(v, "://") {
				texts = append(texts, v)
			}
		case []any:
			for _, element := range v {
				add(element)
			}
		case map[string]any:
			for name, member := range v {
				if member == true {
					texts = append(texts, name)
				}
				add(member)
			}
		}
	}
	add(value)
	return texts
}

// meaning returns what the response says about limits.
func (e *Error) meaning() meaning {
	if e.Class != Transient || e.Status == 0 {
		return notLimited
	}
	for _, s := range signs {
		if (s.status == 0 || s.status == e.Status) && (s.text == nil || e.says(s.text)) && (!s.waits || e.RetryAfter > 0) && (!s.spent || e.spent) {
			return s.meaning
		}
	}
	return notLimited
}

// says reports whether the service's message matches words. Words of the input do not count.
func (e *Error) says(words *regexp.Regexp) bool {
	input := strings.ToLower(e.input)
	return slices.ContainsFunc(words.FindAllString(e.Detail, -1), func(found string) bool { return !strings.Contains(input, strings.ToLower(found)) })
}

// Refused reports whether the service did not work on the request because the client asks too much.
func (e *Error) Refused() bool { return e.meaning() == limited }

// Unavailable reports whether the service says that it cannot serve now: it is out, or the client asks too much.
func (e *Error) Unavailable() bool { return e.meaning() == unavailable }

// mayLimit reports whether a limiter may have sent the response.
func (e *Error) mayLimit() bool {
	m := e.meaning()
	return m == limited || m == unavailable
}
