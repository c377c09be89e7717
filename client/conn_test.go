package client

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A connection fails for lack of a resource of this machine: the request was not sent.
func TestLocalFailuresAreUnsent(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL} {
		dial := func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", errno)}
		}
		c, err := New(Options{BaseURL: "http://api.example.com", APIKey: testKey, Dial: dial})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.exchange(t.Context(), testRequest); ClassOf(err) != Unsent {
			t.Errorf("%v: got %v", errno, err)
		}
		c.Close()
	}
}

// protocolService starts a service over TLS and returns a client for it.
func protocolService(t *testing.T, http2 bool, handle http.HandlerFunc) *HTTP {
	t.Helper()
	server := httptest.NewUnstartedServer(handle)
	server.EnableHTTP2 = http2
	server.StartTLS()
	t.Cleanup(server.Close)
	c, err := New(Options{BaseURL: server.URL, APIKey: testKey, RootCAs: trust(t, server)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// askTogether sends concurrent requests and expects an answer to each.
func askTogether(t *testing.T, c *HTTP, requests int) {
	t.Helper()
	errs := make(chan error)
	for range requests {
		go func() {
			_, err := c.exchange(t.Context(), testRequest)
			errs <- err
		}()
	}
	for range requests {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
}

func TestGETsCarryNoBody(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		c := protocolService(t, http2, func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength != 0 || len(r.TransferEncoding) > 0 { // -1 for a body of unknown length
				t.Errorf("%s: a body of %d bytes, %v", r.Proto, r.ContentLength, r.TransferEncoding)
			}
			io.WriteString(w, soundAnswer)
		})
		if _, err := c.exchange(t.Context(), testRequest); err != nil {
			t.Error(err)
		}
	}
}

// The service closes HTTP/2 connections. net/http resends the requests that it has not processed, and no
// attempt fails.
func TestGoAwayIsNoFailure(t *testing.T) {
	var asked atomic.Int64
	c := protocolService(t, true, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1)%20 == 0 {
			w.Header().Set("Connection", "close") // sends GOAWAY
		}
		io.WriteString(w, soundAnswer)
	})
	const groups, requests = 10, 20 // the last request of each group ends its connection
	for range groups {
		askTogether(t, c, requests)
	}
	if asked.Load() != groups*requests {
		t.Errorf("the service processed %d requests, want %d", asked.Load(), groups*requests)
	}
}

// After the first response over HTTP/1.1, each request in flight gets its own connection.
func TestManyConnectionsForHTTP1(t *testing.T) {
	const requests = 3 * fewConnections
	var together atomic.Int64
	all := make(chan struct{})
	warm := true
	c := protocolService(t, false, func(w http.ResponseWriter, r *http.Request) {
		if !warm {
			if together.Add(1) == requests {
				close(all)
			}
			select {
			case <-all:
			case <-r.Context().Done():
			}
		}
		io.WriteString(w, soundAnswer)
	})
	if _, err := c.exchange(t.Context(), testRequest); err != nil {
		t.Fatal(err)
	}
	warm = false
	askTogether(t, c, requests)
}

// A load balancer ties each connection to a backend. A connection to a sick backend is not used for long, and each request that
// finds it closed is sent on another one.
func TestConnectionsToASickBackend(t *testing.T) {
	for _, tt := range []struct {
		name    string
		paramIn ParamIn
		sick    func(http.ResponseWriter)
	}{
		{"500", InQuery, func(w http.ResponseWriter) { w.WriteHeader(500) }},
		{"500, a body is sent", InJSON, func(w http.ResponseWriter) { w.WriteHeader(500) }},
		{"429", InQuery, func(w http.ResponseWriter) { w.WriteHeader(429) }},
		{"503 with a wait", InQuery, func(w http.ResponseWriter) { w.Header().Set("Retry-After", "30"); w.WriteHeader(503) }},
		{"401", InQuery, func(w http.ResponseWriter) { w.WriteHeader(401) }},
		{"404 with a page", InQuery, func(w http.ResponseWriter) { w.WriteHeader(404); io.WriteString(w, "<html>") }},
		{"200 with a page", InQuery, func(w http.ResponseWriter) { io.WriteString(w, "<html>") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var dialed, asked, failed int
			sick := make(map[string]bool)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				if sick[r.RemoteAddr] {
					tt.sick(w)
					return
				}
				io.WriteString(w, soundAnswer)
			}))
			defer server.Close()
			dial := func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, address)
				if err == nil {
					sick[c.LocalAddr().String()] = dialed < 3 // the first three
					dialed++
				}
				return c, err
			}
			c, err := New(Options{BaseURL: server.URL, APIKey: testKey, ParamIn: tt.paramIn, Dial: dial})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			const requests = 20
			for range requests {
				if _, err := c.exchange(t.Context(), testRequest); err != nil {
					failed++
				}
			}
			if failed > 3*mostFailed || asked != requests || dialed > 6 { // net/http may dial more than it uses
				t.Errorf("%d requests: %d connections, the service has seen %d requests, and %d have failed", requests, dialed, asked, failed)
			}
		})
	}
}

// A rejection, or an answer that is not yet calculated, is no failure of its connection.
func TestConnectionsStay(t *testing.T) {
	for status, body := range map[int]string{202: "", 404: `{"error":"unknown domain"}`, 422: `{"error":"no website"}`} {
		addresses := make(map[string]bool)
		c := setup(t, func(w http.ResponseWriter, r *http.Request) {
			addresses[r.RemoteAddr] = true
			w.WriteHeader(status)
			io.WriteString(w, body)
		}, nil)
		for range 10 {
			if _, err := c.exchange(t.Context(), testRequest); err == nil {
				t.Errorf("%d is an answer", status)
			}
		}
		if len(addresses) != 1 {
			t.Errorf("%d: %d connections", status, len(addresses))
		}
	}
}

// A connection of HTTP/2 to a sick backend is left as soon as no request uses it.
func TestHTTP2ConnectionToASickBackend(t *testing.T) {
	for _, status := range []int{401, 429, 500, 503} {
		addresses := make(map[string]bool)
		c := protocolService(t, true, func(w http.ResponseWriter, r *http.Request) {
			if addresses[r.RemoteAddr] = true; len(addresses) <= 2 {
				w.WriteHeader(status)
				return
			}
			io.WriteString(w, soundAnswer)
		})
		failed := 0
		for range 20 {
			if _, err := c.exchange(t.Context(), testRequest); err != nil {
				failed++
			}
			time.Sleep(time.Millisecond) // the stream ends after its response
		}
		if failed > 6*mostFailed || len(addresses) != 3 {
			t.Errorf("%d: %d of 20 requests have failed, on %d connections", status, failed, len(addresses))
		}
	}
}

// When requests hang on a connection that was idle, the other idle connections are not used again, because a firewall may have
// forgotten them.
func TestForgottenConnections(t *testing.T) {
	const together = 5
	for _, idle := range []bool{false, true} {
		var asked atomic.Int64
		var mu sync.Mutex
		addresses := make(map[string]bool)
		all := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch n := asked.Add(1); {
			case n == together:
				close(all)
			case n < together:
				<-all
			case n == together+1:
				<-r.Context().Done()
				return
			default:
				mu.Lock()
				defer mu.Unlock()
				addresses[r.RemoteAddr] = true
				return
			}
			mu.Lock()
			addresses[r.RemoteAddr] = true
			mu.Unlock()
			io.WriteString(w, soundAnswer)
		}))
		defer server.Close()
		c, err := New(Options{BaseURL: server.URL, APIKey: testKey, Timeout: 100 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		askTogether(t, c, together)
		if idle {
			time.Sleep(briefIdle + 100*time.Millisecond)
		}
		c.exchange(t.Context(), testRequest) // hangs
		c.exchange(t.Context(), testRequest)
		if isNew := len(addresses) == together+1; isNew != idle {
			t.Errorf("idle %t: %d connections", idle, len(addresses))
		}
	}
}
