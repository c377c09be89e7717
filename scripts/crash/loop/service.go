package loop

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// missing is the share of inputs that the service rejects.
const missing = 0.03

// service is a faulty service that signals when it has answered a number of requests.
type service struct {
	url    string
	server *httptest.Server
	sick   *clienttest.Server

	mu      sync.Mutex
	times   []time.Time // of all answers
	left    int         // requests until reached is closed; 0 if reached is closed or not in use
	reached chan struct{}
}

// newService starts a service with the given faults; nil for none. Answers depend only on the
// seed and the input.
func newService(seed uint64, faults map[clienttest.Fault]float64) *service {
	s := &service{sick: clienttest.New(clienttest.Options{
		Seed: seed, Faults: faults, Missing: missing,
		Latency: time.Millisecond, Jitter: 4 * time.Millisecond,
	})}
	s.server = httptest.NewUnstartedServer(s)
	s.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.server.Start()
	s.url = s.server.URL
	return s
}

func (s *service) close() {
	s.server.CloseClientConnections()
	s.server.Close()
}

// ServeHTTP answers a request, with a fault or without, and counts it.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.count()
	s.sick.ServeHTTP(w, r)
}

func (s *service) count() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.times = append(s.times, time.Now())
	if s.left == 0 {
		return
	}
	if s.left--; s.left == 0 {
		close(s.reached)
	}
}

// since counts the requests that were answered after a time.
func (s *service) since(t time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, _ := slices.BinarySearchFunc(s.times, t, time.Time.Compare)
	return len(s.times) - n
}

// after returns a channel that is closed after n more requests. One such channel is in use at a
// time.
func (s *service) after(n int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.reached = n, make(chan struct{})
	return s.reached
}

// audit counts the inputs that got a sound answer, and the answers beyond the first.
func (s *service) audit() (inputs, twice int) {
	for _, record := range s.sick.Audit().Inputs {
		if record.Answers > 0 {
			inputs++
			twice += record.Answers - 1
		}
	}
	return inputs, twice
}
