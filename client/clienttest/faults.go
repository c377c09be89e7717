package clienttest

import (
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Fault is a way in which an attempt fails.
type Fault string

// The faults.
const (
	Error500    Fault = "500"      // HTTP 500
	Error503    Fault = "503"      // HTTP 503
	Calculating Fault = "202"      // HTTP 202: the answer is not ready
	Reset       Fault = "reset"    // the connection is reset before an answer
	Truncated   Fault = "truncate" // the body is shorter than its Content-Length
	HTML        Fault = "html"     // HTTP 200 with an error page
	Slow        Fault = "slow"     // an answer whose body comes in small pieces
	Hang        Fault = "hang"     // no response until the client closes the connection
)

// fault returns the fault of an attempt; "" for none.
func (s *Server) fault(input string, attempt int) Fault {
	if s.options.Fails != nil {
		return s.options.Fails(input, attempt)
	}
	x := s.chance("fault", input, attempt)
	for _, f := range []Fault{Error500, Error503, Calculating, Reset, Truncated, HTML, Slow, Hang} {
		if x -= s.options.Faults[f]; x < 0 {
			return f
		}
	}
	return ""
}

func (s *Server) fail(e *exchange) bool {
	switch fault := s.fault(e.visit.Input, e.visit.Attempt); fault {
	case "":
		return false
	case HTML:
		e.w.Header().Set("Content-Type", "text/html")
		io.WriteString(e.w, "<html><body>Bad gateway</body></html>")
	case Truncated:
		body := s.body(e)
		e.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		io.WriteString(e.w, body[:len(body)/2])
	case Reset:
		reset(e.w)
	case Hang:
		<-e.r.Context().Done()
	case Slow:
		s.drip(e)
	default:
		status, _ := strconv.Atoi(string(fault))
		e.reply(status, `{"error":"try again"}`)
	}
	return true
}

// drip writes a correct answer in small pieces.
func (s *Server) drip(e *exchange) {
	body := s.body(e)
	for i := 0; i < len(body); i += 16 {
		io.WriteString(e.w, body[i:min(i+16, len(body))])
		http.NewResponseController(e.w).Flush()
		if !e.sleep(20 * time.Millisecond) {
			return
		}
	}
	s.charge(e.visit.Input)
	e.visit.Status = http.StatusOK
}

// reset closes the connection with a TCP reset.
func reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0) // RST instead of FIN
	}
	conn.Close()
}
