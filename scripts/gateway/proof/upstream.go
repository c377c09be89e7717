package proof

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

const upstreamKey = "key-of-the-upstream-0123456789"

// upstream is a faulty service that records when each input was asked last.
type upstream struct {
	faulty *clienttest.Server
	server *httptest.Server

	mu    sync.Mutex
	asked map[string]time.Time
}

// newUpstream starts an upstream: one request of a hundred fails, and three inputs of a hundred are
// rejected. Its bucket holds a twentieth of a second.
func newUpstream(rate float64, seed uint64) *upstream {
	u := &upstream{asked: map[string]time.Time{}, faulty: clienttest.New(clienttest.Options{
		Key: upstreamKey, Seed: seed, Missing: 0.03, Rate: rate, Bucket: max(1, int(rate/20)), RetryAfter: clienttest.Seconds,
		Latency: 30 * time.Millisecond, Jitter: 40 * time.Millisecond,
		Faults: map[clienttest.Fault]float64{
			clienttest.Error500: 0.004, clienttest.Error503: 0.002, clienttest.Reset: 0.001, clienttest.Truncated: 0.001,
			clienttest.HTML: 0.001, clienttest.Slow: 0.001, clienttest.Hang: 0.0002,
		},
	})}
	u.server = httptest.NewServer(u)
	return u
}

func (u *upstream) close() {
	u.server.CloseClientConnections()
	u.server.Close()
}

// ServeHTTP records the request.
func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if input := r.URL.Query().Get("query"); input != "" {
		u.mu.Lock()
		u.asked[input] = time.Now()
		u.mu.Unlock()
	}
	u.faulty.ServeHTTP(w, r)
}

// last is when an input was asked last; zero for never.
func (u *upstream) last(input string) time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.asked[input]
}

// check returns what is wrong with the row of an input.
func (u *upstream) check(input string, r row) error {
	want := row{status: "ok", value: clienttest.Value(input)}
	if u.faulty.Missing(input) {
		want = row{status: "rejected"}
	}
	if r.status != want.status || r.value != want.value {
		return fmt.Errorf("want %s %q", want.status, want.value)
	}
	return nil
}
