package answers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/bulkcat/bulkcat/client/limits"
)

// Options describe a store.
type Options struct {
	Path          string        // of the file; made if it is not there, with its folder
	Source        string        // the service whose answers are looked up and kept
	MaxAge        time.Duration // an answer that is older when the store is opened is ignored; 0 for any age
	RetryRejected bool          // a rejection that is there when the store is opened is ignored
	MustExist     bool          // a store that is not there is refused with a *MissingError, not made
	ReadOnly      bool          // nothing is changed; implies MustExist
	Exclusive     bool          // no other process opens the store meanwhile; for a network file system
	Log           *slog.Logger  // nil for none

	vfs string // of the engine; "" for the machine's file system
}

// Store is the answers of services on disk. It is safe for concurrent use, also by several processes.
//
// The first error ends the store: each call from then on returns the same error. All that was committed is there when
// the store is opened again.
type Store struct {
	options Options
	opened  time.Time              // in whole microseconds, as answers have their time
	files   map[string]os.FileInfo // that each process with the store has open, by their names
	failure atomic.Pointer[error]

	readers chan *conn // idle
	made    atomic.Int64

	writes  chan struct{} // of capacity 1: holds a token while a goroutine uses what follows. No mutex: holders may sleep
	writer  *conn         // nil in a store that is only read
	synced  bool          // the writer syncs each commit
	version int64         // that the engine told last: see noticeOthers
	owner   *owner        // nil if nothing is claimed
	beat    *time.Ticker
	beats   sync.WaitGroup
	shown   atomic.Pointer[time.Time] // when the owner has shown last that it lives
	lapses  atomic.Int64
	changes atomic.Int64 // how often outcomes may have come without a claim of this Store, plus one
	closed  chan struct{}

	notesLock *os.File // nil without LockNotes

	claims   sync.Mutex  // guards what follows
	claiming []*claiming // that wait for writes
	released []key       // claims that are to be given back
}

// Open opens the store, or makes it. The error is a *MissingError, *ForeignError, *NewerError, *NetworkError,
// *DamageError or *FailedError.
func Open(o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.MustExist = o.MustExist || o.ReadOnly
	s, err := open(o)
	if err != nil {
		return nil, explain(o.Path, err)
	}
	return s, nil
}

func open(o Options) (*Store, error) {
	err := inspect(o.Path)
	if _, missing := errors.AsType[*MissingError](err); missing && !o.MustExist {
		if err = o.checkPlace(); err == nil {
			err = o.create()
		}
		if err == nil {
			err = inspect(o.Path)
		}
	}
	if err == nil {
		err = o.checkPlace()
	}
	if err != nil {
		return nil, err
	}
	s := &Store{options: o, opened: time.Now().Truncate(time.Microsecond), files: make(map[string]os.FileInfo), readers: make(chan *conn, mostReaders), closed: make(chan struct{}), writes: make(chan struct{}, 1), synced: true}
	s.changes.Store(1)
	c, err := o.connect()
	if _, missing := errors.AsType[*MissingError](err); missing && !o.MustExist {
		if err = o.create(); err == nil {
			c, err = o.connect()
		}
	}
	if err != nil {
		return nil, err
	}
	err = c.query("SELECT count(*) FROM (SELECT 1 FROM answers LIMIT 1)", nil) // the schema is read, and an exclusive lock taken
	for _, name := range Files(o.Path)[:3] {
		if info, statErr := os.Stat(name); statErr == nil {
			s.files[name] = info
		}
	}
	if err == nil && o.Exclusive && !o.ReadOnly {
		err = c.transaction("BEGIN EXCLUSIVE", func() error { return nil })
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	if o.ReadOnly {
		s.readers <- c
		s.made.Store(1)
		return s, nil
	}
	s.writer = c
	return s, nil
}

// checkPlace refuses a store that processes would share on a file system of the network.
func (o *Options) checkPlace() error {
	if o.Exclusive {
		return nil
	}
	if system := networkOf(o.Path); system != "" {
		return &NetworkError{Path: o.Path, System: system}
	}
	return nil
}

// mostReaders is how many goroutines of the process look up at the same time.
const mostReaders = 4

// read lends a connection to work.
func (s *Store) read(work func(*conn) error) error {
	if err := s.failure.Load(); err != nil {
		return *err
	}
	if s.options.Exclusive && s.writer != nil {
		return s.write(true, work)
	}
	var c *conn
	select {
	case c = <-s.readers:
	default:
		if s.made.Add(1) > mostReaders || s.writer == nil {
			s.made.Add(-1)
			c = <-s.readers
			break
		}
		var err error
		if c, err = s.options.connect(); err != nil {
			s.made.Add(-1)
			return s.fail(err)
		}
	}
	defer func() { s.readers <- c }()
	return s.fail(work(c))
}

// write lends the connection that writes to work. Commits that are not synced may be lost with the power, and only
// before the next that is.
func (s *Store) write(synced bool, work func(*conn) error) error {
	s.writes <- struct{}{}
	defer func() { <-s.writes }()
	return s.writeAlone(synced, work)
}

// writeAlone is write for a caller that holds writes.
func (s *Store) writeAlone(synced bool, work func(*conn) error) error {
	if err := s.failure.Load(); err != nil {
		return *err
	}
	if s.writer == nil {
		return s.fail(errors.New("the store is only read"))
	}
	if synced != s.synced {
		level := "NORMAL"
		if synced {
			level = "FULL"
		}
		if err := s.writer.Exec("PRAGMA synchronous = " + level); err != nil {
			return s.fail(err)
		}
		s.synced = synced
	}
	return s.fail(work(s.writer))
}

// fail makes an error sticky, unless it is the caller's.
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

// callerError is an error of a function that the caller has passed, or the end of its context.
type callerError struct{ err error }

func (e *callerError) Error() string { return e.err.Error() }

// checkFiles returns an error if a file of the store has been removed or replaced: other processes would not see what is
// written.
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

// Close gives back all claims, and closes the store. The last process leaves one file. Each call from then on returns an
// error, and another Close nil.
func (s *Store) Close() error {
	select {
	case <-s.closed:
		return nil
	default:
	}
	close(s.closed)
	s.beats.Wait()
	err := s.disown()
	closed := error(&FailedError{Path: s.options.Path, Err: errClosed})
	failed := !s.failure.CompareAndSwap(nil, &closed)
	s.writes <- struct{}{} // after a commit that has begun
	defer func() { <-s.writes }()
	for range s.made.Load() {
		err = errors.Join(err, (<-s.readers).close())
	}
	if s.writer != nil {
		if !s.options.Exclusive {
			// Other programs that have the store open must not find pages there to move: they leave out the checksums. And the
			// engine leaves the journal of a file that was moved.
			_, _, checkpointErr := s.writer.WALCheckpoint("main", sqlite3.CHECKPOINT_PASSIVE)
			if !errors.Is(checkpointErr, sqlite3.BUSY) { // another process is at it
				err = errors.Join(err, checkpointErr)
			}
		}
		err = errors.Join(err, s.writer.close())
	}
	if s.notesLock != nil {
		s.notesLock.Close() // nothing was written; the lock ends
	}
	if failed { // the caller has the error
		return nil
	}
	return explain(s.options.Path, err)
}

// Size is the number of bytes of the store's files.
func (s *Store) Size() (sum int64, err error) {
	for _, name := range Files(s.options.Path)[:2] {
		if info, err := os.Stat(name); err == nil {
			sum += info.Size()
		}
	}
	return sum, nil
}

// Has reports whether the store has an outcome of a source.
func (s *Store) Has(source string) (has bool, err error) {
	err = s.read(func(c *conn) error {
		return c.query("SELECT 1 FROM answers WHERE service = ? LIMIT 1", func(*sqlite3.Stmt) error { has = true; return nil }, source)
	})
	return has, err
}

// Note is what a caller keeps under a name beside the answers of the store's source; nil if there is none.
func (s *Store) Note(name string) ([]byte, error) { return s.NoteOf(s.options.Source, name) }

// NoteOf is Note for another source.
func (s *Store) NoteOf(source, name string) (body []byte, err error) {
	err = s.read(func(c *conn) error {
		return c.query("SELECT body FROM notes WHERE service = ? AND name = ?", func(row *sqlite3.Stmt) error {
			body = bytes.Clone(row.ColumnRawBlob(0))
			return nil
		}, source, name)
	})
	return body, err
}

// Learned is what a run has learned of the service.
type Learned = limits.Learned

// learnedNote is the name of the note with what was learned.
const learnedNote = "learned"

// Learned is what an earlier run has learned of the service.
func (s *Store) Learned() (l Learned, err error) {
	body, err := s.Note(learnedNote)
	if err != nil || body == nil {
		return l, err
	}
	if json.Unmarshal(body, &l) != nil || !l.IsValid() { // learned again
		return Learned{}, nil
	}
	return l, nil
}

// KeepLearned keeps what was learned for the next run.
func (s *Store) KeepLearned(l Learned) error {
	body, err := json.Marshal(l)
	if err != nil {
		return err
	}
	b := s.NewBatch()
	b.AddNote(learnedNote, body)
	return b.Commit()
}
