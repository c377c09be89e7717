package clienttest

import (
	"context"
	"net"
	"net/http"
	"slices"
	"sync/atomic"
	"time"
)

// Record is the audit of one input.
type Record struct {
	Attempts int // requests for the input
	Answers  int // charged answers
}

// Audit counts the requests that a service has received.
type Audit struct {
	Inputs   map[string]Record
	Arrivals []time.Time // of requests for categories, in order
	Refused  int         // requests beyond the rate
	Answers  int64       // charged answers
	Late     int         // requests beyond the quota
}

// Twice is the number of charged answers beyond the first answer to each input.
func (a Audit) Twice() (n int) {
	for _, record := range a.Inputs {
		n += max(record.Answers-1, 0)
	}
	return n
}

// Visit is one request for a categorization with its result.
type Visit struct {
	Classification, Input string
	Attempt               int // number of the attempt of this input, from 1
	Arrived               time.Time
	Left                  time.Time // zero before the service has answered
	Status                int       // 200 for a correct answer that was written whole; 0 for no answer or a damaged one
	Place                 int       // number of the request on its connection, from 1
	Closed                bool      // the service closed the connection after this answer
	Refused               bool      // by a limiter

	conn    *connection
	working int // requests in work when this request arrived, including this request
}

// Last reports whether the visit is the last on its connection, and the service did not close the connection. Only an answer to
// a Last visit may not have reached the client.
func (v Visit) Last() bool {
	return int(v.conn.requests.Load()) == v.Place && !v.Closed
}

type connection struct{ requests atomic.Int32 }

type connectionKey struct{}

// connect is for http.Server.ConnContext. Without it, each request counts as a connection.
func connect(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, new(connection))
}

// arrive records a request for a categorization.
func (s *Server) arrive(e *exchange) bool {
	if e.r.URL.Path == usagePath {
		return false
	}
	conn, ok := e.r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		conn = new(connection)
	}
	query := e.r.URL.Query()
	input := query.Get("url") + query.Get("query")
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inputs[input] == nil {
		s.inputs[input] = new(Record)
	}
	s.inputs[input].Attempts++
	s.working++
	e.visit = &Visit{
		Classification: query.Get("classification"), Input: input, Attempt: s.inputs[input].Attempts,
		Arrived: time.Now(), Place: int(conn.requests.Add(1)), conn: conn, working: s.working,
	}
	e.index, s.visits = len(s.visits), append(s.visits, *e.visit)
	return false
}

// leave records the end of a request.
func (s *Server) leave(e *exchange) {
	if e.visit == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	e.visit.Left = time.Now()
	s.working--
	s.visits[e.index] = *e.visit
	if s.left > 0 {
		if s.left--; s.left == 0 {
			close(s.reached)
		}
	}
}

// After returns a channel that is closed after n more requests for categories. A call replaces the channel of the previous call.
func (s *Server) After(n int) <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.reached = n, make(chan struct{})
	return s.reached
}

// Audit returns the counts so far.
func (s *Server) Audit() Audit {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := Audit{
		Inputs: make(map[string]Record, len(s.inputs)), Arrivals: make([]time.Time, len(s.visits)),
		Refused: s.refused, Answers: s.answered, Late: s.late,
	}
	for input, record := range s.inputs {
		a.Inputs[input] = *record
	}
	for i, visit := range s.visits {
		a.Arrivals[i] = visit.Arrived
	}
	return a
}

// Visits returns all visits in the order of their arrival.
func (s *Server) Visits() []Visit {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.visits)
}

// Answers returns the visits with a correct answer, by input.
func (s *Server) Answers() map[string][]Visit {
	answers := map[string][]Visit{}
	for _, visit := range s.Visits() {
		if visit.Status == http.StatusOK {
			answers[visit.Input] = append(answers[visit.Input], visit)
		}
	}
	return answers
}

// Peak returns the most arrivals within any interval of the given length. The arrivals are in order.
func Peak(arrivals []time.Time, within time.Duration) (most int) {
	first := 0
	for last, at := range arrivals {
		for at.Sub(arrivals[first]) >= within {
			first++
		}
		most = max(most, last-first+1)
	}
	return most
}
