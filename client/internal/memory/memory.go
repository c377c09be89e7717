// Package memory bounds the memory that concurrent readers of untrusted data use together. A few readers may
// need much memory, so a fixed part for each reader would be too small.
package memory

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// A Pool is an amount of memory in bytes. It is safe for concurrent use.
type Pool struct {
	free  *semaphore.Weighted
	alone chan struct{} // full while a share exceeds the pool
}

// New returns a pool of size bytes, all free.
func New(size int64) *Pool {
	return &Pool{free: semaphore.NewWeighted(size), alone: make(chan struct{}, 1)}
}

// Share is the memory of one reader. It is for one goroutine at a time.
type Share struct {
	pool  *Pool
	bytes int64
	alone bool // the share exceeds the pool; memory that it takes then is not counted
}

// Share returns an empty share of the pool.
func (r *Pool) Share() *Share { return &Share{pool: r} }

// Grow adds bytes to the share. If the pool is full, one share at a time may exceed the pool, so that the share's reader can
// finish and release the share; Grow blocks for the other shares. The caller bounds each share. The error is the cause of ctx.
func (s *Share) Grow(ctx context.Context, bytes int64) error {
	if s.alone || s.TryGrow(bytes) {
		return nil
	}
	select {
	case s.pool.alone <- struct{}{}:
		s.alone = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// TryGrow adds bytes to the share if they are free, and reports whether they were.
func (s *Share) TryGrow(bytes int64) bool {
	ok := s.pool.free.TryAcquire(bytes)
	if ok {
		s.bytes += bytes
	}
	return ok
}

// Release returns the share's memory to the pool. It does nothing for a nil share.
func (s *Share) Release() {
	if s == nil {
		return
	}
	s.pool.free.Release(s.bytes)
	s.bytes = 0
	if s.alone {
		<-s.pool.alone
		s.alone = false
	}
}
