package answers

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// fate is whether a store has failed. It is the database's logger: that is where the
// database says that it cannot go on.
type fate struct {
	dir    string
	once   sync.Once
	failed chan struct{} // closed once the store has failed
	cause  error         // set before failed is closed
}

func newFate(dir string) *fate { return &fate{dir: dir, failed: make(chan struct{})} }

// fail keeps the first error for good.
func (f *fate) fail(err error) {
	f.once.Do(func() {
		f.cause = &FailedError{Dir: f.dir, Err: err}
		if gone, ok := errors.AsType[*GoneError](err); ok {
			f.cause = gone
		} else if pebble.IsCorruptionError(err) {
			f.cause = storeError(f.dir, "", err)
		}
		close(f.failed)
	})
}

// err is nil as long as the store has not failed.
func (f *fate) err() error {
	select {
	case <-f.failed:
		return f.cause
	default:
		return nil
	}
}

// Infof drops what the database says of its work.
func (f *fate) Infof(string, ...any) {}

// Errorf drops an error: what matters comes back from a call or as a background error.
func (f *fate) Errorf(string, ...any) {}

// Fatalf must not return. It may be called on a goroutine of the database, where a panic
// would end the process, so it ends that goroutine alone; guard releases who waits for it.
func (f *fate) Fatalf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	for _, arg := range args {
		if cause, ok := arg.(error); ok {
			err = cause // the format may not wrap it
		}
	}
	f.end(err)
}

// end fails, and ends the goroutine.
func (f *fate) end(err error) {
	f.fail(err)
	runtime.Goexit()
}

// wait fails, and never returns: whoever may not go on, and holds what may not be let go.
func (f *fate) wait(err error) {
	f.fail(err)
	select {}
}

// guard does work on a goroutine of its own, which may end or hang with the store, and
// gives up waiting for it when the store fails. A panic of the database counts as a
// failure, too. What the work uses belongs to it from then on.
func guard[T any](f *fate, work func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	var none T
	if err := f.err(); err != nil {
		return none, err
	}
	done := make(chan result, 1)
	go func() {
		defer func() {
			if r := recover(); r != nil {
				f.fail(panicError(r))
			}
		}()
		value, err := work()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-f.failed:
		return none, f.cause
	}
}

func panicError(r any) error {
	if err, ok := r.(error); ok {
		return err
	}
	return fmt.Errorf("%v", r)
}

// namingFS knows which file was opened last for reading: while a store is opened that is
// the one that an error is about.
type namingFS struct {
	vfs.FS
	name atomic.Pointer[string]
}

// Open opens a file for reading.
func (f *namingFS) Open(name string, options ...vfs.OpenOption) (vfs.File, error) {
	f.name.Store(&name)
	return f.FS.Open(name, options...)
}

func (f *namingFS) last() string {
	if name := f.name.Load(); name != nil {
		return *name
	}
	return ""
}
