package answers

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// Options describe a store.
type Options struct {
	Path          string        // the file; Open makes a missing file and its folder
	Source        string        // the service whose answers are looked up and stored
	MaxAge        time.Duration // answers older than this when the store is opened are ignored; 0 for any age
	RetryRejected bool          // rejections from before the store is opened are ignored
	MustExist     bool          // a missing store is an error of the kind Missing, and is not made
	ReadOnly      bool          // the store is not changed; implies MustExist
	Exclusive     bool          // no other process may open the store; for a network file system

	vfs string // file system of the engine; "" for the machine's
}

// Store keeps the answers of services on disk. It is safe for concurrent use, also by several processes.
//
// After its first error, every call returns the same error. Opening the store again finds all that was committed.
type Store struct {
	options Options
	opened  time.Time              // in whole microseconds, like the times of answers
	files   map[string]os.FileInfo // the files that every process with the store has open, by name
	failure atomic.Pointer[error]
	closed  chan struct{}

	readers chan *conn    // idle
	reading chan struct{} // has a token for each connection of readers, idle or not

	using  chan struct{} // of capacity 1: holds a token while a goroutine uses the fields below. Not a mutex, because commit waits in a select
	main   *conn         // writes; also reads if the store is exclusive or read-only
	synced bool          // main syncs each commit
	owner  owner

	waiting  sync.Mutex         // guards the fields below
	changes  map[bool][]*change // that wait for using, by whether they are synced
	released []int64            // claims to give back

	notesLock *os.File // nil without LockNotes
}

// Open opens the store, or makes it if it is missing. The error is an *Error.
func Open(o Options) (*Store, error) {
	o.MustExist = o.MustExist || o.ReadOnly
	s := &Store{
		options: o, opened: time.Now().Truncate(time.Microsecond), files: make(map[string]os.FileInfo), closed: make(chan struct{}),
		readers: make(chan *conn, mostReaders), reading: make(chan struct{}, mostReaders), using: make(chan struct{}, 1), synced: true, changes: make(map[bool][]*change),
	}
	if err := s.open(); err != nil {
		return nil, explain(o.Path, err)
	}
	return s, nil
}

func (s *Store) open() (err error) {
	o := &s.options
	s.main, err = o.connect()
	if errors.Is(err, Missing) && !o.MustExist {
		if err = o.create(); err == nil {
			s.main, err = o.connect()
		}
	}
	if err != nil {
		return err
	}
	_, err = s.main.any("SELECT 1 FROM answers LIMIT 1") // reads the schema
	for _, name := range Files(o.Path)[:3] {
		if info, statErr := os.Stat(name); statErr == nil {
			s.files[name] = info
		}
	}
	if err == nil && o.Exclusive && !o.ReadOnly {
		err = s.main.transaction("BEGIN EXCLUSIVE", func() error { return nil })
	}
	if err != nil {
		return errors.Join(err, s.main.close())
	}
	return nil
}

// mostReaders is the most goroutines that look up at the same time.
const mostReaders = 4

// read runs work with a connection.
func (s *Store) read(work func(*conn) error) error {
	if s.options.Exclusive || s.options.ReadOnly {
		return s.use(true, work)
	}
	if err := s.failure.Load(); err != nil {
		return *err
	}
	var c *conn
	select {
	case c = <-s.readers:
	default:
		select {
		case c = <-s.readers:
		case s.reading <- struct{}{}:
			var err error
			if c, err = s.connectAgain(); err != nil {
				<-s.reading
				return s.fail(err)
			}
		case <-s.closed:
			return s.closedError()
		}
	}
	defer func() { s.readers <- c }()
	return s.fail(work(c))
}

// connectAgain opens a further connection to the open store.
func (s *Store) connectAgain() (*conn, error) {
	c, err := s.options.connect()
	gone := s.checkFiles()
	if gone == nil || err != nil {
		return c, cmp.Or(gone, err)
	}
	return nil, errors.Join(gone, c.close()) // the connection may be to another store
}

// use runs work with the main connection. A power failure may lose commits that are not synced, until the next synced commit.
func (s *Store) use(synced bool, work func(*conn) error) error {
	s.using <- struct{}{}
	defer func() { <-s.using }()
	return s.useLocked(synced, work)
}

// useLocked is use for a caller that has put a token into s.using.
func (s *Store) useLocked(synced bool, work func(*conn) error) error {
	if err := s.failure.Load(); err != nil {
		return *err
	}
	if synced != s.synced {
		level := "NORMAL"
		if synced {
			level = "FULL"
		}
		if err := s.main.Exec("PRAGMA synchronous = " + level); err != nil {
			return s.fail(err)
		}
		s.synced = synced
	}
	return s.fail(work(s.main))
}

// change is a call of commit.
type change struct {
	work func(*conn) error
	done chan struct{} // closed when err is set
	err  error
}

// commit runs work in a transaction of the main connection. Calls that wait while another goroutine uses the connection share
// a transaction: the error of one is the error of all.
func (s *Store) commit(synced bool, work func(*conn) error) error {
	own := &change{work: work, done: make(chan struct{})}
	s.waiting.Lock()
	s.changes[synced] = append(s.changes[synced], own)
	s.waiting.Unlock()
	select {
	case <-own.done:
	case s.using <- struct{}{}:
		s.commitAll()
		<-s.using
	}
	<-own.done
	return own.err
}

// commitAll runs all waiting changes: first those that are not synced, which so do not wait for the disk. The caller has put a
// token into s.using.
func (s *Store) commitAll() {
	s.waiting.Lock()
	waiting := s.changes
	s.changes = make(map[bool][]*change)
	s.waiting.Unlock()
	for _, synced := range []bool{false, true} {
		changes := waiting[synced]
		if len(changes) == 0 {
			continue
		}
		err := s.useLocked(synced, func(c *conn) error {
			return c.transaction("BEGIN IMMEDIATE", func() error {
				err := s.giveBack(c)
				for _, change := range changes {
					if err == nil {
						err = change.work(c)
					}
				}
				return cmp.Or(err, s.checkFiles())
			})
		})
		for _, change := range changes {
			change.err = err
			close(change.done)
		}
	}
}

// fail makes an error sticky, unless it is a callerError.
func (s *Store) fail(err error) error {
	if own, ok := errors.AsType[*callerError](err); ok {
		return own.err
	}
	if err = explain(s.options.Path, err); err != nil {
		s.failure.CompareAndSwap(nil, &err)
		err = *s.failure.Load()
	}
	return err
}

// callerError is an error of the caller's function or context, not of the store.
type callerError struct{ err error }

func (e *callerError) Error() string { return e.err.Error() }

// checkFiles returns an error if a file of the store has been removed or replaced: other processes would not see new answers.
func (s *Store) checkFiles() error {
	for name, opened := range s.files {
		if info, err := os.Stat(name); err != nil || !os.SameFile(info, opened) {
			return fmt.Errorf("%w: %s", errGone, name)
		}
	}
	return nil
}

// Path is the path of the store.
func (s *Store) Path() string { return s.options.Path }

// Close gives back all claims, and closes the store. When the last process closes it, one file is left. Afterwards every method
// returns an error, except that Close returns nil. It does nothing for nil.
func (s *Store) Close() error {
	if s == nil {
		return nil
	}
	select {
	case <-s.closed:
		return nil
	default:
	}
	close(s.closed)
	err := s.disown()
	closed := s.closedError()
	failed := !s.failure.CompareAndSwap(nil, &closed)
	s.using <- struct{}{} // a commit that has begun ends first
	defer func() { <-s.using }()
	for range mostReaders {
		select {
		case s.reading <- struct{}{}: // no connection is opened any more
		case c := <-s.readers:
			err = errors.Join(err, c.close())
		}
	}
	if !s.options.Exclusive && !s.options.ReadOnly {
		// Other programs that have the store open would move the pages of the journal without checksums, so it must be empty.
		// The engine does not empty the journal of a file that was moved.
		_, _, checkpointErr := s.main.WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE)
		if !errors.Is(checkpointErr, sqlite3.BUSY) { // else another process is moving the pages
			err = errors.Join(err, checkpointErr)
		}
	}
	err = errors.Join(err, s.main.close())
	if s.notesLock != nil {
		s.notesLock.Close() // releases the lock; nothing was written
	}
	if failed { // an earlier call returned the error
		return nil
	}
	return explain(s.options.Path, err)
}

func (s *Store) closedError() error { return &Error{s.options.Path, Failed, errClosed} }

// Size is the number of bytes of the store's files.
func (s *Store) Size() (sum int64) {
	for _, name := range Files(s.options.Path)[:2] {
		if info, err := os.Stat(name); err == nil {
			sum += info.Size()
		}
	}
	return sum
}

// Has reports whether the store, which may be nil, has an outcome of a source.
func (s *Store) Has(source string) (has bool, err error) {
	if s == nil {
		return false, nil
	}
	err = s.read(func(c *conn) (err error) {
		has, err = c.any("SELECT 1 FROM answers WHERE service = ? LIMIT 1", source)
		return err
	})
	return has, err
}
