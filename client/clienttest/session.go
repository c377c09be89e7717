package clienttest

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"strconv"
	"strings"
)

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
