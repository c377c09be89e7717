package client

import (
	"fmt"
	"sync"
	"time"
)

// TimeoutError says that an attempt reached its timeout.
type TimeoutError struct {
	Timeout time.Duration // of the attempt
	Next    time.Duration // timeout of the next attempts
	InARow  int           // attempts in a row that reached their timeout
	Since   time.Time     // when the first of these InARow attempts ended
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("the service did not answer within %v", e.Timeout)
}

// patience is the timeout of attempts. It doubles, up to most, after every severalTimeouts attempts in a row that reach it. The next
// answer resets it to first, unless an answer has ever taken longer than first: then the service is slow, not out.
type patience struct {
	first, most time.Duration

	mu      sync.Mutex
	current time.Duration
	inARow  int
	since   time.Time
	slow    bool // an answer took longer than first
}

const (
	severalTimeouts = 3               // in a row
	mostPatience    = 2 * time.Minute // longer than the crawl of a slow site
)

func (p *patience) timeout() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.current
}

// expired records an attempt that reached its timeout. An attempt with a shorter timeout than current does not count.
func (p *patience) expired(timeout time.Duration) *TimeoutError {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inARow == 0 {
		p.since = time.Now()
	}
	if timeout >= p.current {
		p.inARow++
		if p.inARow%severalTimeouts == 0 && p.current < p.most {
			p.current = min(2*p.current, p.most)
		}
	}
	return &TimeoutError{Timeout: timeout, Next: p.current, InARow: p.inARow, Since: p.since}
}

// answered records the time that a response took.
func (p *patience) answered(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inARow = 0
	if took > p.first {
		p.slow = true
	} else if !p.slow {
		p.current = p.first
	}
}
