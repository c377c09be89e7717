package clienttest

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Server is a faulty service. It is an http.Handler and is safe for concurrent use.
type Server struct {
	options Options
	steps   []step

	mu       sync.Mutex
	inputs   map[string]*Record
	visits   []Visit
	left     int           // requests until reached is closed; 0 if it is closed or not in use
	reached  chan struct{} // the channel of the last After
	refused  int           // requests beyond the rate
	answered int64         // charged answers
	late     int           // requests beyond the quota
	working  int           // requests in work
}

// exchange is a request and the way to answer it.
type exchange struct {
	w     http.ResponseWriter
	r     *http.Request
	visit *Visit // nil unless the request is for a categorization; recorded when the exchange ends
	index int    // of the visit in the records
}

// A step answers a request, or returns false to leave the request to the next step.
type step func(*exchange) bool

// New returns a service.
func New(options Options) *Server {
	s := &Server{options: options, inputs: make(map[string]*Record)}
	limits := []step{s.delay, s.closed, s.admit}
	if options.RefusesAtOnce {
		slices.Reverse(limits)
	}
	s.steps = slices.Concat(
		[]step{s.refusal, s.authorize, s.arrive, s.outage, s.usage}, limits,
		[]step{s.exhausted, s.reject, s.fail, s.answer})
	return s
}

// ServeHTTP answers a request, or fails as the options say.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := &exchange{w: w, r: r}
	if s.options.Clock != 0 {
		w.Header().Set("Date", time.Now().Add(s.options.Clock).UTC().Format(http.TimeFormat))
	}
	defer s.leave(e)
	for _, step := range s.steps {
		if step(e) {
			return
		}
	}
}

// reply writes an answer without categories, and records its status.
func (e *exchange) reply(status int, body string) {
	if e.visit != nil {
		e.visit.Status = status
	}
	e.w.WriteHeader(status)
	io.WriteString(e.w, body)
}

// sleep waits, and reports whether the client is still connected.
func (e *exchange) sleep(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-e.r.Context().Done():
		return false
	}
}

func (s *Server) authorize(e *exchange) bool {
	isKnown := s.options.Key == "" || e.r.Header.Get("X-Api-Key") == s.options.Key
	if isKnown && (s.options.Revoked == nil || !s.options.Revoked()) {
		return false
	}
	e.reply(http.StatusUnauthorized, `{"error":"unknown API key"}`)
	return true
}

func (s *Server) outage(e *exchange) bool {
	if s.options.Down == nil || !s.options.Down() {
		return false
	}
	switch s.options.DownStatus {
	case DownHangs:
		<-e.r.Context().Done()
		return true
	case DownResets:
		reset(e.w)
		return true
	}
	e.reply(cmp.Or(s.options.DownStatus, http.StatusServiceUnavailable), "<html><body>Come back later</body></html>")
	return true
}

func (s *Server) delay(e *exchange) bool {
	if s.options.Delay != nil {
		return !e.sleep(s.options.Delay(e.visit.Input, e.visit.Attempt, e.visit.working))
	}
	jitter := s.chance("latency", e.visit.Input, e.visit.Attempt) * float64(s.options.Jitter)
	return !e.sleep(s.options.Latency + time.Duration(jitter))
}

// Missing reports whether an input always gets a 404.
func (s *Server) Missing(input string) bool {
	return s.options.Missing > 0 && s.chance("missing", input, 0) < s.options.Missing
}

func (s *Server) reject(e *exchange) bool {
	if !s.Missing(e.visit.Input) {
		return false
	}
	e.reply(http.StatusNotFound, `{"error":"no such site"}`)
	return true
}

// answer writes the correct answer. Half of the padding is a second write, which a proxy with a limited rate holds back.
func (s *Server) answer(e *exchange) bool {
	if n := s.options.CloseEvery; n > 0 && e.visit.Place%n == 0 {
		e.visit.Closed = true
		e.w.Header().Set("Connection", "close")
	}
	e.w.Header().Set("Content-Type", "application/json")
	s.charge(e.visit.Input)
	half := strings.Repeat(" ", s.options.Padding/2)
	_, err := io.WriteString(e.w, s.body(e)+half)
	if half != "" {
		_ = http.NewResponseController(e.w).Flush() // the next write has the error
		_, err = io.WriteString(e.w, half)
	}
	if err == nil && e.r.Context().Err() == nil {
		e.visit.Status = http.StatusOK
	}
	return true
}

// body returns the correct answer to a request.
func (s *Server) body(e *exchange) string {
	answer := s.options.Answer
	if answer == nil {
		answer = appendValue
	}
	if s.options.Drifted != nil && s.hasDrifted() {
		answer = s.options.Drifted
	}
	return string(answer(nil, e.visit.Classification, e.visit.Input))
}

func (s *Server) hasDrifted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.answered > s.options.DriftsAfter
}

// charge counts an answer. As some services do, it counts when the answer is sent, so requests in flight may exceed the quota.
func (s *Server) charge(input string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inputs[input].Answers++
	s.answered++
}

// chance returns a number in [0,1) that depends only on the seed and the arguments.
func (s *Server) chance(purpose, input string, attempt int) float64 {
	return Chance(s.options.Seed, purpose, input, attempt)
}

// Chance returns a number in [0,1) that depends only on its arguments.
func Chance(seed uint64, purpose, input string, attempt int) float64 {
	h := fnv.New64a()
	h.Write(fmt.Appendf(make([]byte, 0, 128), "%d\x00%s\x00%s\x00%d", seed, purpose, input, attempt))
	x := h.Sum64() // the high bits of FNV are weak for short strings: mix them
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}
