package flow

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// mortal is a service that dies with all requests in flight, and accepts no connection for a while.
type mortal struct {
	every, away time.Duration // between deaths, 0 for none but those by inputs; and how long it is away
	least, most time.Duration // the latency
	kills       func(input int) bool

	mu     sync.Mutex
	backAt time.Time
	died   chan struct{}
	random *rand.Rand
}

func (m *mortal) die() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if now := time.Now(); now.After(m.backAt) {
		close(m.died)
		m.died, m.backAt = make(chan struct{}), now.Add(m.away)
	}
}

func (m *mortal) answer(ctx context.Context, input string, _ int) error {
	m.mu.Lock()
	isAway, died := time.Now().Before(m.backAt), m.died
	took := m.least + time.Duration(m.random.Float64()*float64(m.most-m.least))
	m.mu.Unlock()
	switch {
	case isAway:
		return failures["refused connections"].err
	case m.kills(number(input)):
		if err := wait(ctx, 5*time.Millisecond); err != nil {
			return err
		}
		m.die()
		return failures["broken connections"].err
	}
	select {
	case <-time.After(took):
		return nil
	case <-died:
		return failures["broken connections"].err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A death of the service costs the records in flight no attempt, nor do attempts without a connection while the service is
// away. An input that kills the service each time becomes a failed row in the end.
func TestDeaths(t *testing.T) {
	none := func(int) bool { return false }
	for name, tt := range map[string]struct {
		service          *mortal
		inputs, inFlight int
	}{
		"few requests in flight": {&mortal{every: 5 * time.Second, away: 2 * time.Second, least: 500 * time.Millisecond, most: 2500 * time.Millisecond, kills: none}, 600, 6},
		"by two inputs":          {&mortal{away: 20 * time.Second, least: 50 * time.Millisecond, most: 150 * time.Millisecond, kills: func(n int) bool { return n%500 == 0 }}, 1000, 500},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := tt.service
				m.died, m.random = make(chan struct{}), rand.New(rand.NewPCG(1, 2))
				x := newTestRun(numbered(tt.inputs)...)
				x.options.Retry = client.DefaultRetryPolicy()
				x.limits.Rate, x.limits.InFlight, x.limits.MaxOutage = 1000, tt.inFlight, 6*time.Hour
				x.service.answer = m.answer
				ctx, stop := context.WithTimeout(t.Context(), 6*time.Hour)
				defer stop()
				if m.every > 0 {
					go func() {
						for wait(ctx, m.every) == nil {
							m.die()
						}
					}()
				}
				if err := x.run(ctx); err != nil {
					t.Fatal(err)
				}
				for i, line := range x.sink.lines {
					if failed := strings.HasPrefix(line, fmt.Sprintf("%d failed", i+1)); failed != m.kills(i+1) {
						t.Errorf("row %d: %s", i+1, line)
					}
				}
				if len(x.sink.lines) != tt.inputs {
					t.Errorf("%d rows", len(x.sink.lines))
				}
			})
		})
	}
}
