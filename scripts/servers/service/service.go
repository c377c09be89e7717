// Package service is the Categorization Service behind the proxies of a case: an HTTP server
// in the test process that answers after a latency, fails as its options say, and audits
// each request.
package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/time/rate"
)

// Options say how the service answers. The zero value answers everything at once.
type Options struct {
	Latency    func() time.Duration    // of an answer; nil for none
	Fails      func(input string) int  // the number of an input's first requests that fail, with all faults in rotation; Always for all
	Errors     func(input string) bool // inputs whose every request gets the status 500
	Hangs      func(input string) bool // inputs whose requests are never answered
	HangEvery  int                     // one request in so many is never answered; 0 for none
	Status     int                     // of every answer, that of usage included; 0 for the real answers
	Limit      *Limit                  // nil for none
	Padding    int                     // bytes of white space that an answer ends with
	CloseEvery int                     // answers on a connection before the service closes it; 0 for no bound
}

// Between20And30 is the latency of most cases.
func Between20And30() time.Duration {
	return 20*time.Millisecond + rand.N(10*time.Millisecond)
}

// Service can be stopped and started again; it keeps its address and its audit.
type Service struct {
	Addr string // HOST:PORT

	options Options
	limiter *rate.Limiter
	audit   audit
	count   atomic.Int64 // of categorizations asked for

	mu     sync.Mutex
	server *http.Server // nil while the service is stopped
}

// Start serves on a free port of the loopback interface until the test ends.
func Start(t testing.TB, options Options) *Service {
	t.Helper()
	s := &Service{Addr: "127.0.0.1:0", options: options}
	if options.Limit != nil {
		s.limiter = options.Limit.limiter()
	}
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

// URL is the base URL of the service.
func (s *Service) URL() string { return "http://" + s.Addr }

// Start listens on the address of the service.
func (s *Service) Start() error {
	listener, err := net.Listen("tcp", s.Addr)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Addr = listener.Addr().String()
	s.server = &http.Server{
		Handler:     s,
		ErrorLog:    log.New(io.Discard, "", 0),
		ConnContext: s.audit.connect,
	}
	go func(server *http.Server) { _ = server.Serve(listener) }(s.server)
	return nil
}

// Stop closes the listener and all connections: clients get "connection refused".
func (s *Service) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil {
		_ = s.server.Close()
		s.server = nil
	}
}

// ServeHTTP answers usage, categorizations, and nginx's requests for a refusal.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/api/usage":
		s.usage(w)
	case "/api/v1/website/categorization":
		s.categorize(w, r)
	case RefusalPath:
		refuse(w, http.StatusTooManyRequests, HTTPDate)
	default:
		http.NotFound(w, r)
	}
}

func (s *Service) usage(w http.ResponseWriter) {
	if s.options.Status != 0 {
		w.WriteHeader(s.options.Status)
		return
	}
	_, _ = io.WriteString(w, `{"plan":"test","remaining":"unlimited"}`)
}

func (s *Service) categorize(w http.ResponseWriter, r *http.Request) {
	input := r.URL.Query().Get("url")
	visit := s.audit.arrive(r.Context(), input)
	status := s.answer(w, r, input, visit)
	s.audit.leave(visit, status, s.closes(visit))
}

// answer returns the status that it has written; 0 for none, or for one that is lost.
func (s *Service) answer(w http.ResponseWriter, r *http.Request, input string, visit *Visit) int {
	if s.options.Status != 0 {
		w.WriteHeader(s.options.Status)
		return s.options.Status
	}
	if s.limiter != nil && !s.limiter.Allow() {
		refuse(w, http.StatusTooManyRequests, s.options.Limit.RetryAfter)
		return http.StatusTooManyRequests
	}
	if s.hangs(input) {
		<-r.Context().Done()
		return 0
	}
	if s.options.Latency != nil && !sleep(r.Context(), s.options.Latency()) {
		return 0
	}
	if fault := s.options.fault(input, visit.Attempt); fault != nil {
		return fault(w)
	}
	if s.closes(visit) {
		w.Header().Set("Connection", "close")
	}
	if err := s.sound(w, input); err != nil || r.Context().Err() != nil {
		return 0
	}
	return http.StatusOK
}

func (s *Service) closes(visit *Visit) bool {
	return s.options.CloseEvery > 0 && visit.Place%s.options.CloseEvery == 0
}

func (s *Service) hangs(input string) bool {
	if n := s.options.HangEvery; n > 0 && s.count.Add(1)%int64(n) == 0 {
		return true
	}
	return s.options.Hangs != nil && s.options.Hangs(input)
}

// sound writes an answer. The padding follows in a write of its own, so that a proxy with a
// limited rate has something to hold back.
func (s *Service) sound(w http.ResponseWriter, input string) error {
	w.Header().Set("Content-Type", "application/json")
	body := fmt.Sprintf(`{"taxonomy_v3":[{"value":"About > %s","confidence":0.5}]}`, strings.TrimPrefix(input, "https://"))
	if s.options.Padding == 0 {
		_, err := io.WriteString(w, body)
		return err
	}
	_, err := io.WriteString(w, body+strings.Repeat(" ", s.options.Padding/2))
	flushed := http.NewResponseController(w).Flush()
	_, padded := io.WriteString(w, strings.Repeat(" ", s.options.Padding/2))
	return errors.Join(err, flushed, padded)
}

// sleep returns false when ctx ends before d has passed.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
