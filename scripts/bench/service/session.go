package service

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// session is one connection that speaks HTTP/1.1.
type session struct {
	conn    net.Conn
	in      *bufio.Reader
	options Options
	body    []byte // every response uses both buffers again
	out     []byte
}

func newSession(conn net.Conn, options Options) *session {
	return &session{conn: conn, in: bufio.NewReader(conn), options: options}
}

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
	path, query, _ := strings.Cut(target, "?")
	var status int
	s.body, status = s.options.appendBody(s.body[:0], path, query)
	s.out = append(s.out[:0], "HTTP/1.1 "...)
	s.out = strconv.AppendInt(s.out, int64(status), 10)
	s.out = append(s.out, " "+http.StatusText(status)+"\r\nContent-Type: application/json\r\nContent-Length: "...)
	s.out = strconv.AppendInt(s.out, int64(len(s.body)), 10)
	s.out = append(s.out, "\r\n\r\n"...)
	return append(s.out, s.body...)
}
