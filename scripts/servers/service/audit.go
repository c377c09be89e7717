package service

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Visit is one request for a categorization with its result.
type Visit struct {
	Input   string
	Attempt int // of this input, from 1
	Arrived time.Time
	Left    time.Time
	Status  int  // 200 for a sound answer that was written; 0 for none
	Place   int  // on its connection, from 1
	Closed  bool // the service closed the connection after this answer

	conn *connection
}

// Sound says whether the service wrote a sound answer.
func (v Visit) Sound() bool { return v.Status == http.StatusOK }

// Last says whether the client ended the connection after this visit. An answer that was
// not the last one on its connection has reached the client.
func (v Visit) Last() bool {
	return int(v.conn.requests.Load()) == v.Place && !v.Closed
}

type connection struct{ requests atomic.Int32 }

type connectionKey struct{}

// audit keeps the visits in the order of their arrival.
type audit struct {
	mu       sync.Mutex
	visits   []*Visit
	attempts map[string]int
}

func (a *audit) connect(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, new(connection))
}

func (a *audit) arrive(ctx context.Context, input string) *Visit {
	conn := ctx.Value(connectionKey{}).(*connection)
	visit := &Visit{Input: input, Arrived: time.Now(), Place: int(conn.requests.Add(1)), conn: conn}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.attempts == nil {
		a.attempts = map[string]int{}
	}
	a.attempts[input]++
	visit.Attempt = a.attempts[input]
	a.visits = append(a.visits, visit)
	return visit
}

func (a *audit) leave(visit *Visit, status int, closed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	visit.Left, visit.Status, visit.Closed = time.Now(), status, closed
}

// Visits returns all visits in the order of their arrival.
func (s *Service) Visits() []Visit {
	s.audit.mu.Lock()
	defer s.audit.mu.Unlock()
	visits := make([]Visit, len(s.audit.visits))
	for i, visit := range s.audit.visits {
		visits[i] = *visit
	}
	return visits
}

// Answers returns the visits with a sound answer, by input.
func (s *Service) Answers() map[string][]Visit {
	answers := map[string][]Visit{}
	for _, visit := range s.Visits() {
		if visit.Sound() {
			answers[visit.Input] = append(answers[visit.Input], visit)
		}
	}
	return answers
}
