package limiters

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/scripts/servers/run"
)

// recorder is a reverse proxy between bulkcat and a limiter that keeps what each request got.
// Each connection of bulkcat's has a connection to the limiter of its own, because some limiters
// count connections.
type recorder struct {
	upstream *url.URL

	mu     sync.Mutex
	visits []visit
	conns  map[net.Conn]*http.Transport
}

// visit is one request.
type visit struct {
	at, ended  time.Time
	path       string
	status     int
	retryAfter string // the header
}

// refused reports whether the limiter refused the request. A request that bulkcat cancelled has no
// status.
func (v visit) refused() bool { return v.status != http.StatusOK && v.status != 0 }

func (v visit) usage() bool { return strings.HasSuffix(v.path, "/usage") }

type transportKey struct{}

// record serves on a free port until the test ends, and returns the base URL.
func record(t testing.TB, upstream string) (*recorder, string) {
	t.Helper()
	target, err := url.Parse(upstream)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{upstream: target, conns: map[net.Conn]*http.Transport{}}
	server := httptest.NewUnstartedServer(r)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Config.ConnContext, server.Config.ConnState = r.connected, r.changed
	server.Start()
	t.Cleanup(server.Close)
	return r, server.URL
}

func (r *recorder) connected(ctx context.Context, conn net.Conn) context.Context {
	transport := &http.Transport{DisableCompression: true}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conns[conn] = transport
	return context.WithValue(ctx, transportKey{}, transport)
}

func (r *recorder) changed(conn net.Conn, state http.ConnState) {
	if state != http.StateClosed {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if transport := r.conns[conn]; transport != nil {
		transport.CloseIdleConnections()
		delete(r.conns, conn)
	}
}

// ServeHTTP passes a request on, and a closed connection back.
func (r *recorder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	v := visit{at: time.Now(), path: request.URL.Path}
	proxy := httputil.ReverseProxy{
		Rewrite:   func(p *httputil.ProxyRequest) { p.SetURL(r.upstream) },
		Transport: request.Context().Value(transportKey{}).(*http.Transport),
		ModifyResponse: func(response *http.Response) error {
			v.status, v.retryAfter = response.StatusCode, response.Header.Get("Retry-After")
			if response.Close {
				response.Header.Set("Connection", "close")
			}
			return nil
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	defer func() {
		v.ended = time.Now()
		r.mu.Lock()
		defer r.mu.Unlock()
		r.visits = append(r.visits, v)
	}()
	proxy.ServeHTTP(w, request)
}

// refusals returns the share of refused requests, and that of the requests from 30 seconds after
// the first one.
func (r *recorder) refusals() (all, late float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var counts, refused [2]int
	for _, v := range r.visits {
		if v.usage() {
			continue
		}
		for i, from := range []time.Duration{0, learned} {
			if v.at.Sub(r.visits[0].at) < from {
				continue
			}
			counts[i]++
			if v.refused() {
				refused[i]++
			}
		}
	}
	share := func(i int) float64 { return float64(refused[i]) / float64(max(counts[i], 1)) }
	return share(0), share(1)
}

// unexpected returns the status of a refusal that is none of the limiter's; 0 without one.
func (r *recorder) unexpected(known []int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, v := range r.visits {
		if v.refused() && !slices.Contains(known, v.status) {
			return v.status
		}
	}
	return 0
}

// write keeps the visits in a file for a reader, in the order of their ends.
func (r *recorder) write(t testing.TB, path string) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var text strings.Builder
	table := csv.NewWriter(&text)
	_ = table.Write([]string{"sent_s", "ended_s", "path", "status", "retry_after"})
	for _, v := range r.visits {
		seconds := func(at time.Time) string { return fmt.Sprintf("%.3f", at.Sub(r.visits[0].at).Seconds()) }
		_ = table.Write([]string{seconds(v.at), seconds(v.ended), v.path, strconv.Itoa(v.status), v.retryAfter})
	}
	table.Flush()
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Error(err)
	}
}

// TestRecorder needs no program: a limiter in the test process refuses each third request.
func TestRecorder(t *testing.T) {
	var requests, connections int
	limiter := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Api-Key") != run.Key {
			t.Errorf("the key is %q", r.Header.Get("X-Api-Key"))
		}
		if requests++; requests%3 == 0 {
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	limiter.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections++
		}
	}
	limiter.Start()
	defer limiter.Close()
	r, address := record(t, limiter.URL)
	for range 6 {
		request, err := http.NewRequest(http.MethodGet, address+"/api/v1/website/categorization?url=a", nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Api-Key", run.Key)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
	if all, _ := r.refusals(); all != 2.0/6 {
		t.Errorf("%v refused, not a third", all)
	}
	if last := r.visits[5]; last.status != http.StatusTooManyRequests || last.retryAfter != "7" {
		t.Errorf("the last visit is %+v", last)
	}
	if connections != 2 {
		t.Errorf("%d connections, not 2: one ended with each refusal", connections)
	}
}
