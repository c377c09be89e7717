package clienttest

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
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

// session is one HTTP/1.1 connection.
type session struct {
	conn net.Conn
	in   *bufio.Reader
	lean Lean
	body []byte // both buffers are reused
	out  []byte
}

func newSession(conn net.Conn, lean Lean) *session {
	return &session{conn: conn, in: bufio.NewReader(conn), lean: lean}
}

func (s *session) serve() {
	defer s.conn.Close() // the client detects an incomplete answer
	for {
		target, err := s.readRequest()
		if err != nil {
			return
		}
		if _, err := s.conn.Write(s.respond(target)); err != nil {
			return
		}
	}
}

// readRequest reads a request up to the empty line and returns its target. Lines of more than 4,096 bytes are an error.
func (s *session) readRequest() (string, error) {
	line, err := s.in.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	_, rest, _ := bytes.Cut(line, []byte(" "))
	text, _, _ := bytes.Cut(rest, []byte(" "))
	target := string(text) // the next line overwrites it
	for len(bytes.TrimRight(line, "\r\n")) > 0 {
		if line, err = s.in.ReadSlice('\n'); err != nil {
			return "", err
		}
	}
	return target, nil
}

// respond returns the whole response, which is valid until the next call.
func (s *session) respond(target string) []byte {
	path, query, _ := strings.Cut(target, "?")
	var status int
	s.body, status = s.lean.appendBody(s.body[:0], path, query)
	s.out = append(s.out[:0], "HTTP/1.1 "...)
	s.out = strconv.AppendInt(s.out, int64(status), 10)
	s.out = append(s.out, " "+http.StatusText(status)+"\r\nContent-Type: application/json\r\nContent-Length: "...)
	s.out = strconv.AppendInt(s.out, int64(len(s.body)), 10)
	s.out = append(s.out, "\r\n\r\n"...)
	return append(s.out, s.body...)
}

// Protocol is the version of HTTP of a [Lean] service, with or without TLS. A service has only one protocol: a client cannot fall
// back to another. The zero value is HTTP1.
type Protocol int

const (
	HTTP1 Protocol = iota
	HTTP1TLS
	HTTP2TLS
)

var protocolNames = []string{HTTP1: "HTTP/1.1", HTTP1TLS: "HTTP/1.1 TLS", HTTP2TLS: "HTTP/2 TLS"}

// String is the name in tables, and the value of a flag.
func (p Protocol) String() string { return protocolNames[p] }

// Set takes the value of a flag.
func (p *Protocol) Set(text string) error {
	i := slices.Index(protocolNames, text)
	if i < 0 {
		return fmt.Errorf("choose one of %s", strings.Join(protocolNames, ", "))
	}
	*p = Protocol(i)
	return nil
}

// TLS reports whether the service needs a certificate.
func (p Protocol) TLS() bool { return p != HTTP1 }

// Scheme is the scheme of the service's URL.
func (p Protocol) Scheme() string {
	if p.TLS() {
		return "https"
	}
	return "http"
}

// Major is the major version of HTTP, as in http.Response.ProtoMajor.
func (p Protocol) Major() int {
	if p == HTTP2TLS {
		return 2
	}
	return 1
}
