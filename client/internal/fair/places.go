package fair

import (
	"context"
	"errors"
	"sync"
)

// ErrFull means that the account may have no more requests waiting.
var ErrFull = errors.New("too many requests of the account wait")

// leastWaiting is the number of requests that may wait for an account with any share.
const leastWaiting = 8

// perFree is the most places that an account holds for each free place. A single account takes four fifths of the places, and
// leaves the rest to accounts that come later.
const perFree = 4

// Places are a fixed number of places. Requests take them in the order of a [Queue].
type Places struct {
	count   int
	bounded bool // an account may have no more requests waiting than its share of the places

	mu    sync.Mutex
	free  int
	held  map[Account]int
	queue Queue[*request]
}

// request waits for a place.
type request struct {
	owner  Account
	placed chan struct{} // closed when the request has its place
}

// NewPlaces returns count free places. If bounded, Take returns ErrFull to an account with too many waiting requests.
func NewPlaces(count int, bounded bool) *Places {
	return &Places{count: count, bounded: bounded, free: count, held: map[Account]int{}}
}

// Take waits for a place for the account of ctx, which holds it until leave is called. The error is ErrFull or the cause of
// ctx.
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

// enter takes a free place, or adds a request to the queue and returns it.
func (p *Places) enter(owner Account) (*request, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	waiting := p.queue.Waiting(owner)
	switch {
	case waiting == 0 && p.may(owner):
		p.take(owner) // no waiting request may take the place, so it does not count in the fair order
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
	return p.held[owner] < perFree*p.free
}

// Of returns the number of places that an account holds, and the number of its waiting requests.
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

// giveUp removes a request from the queue; false if the request has its place already.
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

// WithAccount returns a context with an account.
func WithAccount(ctx context.Context, owner Account) context.Context {
	return context.WithValue(ctx, accountKey{}, owner)
}

// anonymous is the account of a context without WithAccount.
type anonymous struct{}

func (anonymous) Priority() int { return 1 }

func accountOf(ctx context.Context) Account {
	if owner, ok := ctx.Value(accountKey{}).(Account); ok {
		return owner
	}
	return anonymous{}
}
