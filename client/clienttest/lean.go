package clienttest

import (
	"crypto/tls"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Lean is a service without faults, limits and records, for measuring clients.
type Lean struct {
	Latency     time.Duration // of a categorization, on average
	Spread      time.Duration // the latency is uniform in Latency±Spread
	Protocol    Protocol
	Certificate tls.Certificate // for a protocol with TLS
}

const usagePath = "/api/usage"

// plenty is the answer of the usage operation: a quota for any benchmark. The number of requests left is a string, as in the
// interface.
const plenty = `{"plan":"benchmark","remaining":"1000000000"}`

// Serve answers all connections of a listener until the listener is closed, and returns its error. For HTTP/1.1 it does not use
// the server of net/http, whose processor time would slow the clients down.
func (l Lean) Serve(listener net.Listener) error {
	switch l.Protocol {
	case HTTP2TLS:
		return l.serveHTTP2(listener)
	case HTTP1TLS:
		listener = tls.NewListener(listener, &tls.Config{
			Certificates: []tls.Certificate{l.Certificate},
			NextProtos:   []string{"http/1.1"},
		})
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return err
		}
		go newSession(conn, l).serve()
	}
}

// serveHTTP2 answers with the server of net/http, which closes connections that have not negotiated HTTP/2.
func (l Lean) serveHTTP2(listener net.Listener) error {
	server := &http.Server{
		Handler:   l,
		Protocols: new(http.Protocols),
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{l.Certificate}},
	}
	server.Protocols.SetHTTP2(true)
	return server.ServeTLS(listener, "", "") // the certificate is in TLSConfig
}

// ServeHTTP answers a request over HTTP/2.
func (l Lean) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, status := l.appendBody(nil, r.URL.Path, r.URL.RawQuery)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client notices an incomplete answer
}

// appendBody waits for the latency of the operation, appends the body of the answer to dst, and returns it with the HTTP
// status.
func (l Lean) appendBody(dst []byte, path, query string) (body []byte, status int) {
	switch path {
	case usagePath:
		return append(dst, plenty...), http.StatusOK
	case "/api/v1/website/categorization":
		return l.appendCategories(dst, query, "url"), http.StatusOK
	case "/api/v1/product/categorization":
		return l.appendCategories(dst, query, "query"), http.StatusOK
	}
	return append(dst, "{}"...), http.StatusNotFound
}

func (l Lean) appendCategories(dst []byte, query, name string) []byte {
	time.Sleep(l.delay())
	return AppendTypical(dst, parameter(query, "classification"), parameter(query, name))
}

func (l Lean) delay() time.Duration {
	if l.Spread <= 0 {
		return l.Latency
	}
	return l.Latency - l.Spread + rand.N(2*l.Spread)
}

// parameter returns the value of one parameter, "" if it is missing, without the map of net/url.
func parameter(query, name string) string {
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if key == name {
			text, _ := url.QueryUnescape(value) // "" if malformed
			return text
		}
	}
	return ""
}
