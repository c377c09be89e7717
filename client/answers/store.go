package answers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options describe a store.
type Options struct {
	Dir           string        // made if it is not there
	Source        string        // the service whose answers are looked up and kept
	MaxAge        time.Duration // an answer that is older when the store is opened is ignored; 0 for any age
	RetryRejected bool          // a rejection that is there when the store is opened is ignored
	MustExist     bool          // a store that is not there is refused with a *MissingError, not made
	ReadOnly      bool          // nothing is written but a lock; implies MustExist
	Log           *slog.Logger  // for damaged answers and a new index; nil for none
	FS            vfs.FS        // default: the machine's file system
}

// Store is the answers of services on disk. It is safe for concurrent use by one process; a
// second process is refused.
//
// The first error of the disk ends the store: calls that wait return, and each call from then
// on returns the same *FailedError. All that was committed is there when the store is opened
// again.
type Store struct {
	options Options
	opened  time.Time // in whole microseconds, as answers have their time
	lock    io.Closer
	failure *failure
	log     *log
	index   *index
	ahead   readAhead
	damage  damage

	replaced atomic.Uint64 // as in index.state
	writes   sync.Mutex    // held by the goroutine that appends to the log or makes the index anew, and by scans of the log
	making   sync.RWMutex  // held by lookups while they use the index, and while the index is made anew

	deleting  map[string]bool // keys whose records compaction leaves out
	dropIndex bool            // Close removes the index, after Delete

	unreadable error // why, in a store that is only read, an answer that is not found may be there
}

const (
	lockFile  = "LOCK"
	ownerFile = "OWNER" // names the process that has opened the store for writing last

	backupFile = "BACKUP" // of package backup
)

// Open opens the store, or makes it. The error is a *ForeignError, a *LockedError, a *VersionError, a
// *MissingError, a *DamageError or a *FailedError.
func Open(o Options) (*Store, error) {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := o.check(); err != nil {
		return nil, storeError(o.Dir, err)
	}
	if !o.ReadOnly {
		if err := makeFolder(o.FS, o.Dir); err != nil {
			return nil, storeError(o.Dir, err)
		}
	}
	lock, err := o.FS.Lock(o.FS.PathJoin(o.Dir, lockFile))
	if errors.Is(err, syscall.EAGAIN) || err != nil && strings.Contains(err.Error(), "lock held by current process") {
		return nil, &LockedError{Dir: o.Dir, PID: readOwner(o)}
	}
	if err != nil {
		return nil, storeError(o.Dir, err)
	}
	s := &Store{options: o, opened: time.Now().UTC().Truncate(time.Microsecond), lock: lock, failure: &failure{dir: o.Dir, done: make(chan struct{})}}
	s.log = &log{fs: o.FS, dir: o.Dir, readOnly: o.ReadOnly}
	s.writes.Lock()
	defer s.writes.Unlock()
	if err := s.open(); err != nil {
		s.close() // the first error is the cause
		return nil, storeError(o.Dir, err)
	}
	return s, nil
}

// makeFolder makes a folder that outlasts the loss of power. A folder that is there may be of a
// start that was killed before the folder was durable.
func makeFolder(files vfs.FS, name string) error {
	parent := files.PathDir(name)
	if _, err := files.Stat(parent); errors.Is(err, fs.ErrNotExist) && parent != name {
		if err := makeFolder(files, parent); err != nil {
			return err
		}
	}
	return errors.Join(files.MkdirAll(name, 0o777), syncFolder(files, parent))
}

// open opens the log and the index, and makes them agree.
func (s *Store) open() error {
	names, err := s.options.FS.List(s.options.Dir)
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		if strings.HasPrefix(name, "MANIFEST-") {
			return &VersionError{Dir: s.options.Dir, Version: "4 or older"}
		}
		if number := parseLogName(name); number != 0 {
			if err := s.log.add(number); err != nil {
				return err
			}
		}
	}
	if len(s.log.files) == 0 {
		if slices.Contains(names, ownerFile) {
			return &fs.PathError{Op: "open", Path: s.log.name(1), Err: fs.ErrNotExist}
		}
		if err := s.log.add(1); err != nil {
			return err
		}
	}
	if !s.options.ReadOnly { // a start may have been killed between making a file and syncing the folder
		if err := syncFolder(s.options.FS, s.options.Dir); err != nil {
			return err
		}
	}
	if s.index, err = openIndex(s.options, s.failure, s.mend); err != nil {
		return err
	}
	if err := s.match(); err != nil {
		return err
	}
	if err := s.withSoundIndex(s.replay); err != nil {
		return err
	}
	if err := s.trim(); err != nil || s.options.ReadOnly {
		return err
	}
	return s.signOwner()
}

func (s *Store) signOwner() error {
	f, err := s.options.FS.Create(s.options.FS.PathJoin(s.options.Dir, ownerFile), vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(strconv.Itoa(os.Getpid()) + "\n"))
	return errors.Join(err, f.Close())
}

// readOwner returns 0 for an owner that is not known.
func readOwner(o Options) int {
	text, _ := readStart(o.FS, o.FS.PathJoin(o.Dir, ownerFile), 20)
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// Damaged is the number of damaged packs and records that were met.
func (s *Store) Damaged() int64 { return s.damage.count() }

// rateKey is the key of the learned rate of a source. It sorts before every request's key.
func rateKey(source string) []byte { return []byte("\x00rate\x00" + source) }

// Learned is what a run has learned of the service.
type Learned = limits.Learned

// Learned is what an earlier run has learned of the service. Earlier builds kept the first fields only.
func (s *Store) Learned() (l Learned, err error) {
	w := []recordRef{{key: rateKey(s.options.Source)}}
	err = s.seek(w, func(w recordRef) {
		_, body := splitRecord(w.record)
		var window, silence float64
		_, _ = fmt.Sscan(string(body), &l.Rate, &l.Background, &l.Number, &window, &silence)
		l.Window, l.Silence = seconds(window), seconds(silence)
	})
	if !l.IsValid() { // damaged: learned again
		l = Learned{}
	}
	return l, s.failure.set(err)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// KeepLearned keeps what was learned for the next run.
func (s *Store) KeepLearned(l Learned) error {
	b := s.NewBatch()
	key, body := rateKey(s.options.Source), fmt.Appendf(nil, "%.3f %.4f %d %.3f %.3f", l.Rate, l.Background, l.Number, l.Window.Seconds(), l.Silence.Seconds())
	b.add(key, appendRecord(nil, kindRate, 0, time.Now(), key, body))
	return b.Commit()
}

// noteKey is the key of a note. It sorts before every request's key.
func noteKey(source, name string) []byte { return []byte("\x00note\x00" + source + "\x00" + name) }

// Note is what a caller keeps under a name beside the answers of the store's source; nil if there is
// none, or if it is damaged.
func (s *Store) Note(name string) (body []byte, err error) { return s.NoteOf(s.options.Source, name) }

// NoteOf is Note for another source.
func (s *Store) NoteOf(source, name string) (body []byte, err error) {
	w := []recordRef{{key: noteKey(source, name)}}
	err = s.seek(w, func(w recordRef) {
		_, found := splitRecord(w.record)
		body = bytes.Clone(found)
	})
	return body, s.failure.set(err)
}

// Close closes the store, after the index is durable. A store that has failed stays locked
// until the process ends, since its database may still write.
func (s *Store) Close() error {
	s.writes.Lock()
	defer s.writes.Unlock()
	if !s.options.ReadOnly {
		_ = s.index.flush() // close returns the error, which is sticky
	}
	return s.close()
}

// close closes all files as they are, and the index's only while the store has not failed.
func (s *Store) close() error {
	var err error
	if s.index != nil {
		err = s.index.close()
	}
	if err == nil && s.dropIndex {
		err = s.options.FS.RemoveAll(s.index.dir)
	}
	err = errors.Join(err, s.log.close())
	if failed := s.failure.err(); failed != nil {
		return failed
	}
	return storeError(s.options.Dir, errors.Join(err, s.lock.Close()))
}
