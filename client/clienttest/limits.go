package clienttest

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"time"
)

// Style is the form in which a refusal states when to retry.
type Style string

// The styles.
const (
	Absent   Style = ""          // not at all
	Seconds  Style = "seconds"   // Retry-After, a number of seconds
	Date     Style = "date"      // Retry-After, a date
	Body     Style = "body"      // retry_after in a JSON body
	UnixTime Style = "x-reset"   // X-RateLimit-Reset, a Unix time
	IETF     Style = "ratelimit" // RateLimit, with a number of seconds, and RateLimit-Policy, with the rate of a Bucket
)

// RefusalPath answers 429 with a date in Retry-After. nginx cannot write the date, but can pass its refusals to this path.
const RefusalPath = "/refusal"

func (s *Server) refusal(e *exchange) bool {
	if e.r.URL.Path != RefusalPath {
		return false
	}
	s.refuse(e, Refusal{Style: Date}, time.Second)
	return true
}

func (s *Server) closed(e *exchange) bool {
	if s.options.Closed == nil || s.options.Closed() <= 0 {
		return false
	}
	s.refuse(e, Refusal{Style: Seconds}, s.options.Closed())
	return true
}

// refuse refuses a request and says when to retry.
func (s *Server) refuse(e *exchange, r Refusal, wait time.Duration) {
	seconds := int(math.Ceil(wait.Seconds()))
	now := time.Now().Add(s.options.Clock)
	header, body := e.w.Header(), cmp.Or(r.Body, `{"error":"too many requests"}`)
	switch r.Style {
	case Seconds:
		header.Set("Retry-After", strconv.Itoa(seconds))
	case Date:
		header.Set("Retry-After", now.Add(wait).Add(time.Second-1).UTC().Format(http.TimeFormat))
	case UnixTime:
		header.Set("X-RateLimit-Reset", strconv.FormatInt(now.Add(wait).Unix()+1, 10))
	case IETF:
		if l, ok := s.options.Limiter.(*Bucket); ok {
			header.Set("RateLimit-Policy", fmt.Sprintf("%g;w=1", l.Rate))
		}
		header.Set("RateLimit", fmt.Sprintf("remaining=0, reset=%d", seconds))
	case Body:
		body = fmt.Sprintf(`{"error":"too many requests","retry_after":%d}`, seconds)
	}
	if e.visit != nil {
		e.visit.Refused = true
	}
	e.reply(cmp.Or(r.Status, http.StatusTooManyRequests), body)
}

// admit enforces AtOnce and Limiter.
func (s *Server) admit(e *exchange) bool {
	left, wait, delay, ok := s.admits(e)
	if !ok {
		s.refuse(e, s.options.Refusal, wait)
		return true
	}
	if s.options.States && left >= 0 {
		e.w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(left))
		e.w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(s.options.Clock+wait+time.Second-1).Unix(), 10))
	}
	return !e.sleep(delay)
}

func (s *Server) admits(e *exchange) (left int, wait, delay time.Duration, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ok, left = true, -1
	if n := s.options.AtOnce; n > 0 && s.working > n {
		ok = false
	} else if s.options.Limiter != nil {
		ok, left, wait = s.options.Limiter.Admit(time.Now())
	}
	if !ok {
		s.refused++
	}
	if l, delays := s.options.Limiter.(*Delaying); delays {
		delay = l.Delay
	}
	return left, wait, delay, ok
}

// Refill adds n answers to the quota.
func (s *Server) Refill(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.options.Quota += n
}

func (s *Server) exhausted(e *exchange) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.options.Quota == 0 || s.answered < s.options.Quota {
		return false
	}
	s.late++
	e.reply(s.options.QuotaStatus, s.options.QuotaBody)
	return true
}

func (s *Server) usage(e *exchange) bool {
	if e.r.URL.Path != usagePath {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
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
