package client

import (
	"crypto/x509"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// The service's certificate is signed by an authority in a file.
func TestHTTP2WithOwnAuthority(t *testing.T) {
	var major int
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		major = r.ProtoMajor
		io.WriteString(w, soundAnswer)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	c, err := New(Options{BaseURL: server.URL, APIKey: testKey, RootCAs: trust(t, server)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.exchange(t.Context(), testRequest); err != nil || major != 2 {
		t.Errorf("HTTP/%d, %v", major, err)
	}
}

func trust(t *testing.T, server *httptest.Server) *x509.CertPool {
	t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	roots, err := RootCAs(text)
	if err != nil {
		t.Fatal(err)
	}
	return roots
}

func TestRootCAsRefuse(t *testing.T) {
	for name, text := range map[string]string{
		"empty.pem": "", "text.pem": "not a certificate\n",
		"key.pem": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
		"bad.pem": "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
	} {
		if _, err := RootCAs([]byte(text)); err == nil || !strings.Contains(err.Error(), "no certificate") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Redirects within the host carry the key. A redirect to another host is refused.
func TestRedirectsCarryTheKeyWithinTheHost(t *testing.T) {
	strayed := 0
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strayed++ }))
	defer other.Close()
	c := setup(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/moved" && r.Header.Get("X-Api-Key") == testKey:
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		case r.URL.Path == "/moved":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			http.Redirect(w, r, "/moved", http.StatusTemporaryRedirect)
		}
	}, nil)
	_, err := c.exchange(t.Context(), testRequest)
	if ClassOf(err) != Fatal || !strings.Contains(err.Error(), "redirects to "+other.URL) || strayed > 0 {
		t.Errorf("got %v; %d requests went to the other host", err, strayed)
	}
}

// net/http resends a GET when a kept-alive connection fails. conn prevents that, because the service may
// have charged for the request.
func TestRequestsAreNotSentTwiceUnasked(t *testing.T) {
	for range 50 { // the service may close the connection before the client's write returns
		testNotSentTwice(t)
	}
}

func testNotSentTwice(t *testing.T) {
	t.Helper()
	var seen atomic.Int64
	c := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		if seen.Add(1) == 1 {
			io.WriteString(w, soundAnswer)
			return
		}
		panic(http.ErrAbortHandler)
	}, nil)
	if _, err := c.exchange(t.Context(), testRequest); err != nil {
		t.Fatal(err)
	}
	if _, err := c.exchange(t.Context(), testRequest); ClassOf(err) != Transient {
		t.Errorf("got %v", err)
	}
	if seen.Load() != 2 {
		t.Errorf("the service saw %d requests, want 2", seen.Load())
	}
}
