package clienttest

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

var protocols = []Protocol{HTTP1, HTTP1TLS, HTTP2TLS}

// The client of this project gets answers from the service.
func TestClientIsAnswered(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			url, roots := listen(t, Lean{Protocol: protocol})
			c, err := client.New(client.Options{BaseURL: url, APIKey: "key", RootCAs: roots})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			testAnswers(t, c)
		})
	}
}

func testAnswers(t *testing.T, c *client.HTTP) {
	usage, err := c.Usage(t.Context())
	if left, ok := usage.Requests(); err != nil || !ok || left < 1e9 {
		t.Errorf("usage: %+v, %v", usage, err)
	}
	requests := []client.Request{
		{Kind: client.Website, Input: "https://www.shop-1.example", Classification: client.TaxonomyV3},
		{Kind: client.Product, Input: "Kettle, 1.7 l & steel", Classification: client.ProductTaxonomy},
	}
	for _, r := range requests {
		answer, err := c.Attempt(t.Context(), r)
		if err != nil {
			t.Errorf("%+v: %v", r, err)
			continue
		}
		want, err := client.ParseAnswer(AppendTypical(nil, r.Classification, r.Input), r.Classification)
		if err != nil {
			t.Fatal(err)
		}
		if len(answer.Entries) != entries || answer.Entries[0] != want.Entries[0] {
			t.Errorf("%+v: got %+v, want %+v", r, answer.Entries, want.Entries)
		}
	}
}

func TestAnswersAreTypical(t *testing.T) {
	var all strings.Builder
	const n = 1000
	distinct := make(map[string]bool)
	for i := range n {
		body := string(AppendTypical(nil, client.TaxonomyV3, strings.Repeat("x", i)))
		distinct[body] = true
		all.WriteString(body)
		answer, err := client.ParseAnswer([]byte(body), client.TaxonomyV3)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range answer.Entries {
			if e.Confidence <= 0 || e.Confidence >= 1 {
				t.Errorf("a confidence of %v in %s", e.Confidence, body)
			}
		}
	}
	if bytes := all.Len() / n; bytes < 180 || bytes > 320 {
		t.Errorf("an answer has %d bytes on average, not some 250", bytes)
	}
	if len(distinct) < n*99/100 {
		t.Errorf("of %d answers only %d differ", n, len(distinct))
	}
}

func TestUnknownPath(t *testing.T) {
	for _, protocol := range protocols {
		t.Run(protocol.String(), func(t *testing.T) {
			url, roots := listen(t, Lean{Protocol: protocol})
			resp, err := standardClient(t, roots, "h2", "http/1.1").Get(url + "/elsewhere")
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != http.StatusNotFound || resp.ProtoMajor != protocol.Major() {
				t.Errorf("got %s, %s", resp.Proto, resp.Status)
			}
		})
	}
}

// A service of HTTP/2 answers in no other protocol.
func TestOtherProtocol(t *testing.T) {
	url, roots := listen(t, Lean{Protocol: HTTP2TLS})
	for _, offered := range [][]string{nil, {"http/1.1"}} {
		resp, err := standardClient(t, roots, offered...).Get(url + "/api/usage")
		if err == nil {
			resp.Body.Close()
			t.Errorf("a client that offers %q gets %s", offered, resp.Proto)
		}
	}
}

func TestProtocolFlag(t *testing.T) {
	for _, want := range protocols {
		var got Protocol
		if err := got.Set(want.String()); err != nil || got != want {
			t.Errorf("%v: got %v, %v", want, got, err)
		}
	}
	var p Protocol
	if err := p.Set("HTTP/3"); err == nil {
		t.Errorf("HTTP/3 is taken for %v", p)
	}
}

// A malformed request ends its connection and no other.
func TestHostileRequests(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":     "",
		"cut short":   "GET /api/us",
		"without end": "GET /api/usage HTTP/1.1\r\nHost: x\r\n",
		"too long":    "GET /" + strings.Repeat("x", 1<<16) + " HTTP/1.1\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs := net.Pipe()
			ended := make(chan struct{})
			go func() { defer close(ended); newSession(theirs, Lean{}).serve() }()
			go func() { io.WriteString(ours, text); ours.Close() }()
			<-ended
		})
	}
}

func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(nil, Lean{Latency: 50 * time.Millisecond, Spread: 20 * time.Millisecond})
		var least, most, sum time.Duration = time.Hour, 0, 0
		const n = 1000
		for range n {
			began := time.Now()
			s.respond("/api/v1/website/categorization?url=x&classification=taxonomy_v3")
			took := time.Since(began)
			least, most, sum = min(least, took), max(most, took), sum+took
		}
		if least < 30*time.Millisecond || least > 31*time.Millisecond || most > 70*time.Millisecond || most < 69*time.Millisecond {
			t.Errorf("between %v and %v", least, most)
		}
		if mean := sum / n; mean < 48*time.Millisecond || mean > 52*time.Millisecond {
			t.Errorf("%v on average", mean)
		}
	})
}

// listen starts a service and returns its URL and its certificate authority, nil without TLS.
func listen(t *testing.T, l Lean) (url string, roots *x509.CertPool) {
	t.Helper()
	if l.Protocol.TLS() {
		certificate, authority, err := NewCertificate()
		if err != nil {
			t.Fatal(err)
		}
		l.Certificate, roots = certificate, x509.NewCertPool()
		roots.AppendCertsFromPEM(authority)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go l.Serve(listener)
	return l.Protocol.Scheme() + "://" + listener.Addr().String(), roots
}

// standardClient is a client of net/http that offers some protocols in the TLS handshake.
func standardClient(t *testing.T, roots *x509.CertPool, offered ...string) *http.Client {
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: roots, NextProtos: offered},
		ForceAttemptHTTP2: slices.Contains(offered, "h2"),
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}
