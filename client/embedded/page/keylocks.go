package page

import (
	"context"
	"sync"

	"github.com/bulkcat/bulkcat/client/internal/fair"
)

// keyLocks are mutual-exclusion locks by key. The accounts of contexts get a lock in a fair order. The zero value is ready to
// use.
type keyLocks struct {
	mu    sync.Mutex
	locks map[string]*keyLock // the locks that a goroutine holds or waits for
}

type keyLock struct {
	place *fair.Places // one place
	users int          // goroutines that hold the lock or wait for it
}

// lock locks a key until unlock is called. The error comes from the context.
func (l *keyLocks) lock(ctx context.Context, key string) (unlock func(), err error) {
	k := l.join(key)
	leave, err := k.place.Take(ctx)
	if err != nil {
		l.leave(key, k)
		return nil, ctx.Err()
	}
	return func() { leave(); l.leave(key, k) }, nil
}

func (l *keyLocks) join(key string) *keyLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, ok := l.locks[key]
	if !ok {
		if l.locks == nil {
			l.locks = map[string]*keyLock{}
		}
		k = &keyLock{place: fair.NewPlaces(1, false)}
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
