package clienttest

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Style is the way in which a 429 reports when to retry.
type Style string

// The styles.
const (
	Absent   Style = ""          // not at all
	Seconds  Style = "seconds"   // Retry-After, a number of seconds
	Date     Style = "date"      // Retry-After, a date
	Body     Style = "body"      // retry_after in a JSON body
	UnixTime Style = "x-reset"   // X-RateLimit-Reset, a Unix time
	IETF     Style = "ratelimit" // RateLimit, with a number of seconds
)

// RefusalPath answers 429 with a date in Retry-After, which nginx cannot write: it can send its refusals there.
const RefusalPath = "/refusal"

func (s *Server) refusal(e *exchange) bool {
	if e.r.URL.Path != RefusalPath {
		return false
	}
	s.refuse(e, Date, time.Second)
	return true
}

func (s *Server) limit(e *exchange) bool {
	if s.options.Rate <= 0 {
		return false
	}
	wait := s.take(e.w.Header())
	if wait > 0 {
		s.refuse(e, s.options.RetryAfter, wait)
	}
	return wait > 0
}

// take takes a token of the rate, or returns the wait until there is one.
func (s *Server) take(header http.Header) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if !s.filled.IsZero() {
		s.tokens = min(float64(s.options.Bucket), s.tokens+now.Sub(s.filled).Seconds()*s.options.Rate)
	}
	s.filled = now
	if s.options.RateHeader {
		header.Set("RateLimit-Policy", fmt.Sprintf(`"default";q=%d;w=1`, int(s.options.Rate)))
		header.Set("RateLimit", fmt.Sprintf(`"default";r=%d;t=1`, int(s.tokens)))
	}
	if s.tokens < 1 {
		s.refused++
		return max(1, time.Duration((1-s.tokens)/s.options.Rate*float64(time.Second)))
	}
	s.tokens--
	return 0
}

func (s *Server) refuse(e *exchange, style Style, wait time.Duration) {
	seconds := int(math.Ceil(wait.Seconds()))
	header, body := e.w.Header(), `{"error":"too many requests"}`
	switch style {
	case Seconds:
		header.Set("Retry-After", strconv.Itoa(seconds))
	case Date:
		header.Set("Retry-After", time.Now().Add(wait).Add(time.Second-1).UTC().Format(http.TimeFormat))
	case UnixTime:
		header.Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(wait).Unix()+1, 10))
	case IETF:
		header.Set("RateLimit", fmt.Sprintf("limit=%d, remaining=0, reset=%d", int(s.options.Rate), seconds))
	case Body:
		body = fmt.Sprintf(`{"error":"too many requests","retry_after":%d}`, seconds)
	}
	e.reply(http.StatusTooManyRequests, body)
}

// Refill adds n answers to the quota.
func (s *Server) Refill(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.Quota += n
}

func (s *Server) exhausted(e *exchange) bool {
	if !s.beyondQuota() {
		return false
	}
	e.reply(s.options.QuotaStatus, s.options.QuotaBody)
	return true
}

func (s *Server) beyondQuota() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.options.Quota == 0 || s.answered < s.options.Quota {
		return false
	}
	s.late++
	return true
}

func (s *Server) usage(e *exchange) bool {
	if e.r.URL.Path != usagePath {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.usages++
	remaining := "unlimited"
	if s.options.Quota > 0 {
		remaining = strconv.FormatInt(max(s.options.Quota-s.answered, 0), 10)
	}
	if s.options.UsageBroken {
		e.reply(http.StatusInternalServerError, "broken")
		return true
	}
	e.reply(http.StatusOK, fmt.Sprintf(`{"plan":"test","remaining":%q}`, remaining))
	return true
}
