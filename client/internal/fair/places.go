package fair

import (
	"context"
	"errors"
	"sync"
)

// ErrFull means that as many requests of an account wait as may.
var ErrFull = errors.New("too many requests of the account wait")

// leastWaiting requests of an account may wait, whatever its share.
const leastWaiting = 8

// reserved: an account may hold so many places for each free one. An account alone takes four fifths of the places and
// leaves the rest to accounts that come later, whatever the time for which it holds its own.
const reserved = 4

// Places are a number of places, which are taken in the order of a [Queue].
type Places struct {
	count   int
	bounded bool // an account may have as many requests waiting as its share of the places

	mu    sync.Mutex
	free  int
	held  map[Account]int
	queue Queue[*request]
}

// request waits for a place.
type request struct {
	owner  Account
	placed chan struct{} // closed when it has the place
}

// NewPlaces returns free places. With bounded, Take refuses an account of which too many requests wait.
func NewPlaces(count int, bounded bool) *Places {
	return &Places{count: count, bounded: bounded, free: count, held: map[Account]int{}}
}

// Take waits for a place for the account of a context, which holds it until leave is called. The error is ErrFull or
// that of the context.
func (p *Places) Take(ctx context.Context) (leave func(), err error) {
	owner := accountOf(ctx)
	r, err := p.enter(owner)
	if err != nil {
		return nil, err
	}
	leave = func() { p.leave(owner) }
	if r == nil {
		return leave, nil
	}
	select {
	case <-r.placed:
		return leave, nil
	case <-ctx.Done():
	}
	if !p.giveUp(r) {
		leave()
	}
	return nil, context.Cause(ctx)
}

// enter takes a free place, or returns a request that waits.
func (p *Places) enter(owner Account) (*request, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting := p.queue.Waiting(owner)
	switch {
	case waiting == 0 && p.may(owner):
		p.take(owner) // no request waits, so the place does not count in the fair order
		return nil, nil
	case p.bounded && waiting >= max(leastWaiting, int(float64(p.count)*p.queue.Share(owner))):
		return nil, ErrFull
	}
	r := &request{owner, make(chan struct{})}
	p.queue.Push(owner, r)
	return r, nil
}

// Bounded is an account that holds at most InFlight places, also while more are free. Zero is no bound.
type Bounded interface {
	Account
	InFlight() int
}

// may reports whether an account may take a place. The caller holds mu.
func (p *Places) may(owner Account) bool {
	if b, ok := owner.(Bounded); ok && b.InFlight() > 0 && p.held[owner] >= b.InFlight() {
		return false
	}
	return p.held[owner] < reserved*p.free
}

// Of returns how many places an account holds, and how many of its requests wait.
func (p *Places) Of(owner Account) (held, waiting int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held[owner], p.queue.Waiting(owner)
}

func (p *Places) take(owner Account) {
	p.free--
	p.held[owner]++
}

func (p *Places) leave(owner Account) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	if p.held[owner]--; p.held[owner] == 0 {
		delete(p.held, owner)
	}
	for {
		r, ok := p.queue.PopOf(p.may)
		if !ok {
			return
		}
		p.take(r.owner)
		close(r.placed)
	}
}

// giveUp removes a request; false if it has its place already.
func (p *Places) giveUp(r *request) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	select {
	case <-r.placed:
		return false
	default:
		p.queue.Remove(r.owner, r)
		return true
	}
}

type accountKey struct{}

// WithAccount returns a context of an account.
func WithAccount(ctx context.Context, owner Account) context.Context {
	return context.WithValue(ctx, accountKey{}, owner)
}

// nobody is the account of a context that WithAccount has not made: of work for no API key.
type nobody struct{}

func (nobody) Priority() int { return 1 }

func accountOf(ctx context.Context) Account {
	if owner, ok := ctx.Value(accountKey{}).(Account); ok {
		return owner
	}
	return nobody{}
}
