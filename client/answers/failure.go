package answers

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// failure is the sticky error of a store: the first error of the disk ends the store. It is also
// the logger of the index's database, which reports there that it cannot go on.
type failure struct {
	dir   string
	once  sync.Once
	done  chan struct{} // closed once the store has failed
	cause error         // set before done is closed
}

// set keeps the first error for good, and returns the error that is kept; nil for nil.
func (f *failure) set(err error) error {
	if err == nil {
		return nil
	}
	f.once.Do(func() {
		f.cause = storeError(f.dir, err)
		close(f.done)
	})
	return f.cause
}

// err is nil as long as the store has not failed.
func (f *failure) err() error {
	select {
	case <-f.done:
		return f.cause
	default:
		return nil
	}
}

// Infof drops the database's reports of its work.
func (f *failure) Infof(string, ...any) {}

// Errorf drops errors that a call returns as well, or that come as background errors.
func (f *failure) Errorf(string, ...any) {}

// Fatalf must not return. It may run in a goroutine of the database.
func (f *failure) Fatalf(format string, args ...any) {
	err := fmt.Errorf(format, args...)
	for _, arg := range args {
		if cause, ok := arg.(error); ok {
			err = cause // the format may not wrap the error
		}
	}
	f.end(err)
}

// end keeps the error and ends the calling goroutine: the database would try a failed write
// again at once and without end.
func (f *failure) end(err error) {
	f.set(err)
	runtime.Goexit()
}

// guard calls the database in a goroutine of its own, because a database that fails may end that
// goroutine or block it forever. When the store fails, guard stops waiting; the memory that work
// uses then belongs to work.
func guard(f *failure, work func() error) error {
	if err := f.err(); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-f.done:
		return f.cause
	}
}

// indexFS is the file system of the index's database, which panics when a folder cannot be
// synced. indexFS keeps the error and blocks the goroutine instead.
type indexFS struct {
	vfs.FS
	failure *failure
}

// OpenDir opens a folder, to be synced.
func (f indexFS) OpenDir(name string) (vfs.File, error) {
	dir, err := f.FS.OpenDir(name)
	return indexFolder{dir, f.failure}, err
}

type indexFolder struct {
	vfs.File
	failure *failure
}

// Sync makes the entries of the folder durable.
func (f indexFolder) Sync() error {
	if err := f.File.Sync(); err != nil {
		f.failure.set(errors.Join(err, f.File.Close()))
		select {}
	}
	return nil
}
