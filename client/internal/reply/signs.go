package reply

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"
)

// sign describes a response that may come from a limiter. The first sign that matches counts.
type sign struct {
	status  int            // 0 for any status from 400
	text    *regexp.Regexp // in the body; nil for any body
	spent   bool           // only if the body says that the quota is used up, although usage says that it is not
	waits   bool           // only if the response states a wait, such as Retry-After
	meaning Meaning
}

// Meaning is what a sign says about a request.
type Meaning uint8

// The meanings of responses.
const (
	NotLimited  Meaning = iota
	Limited             // the service did not work on the request, because the client asks too much
	Unavailable         // the service cannot serve now: it is out, or the client asks too much
	Behind              // a gateway got no answer from the service
)

// signs are all known responses of limiters. A new sign is one line.
var signs = []sign{
	{status: http.StatusAccepted}, // the service works on the request
	{status: http.StatusTooManyRequests, meaning: Limited},
	{status: http.StatusForbidden, meaning: Limited}, // unless the key is in doubt: see client.HTTP.Attempt
	{status: http.StatusUnauthorized, meaning: Limited},
	{spent: true, meaning: Limited},
	{status: http.StatusBadGateway, meaning: Behind},
	{status: http.StatusGatewayTimeout, meaning: Behind},
	{waits: true, meaning: Limited},
	{text: LimitWords, meaning: Limited}, // with any status: some limiters answer 400, 409 or 500
	{status: http.StatusServiceUnavailable, meaning: Unavailable},
}

// LimitWords matches messages about a limit of the rate, and pages that ask for a human. A message of a service about a captcha may be
// about the website of the input.
var LimitWords = regexp.MustCompile(`(?i)too many requests|rate.?limit|limit exceeded|throttl|\bper (second|minute|hour)\b|unusual traffic|\bare you (a )?(human|robot)|\byou( are|'re) (a |not a )?(human|robot)\b`)

// QuotaWords matches messages about a used-up quota. Some services also call a limit per second or per minute a quota: then the
// remaining quota decides.
var QuotaWords = regexp.MustCompile(`(?i)\bquota|\bcredits?\b|out of (requests|calls|funds)|insufficient (funds|balance)|no (requests|calls) (left|remaining)|(monthly|daily|plan|usage|account) (limit|allowance)|\ballowance|upgrade your plan|payment required`)

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

// IsSpent reports whether a response says that the quota is used up. The service may repeat the input, whose words do not
// count.
func IsSpent(status int, body []byte, wait time.Duration, input string) bool {
	text := strings.Join(textsOf(body), "\n")
	if input = nameOf(input); input != "" {
		text = regexp.MustCompile("(?i)"+regexp.QuoteMeta(input)).ReplaceAllString(text, "…")
	}
	if spentWords.MatchString(text) {
		return true
	}
	if wait > 0 && wait <= longestRateWait || rateWords.MatchString(text) {
		return false
	}
	return spentUnlessRate.MatchString(text) || IsAnswer(status) && spentInAnswers.MatchString(text)
}

// MaxErrorBody is the longest part of the body of an error that is read, in bytes.
const MaxErrorBody = 64 << 10

// textBegins is the length of the beginning that IsSpent searches in a body that is not JSON, in bytes.
const textBegins = 500

// textsOf returns the texts in a response: the strings of a JSON value and the names of members that are true, or the beginning
// of another body. It leaves out URLs, such as links to a documentation.
func textsOf(body []byte) (texts []string) {
	var value any
	if len(body) > MaxErrorBody || json.Unmarshal(body, &value) != nil {
		return []string{WithoutTags(string(body[:min(len(body), textBegins)]))}
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

// IsSign reports whether a sign has the status.
func IsSign(status int) bool {
	return slices.ContainsFunc(signs, func(s sign) bool { return s.status == status })
}

// Refusal is a response that is not an answer, as the signs see it.
type Refusal struct {
	Status int
	Detail string        // the service's message
	Input  string        // the request's input, which Detail may repeat
	Wait   time.Duration // that the service asked for; 0 if it did not
	Spent  bool          // see IsSpent
}

// Meaning returns the meaning of the first sign that matches.
func (r Refusal) Meaning() Meaning {
	for _, s := range signs {
		if (s.status == 0 || s.status == r.Status) && (s.text == nil || r.Says(s.text)) && (!s.waits || r.Wait > 0) && (!s.spent || r.Spent) {
			return s.meaning
		}
	}
	return NotLimited
}

// Says reports whether the service's message matches words. Words of the input do not count.
func (r Refusal) Says(words *regexp.Regexp) bool {
	input := strings.ToLower(r.Input)
	return slices.ContainsFunc(words.FindAllString(r.Detail, -1), func(found string) bool { return !strings.Contains(input, strings.ToLower(found)) })
}

// BlamesInput reports whether the service's message is about an input, and not about a path or a route.
func (r Refusal) BlamesInput() bool {
	name := strings.ToLower(nameOf(r.Input))
	return !r.BlamesRoute() &&
		(inputWords.MatchString(r.Detail) || len(name) > leastNamed && strings.Contains(strings.ToLower(r.Detail), name))
}

// BlamesRoute reports whether the service's message is about a path or a route.
func (r Refusal) BlamesRoute() bool { return r.Says(routerWords) }

// nameOf returns an input as messages repeat it: a URL without its scheme, and without a slash at the end.
func nameOf(input string) string {
	if _, rest, isURL := strings.Cut(input, "://"); isURL {
		input = rest
	}
	return strings.TrimSuffix(input, "/")
}

// leastNamed is a length in bytes: a message contains a longer input only if it is about the input.
const leastNamed = 5

var (
	inputWords  = regexp.MustCompile(`(?i)\b(domains?|(web)?sites?|hosts?|hostnames?|urls?|products?|titles?|items?|inputs?|quer(y|ies)|categor(y|ies)|classified|categori[sz]ed)\b`)
	routerWords = regexp.MustCompile(`(?i)\b(paths?|routes?|endpoints?|pages?|resources?|methods?|operations?|servers?|services?|cannot (get|post)|requested url)\b|/categorization|no such app|default backend`)
)
