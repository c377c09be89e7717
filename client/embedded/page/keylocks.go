package page

import (
	"context"
	"sync"
)

// keyLocks are mutual-exclusion locks by key. The zero value is ready to use.
type keyLocks struct {
	mu    sync.Mutex
	locks map[string]*keyLock // of keys that are locked or waited for
}

type keyLock struct {
	token chan struct{} // full while locked; the runtime serves waiting goroutines in order
	users int           // goroutines that hold the lock or wait for it
}

// lock locks a key until unlock is called. The error is that of the context.
func (l *keyLocks) lock(ctx context.Context, key string) (unlock func(), err error) {
	k := l.join(key)
	select {
	case k.token <- struct{}{}:
		return func() { <-k.token; l.leave(key, k) }, nil
	case <-ctx.Done():
		l.leave(key, k)
		return nil, ctx.Err()
	}
}

func (l *keyLocks) join(key string) *keyLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.locks[key]
	if !ok {
		if l.locks == nil {
			l.locks = map[string]*keyLock{}
		}
		k = &keyLock{token: make(chan struct{}, 1)}
		l.locks[key] = k
	}
	k.users++
	return k
}

func (l *keyLocks) leave(key string, k *keyLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.users--; k.users == 0 {
		delete(l.locks, key)
	}
}
