// Package room bounds the memory that readers of what others send take together. Each of them may
// need much, but few do: a bound for each that held for all at once would be far too low.
package room

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// A Room has a size in bytes. It is safe for concurrent use.
type Room struct {
	free  *semaphore.Weighted
	alone chan struct{} // full while a share grows beyond the room
}

// New gives an empty room.
func New(size int64) *Room {
	return &Room{free: semaphore.NewWeighted(size), alone: make(chan struct{}, 1)}
}

// Share is what one reader takes of a room. It is for one goroutine at a time.
type Share struct {
	room  *Room
	held  int64
	alone bool
}

// Share gives a share that holds nothing yet.
func (r *Room) Share() *Share { return &Share{room: r} }

// Grow adds bytes to the share. Where the room is full, one share at a time grows on all the same,
// up to its own bound, so that it comes to its end and gives back what it holds; the others wait. The
// error is the context's.
func (s *Share) Grow(ctx context.Context, bytes int64) error {
	switch {
	case s.alone:
		return nil
	case s.room.free.TryAcquire(bytes):
		s.held += bytes
		return nil
	}
	select {
	case s.room.alone <- struct{}{}:
		s.alone = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Release gives all back. A nil share holds nothing.
func (s *Share) Release() {
	if s == nil {
		return
	}
	s.room.free.Release(s.held)
	s.held = 0
	if s.alone {
		<-s.room.alone
		s.alone = false
	}
}
