package loop

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// missing is the share of inputs that the service refuses.
const missing = 0.03

// service is a faulty service that tells when it has answered so many requests.
type service struct {
	url    string
	server *httptest.Server
	sick   *clienttest.Server

	mu      sync.Mutex
	left    int // requests until reached is closed; 0 when it is, or nobody waits
	reached chan struct{}
}

// newService starts a service; without faults it is a sound one. What it answers depends
// on the seed and the input only.
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

// ServeHTTP answers, or fails to, and counts.
func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer s.count()
	s.sick.ServeHTTP(w, r)
}

func (s *service) count() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		return
	}
	if s.left--; s.left == 0 {
		close(s.reached)
	}
}

// after gives a channel that is closed after n more requests. There is one at a time.
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
