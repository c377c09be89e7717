package page

import (
	"context"
	"sync"
)

// turns lets one caller at a time go on for each key. The zero value is ready.
type turns struct {
	mu    sync.Mutex
	lines map[string]*line // of keys that somebody holds or waits for
}

// line is who holds a key, and how many hold or want it.
type line struct {
	held  chan struct{} // full while held; the runtime serves who waits in order
	count int
}

// take waits for the key's turn, which ends with release. Its error is that of
// the context.
func (t *turns) take(ctx context.Context, key string) (release func(), err error) {
	l := t.join(key)
	select {
	case l.held <- struct{}{}:
		return func() { <-l.held; t.leave(key, l) }, nil
	case <-ctx.Done():
		t.leave(key, l)
		return nil, ctx.Err()
	}
}

func (t *turns) join(key string) *line {
	t.mu.Lock()
	defer t.mu.Unlock()
	l, ok := t.lines[key]
	if !ok {
		if t.lines == nil {
			t.lines = map[string]*line{}
		}
		l = &line{held: make(chan struct{}, 1)}
		t.lines[key] = l
	}
	l.count++
	return l
}

func (t *turns) leave(key string, l *line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.count--; l.count == 0 {
		delete(t.lines, key)
	}
}
