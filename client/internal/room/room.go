// Package room bounds the memory that concurrent readers of untrusted data use together. A few readers may
// need much memory, so a fixed part for each reader would be too small.
package room

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// A Room is an amount of memory in bytes. It is safe for concurrent use.
type Room struct {
	free  *semaphore.Weighted
	alone chan struct{} // full while a share exceeds the room
}

// New returns a room of size bytes, all free.
func New(size int64) *Room {
	return &Room{free: semaphore.NewWeighted(size), alone: make(chan struct{}, 1)}
}

// Share is the memory of one reader. It is for one goroutine at a time.
type Share struct {
	room  *Room
	held  int64 // bytes
	alone bool  // the share exceeds the room, without a count
}

// Share returns an empty share of the room.
func (r *Room) Share() *Share { return &Share{room: r} }

// Grow adds bytes to the share. If the room is full, one share at a time may exceed it, so that its reader
// can finish and release the share; Grow blocks for the other shares. The caller bounds each share. The
// error is the cause of ctx.
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

// TryGrow adds bytes to the share if they are free, and reports whether they were.
func (s *Share) TryGrow(bytes int64) bool {
	ok := s.room.free.TryAcquire(bytes)
	if ok {
		s.held += bytes
	}
	return ok
}

// Release returns the share's memory to the room. It does nothing for a nil share.
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
