package service

import (
	"bufio"
	"bytes"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Options describe a service.
type Options struct {
	Latency time.Duration // of a categorization, on average
	Spread  time.Duration // around the latency, evenly on both sides
}

// Serve answers all connections of a listener until it is closed, whose error it gives.
func Serve(l net.Listener, options Options) error {
	for connections := uint64(1); ; connections++ {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go newSession(conn, options, connections).serve()
	}
}

// session is one connection.
type session struct {
	conn    net.Conn
	in      *bufio.Reader
	options Options
	random  *rand.Rand
	body    []byte // both are used again by every response
	out     []byte
}

func newSession(conn net.Conn, options Options, seed uint64) *session {
	return &session{
		conn: conn, in: bufio.NewReader(conn), options: options,
		random: rand.New(rand.NewPCG(seed, 0)),
	}
}

// Usage is what usage answers: an account that can pay any measurement. What is left is
// a number, as the interface has it.
const Usage = `{"plan":"benchmark","remaining":"1000000000"}`

func (s *session) serve() {
	defer s.conn.Close() // the client knows what it has received
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

// readRequest reads a request to its end, the empty line, and gives its target. An error
// ends the connection: that of bufio for a line of more than 4,096 bytes, too.
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

// respond gives the whole response, valid until the next.
func (s *session) respond(target string) []byte {
	status := "200 OK"
	path, query, _ := strings.Cut(target, "?")
	switch path {
	case "/api/usage":
		s.body = append(s.body[:0], Usage...)
	case "/api/v1/website/categorization":
		s.categorize(query, "url")
	case "/api/v1/product/categorization":
		s.categorize(query, "query")
	default:
		status, s.body = "404 Not Found", append(s.body[:0], "{}"...)
	}
	s.out = append(s.out[:0], "HTTP/1.1 "+status+"\r\nContent-Type: application/json\r\nContent-Length: "...)
	s.out = strconv.AppendInt(s.out, int64(len(s.body)), 10)
	s.out = append(s.out, "\r\n\r\n"...)
	return append(s.out, s.body...)
}

func (s *session) categorize(query, name string) {
	time.Sleep(s.delay())
	s.body = AppendAnswer(s.body[:0], parameter(query, "classification"), parameter(query, name))
}

func (s *session) delay() time.Duration {
	if s.options.Spread <= 0 {
		return s.options.Latency
	}
	return s.options.Latency - s.options.Spread + time.Duration(s.random.Int64N(2*int64(s.options.Spread)))
}

// parameter gives the value of one parameter, "" if it is not there; net/url would make
// a map of all.
func parameter(query, name string) string {
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if key == name {
			text, _ := url.QueryUnescape(value) // "" where it is no value
			return text
		}
	}
	return ""
}
