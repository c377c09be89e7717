package answers

import (
	"bytes"
	"errors"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options describe a store.
type Options struct {
	Dir           string        // made if it is not there
	Source        string        // the service whose answers are looked up and kept
	MaxAge        time.Duration // an answer that is older when the store is opened counts as none; 0 for any age
	RetryRejected bool          // a rejection that is there when the store is opened counts as none
	MustExist     bool          // a store that is not there is refused with a *MissingError, not made
	ReadOnly      bool          // nothing is written but a lock; implies MustExist
	Log           *slog.Logger  // told of damaged values; default: nobody
	FS            vfs.FS        // default: the machine's
}

// Store is the answers of one service on disk. It is safe for concurrent use by one
// process; a second process is refused.
//
// Once the disk refuses a write, the store has failed: what waits is released, and every
// call from then on gives the same *FailedError. What was committed before stays; it
// is there again when another process opens the store.
type Store struct {
	options  Options
	opened   time.Time // in whole microseconds, as answers have their time
	db       *pebble.DB
	fate     *fate
	damage   damage
	segments segments
	journal  journal
	recent   recent
	ahead    ahead
	hints    hints
	commits  sync.Mutex // of one after the other
	keys     *filter    // of all requests; nil where some were there when the store was opened

	writing    bool  // it is open, and not only to be read
	unreadable error // why, in a store that is only read, a key that is not found may be there
}

// ownerFile names the process that has, or last had, the store open for writing.
const ownerFile = "OWNER"

// Open opens the store, or makes it. The error is a *LockedError, a *VersionError, a
// *MissingError, a *DamageError or a *FailedError.
func Open(options Options) (*Store, error) {
	if options.FS == nil {
		options.FS = machineFS()
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	there, signed, err := look(options)
	if err != nil {
		return nil, &FailedError{Dir: options.Dir, Err: err}
	}
	if !there && (options.MustExist || options.ReadOnly) {
		return nil, &MissingError{Dir: options.Dir}
	}
	s := &Store{options: options, opened: time.Now().UTC().Truncate(time.Microsecond), fate: newFate(options.Dir)}
	files := &namingFS{FS: &logFS{options.FS, s.fate}}
	settings := pebbleOptions(files, s.fate)
	settings.ReadOnly = options.ReadOnly
	if !there {
		settings.CacheSize -= filterBytes // and it needs no filters of tables
	}
	settings.ErrorIfNotExists = signed                  // one that has lost its data is not begun anew
	settings.DisableConsistencyCheck = options.ReadOnly // what is readable is to be saved
	db, err := guard(s.fate, func() (*pebble.DB, error) {
		if !there { // the database's own folder would not be the group's to write, whatever the umask
			if err := options.FS.MkdirAll(options.Dir, 0o777); err != nil {
				return nil, err
			}
		}
		return pebble.Open(options.Dir, settings)
	})
	if err != nil {
		if isLocked(err) {
			return nil, &LockedError{Dir: options.Dir, PID: readOwner(options)}
		}
		return nil, storeError(options.Dir, files.last(), err)
	}
	s.db = db
	s.segments = segments{fs: options.FS, dir: options.Dir, readOnly: options.ReadOnly}
	s.journal.files = segments{fs: options.FS, dir: options.Dir, readOnly: options.ReadOnly}
	if err := s.prepare(signed); err != nil {
		if closeErr := s.Close(); !errors.Is(err, closeErr) { // a failed store says so again
			err = errors.Join(err, closeErr)
		}
		return nil, err
	}
	return s, nil
}

// look says whether a store is there, and whether a process has signed it: only a store
// that was whole is signed.
func look(options Options) (there, signed bool, err error) {
	names, err := options.FS.List(options.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	}
	if err != nil {
		return false, false, err
	}
	for _, name := range names {
		signed = signed || name == ownerFile
		there = there || strings.HasPrefix(name, "MANIFEST-")
	}
	return there || signed, signed, nil
}

// pebbleOptions are chosen for keys that are written once in any order and looked up at
// random: a filter of 10 bits a key spares 99% of the reads for keys that are not there.
//
// What is being written is taken out of the cache. With the rest of it too small to hold
// the filters, lookups read them from disk again and again: a table in memory of 16 MB and
// a cache of 32 made lookups in order take three times as long (BenchmarkLookup). To
// ask what a store of 5,000,000 answers does not have takes a seventh more time with a cache
// of 16, and seven times as much with one of 8. Hints make better use of what is above that:
// of the blocks that scattered lookups come to, a cache holds few in such a store.
//
// Keys come in any order, so that each merge of the latest tables rewrites all of the first
// level. They are merged when eight lie one above the other, and levels begin with 16 MiB:
// with the database's own two and 64, storing 3,000,000 answers wrote more than twice as much
// and took twice the instructions, more with every million. Scattered lookups are slower by
// 13% for it.
//
// Blocks are small, and left as they are: compressed, they would be smaller by a third, for time
// in each merge and each lookup. A table has one index, since an index of blocks is one more
// block to be read.
func pebbleOptions(files vfs.FS, fate *fate) *pebble.Options {
	o := &pebble.Options{
		FS:                 files,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             fate,
		EventListener: &pebble.EventListener{
			BackgroundError: fate.end,                           // the database would try again at once, for ever
			DataCorruption:  func(pebble.DataCorruptionInfo) {}, // not fatal: the call that met it tells
		},
		MemTableSize: 4 << 20,
		CacheSize:    40 << 20,
		MaxOpenFiles: 1000,

		L0CompactionThreshold: 16, // merged at half of it
		L0StopWritesThreshold: 32, // tables one above the other
		LBaseMaxBytes:         16 << 20,
	}
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.UniformDBCompressionSettings(block.NoCompression) })
	for i := range o.Levels {
		o.Levels[i].BlockSize = 4 << 10
		o.Levels[i].IndexBlockSize = math.MaxInt32
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		o.Levels[i].FilterType = pebble.TableFilter
	}
	return o
}

func isLocked(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || strings.Contains(err.Error(), "lock held by current process")
}

func (s *Store) signOwner() error {
	path := s.options.FS.PathJoin(s.options.Dir, ownerFile)
	f, err := s.options.FS.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return &FailedError{Dir: s.options.Dir, Err: err}
	}
	_, err = f.Write([]byte(strconv.Itoa(os.Getpid()) + "\n"))
	if err := errors.Join(err, f.Close()); err != nil {
		return &FailedError{Dir: s.options.Dir, Err: err}
	}
	return nil
}

func readOwner(options Options) int {
	text, err := os.ReadFile(filepath.Join(options.Dir, ownerFile))
	if err != nil {
		return 0 // only the message is poorer
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// Damaged is the number of damaged values that were met.
func (s *Store) Damaged() int64 { return s.damage.met() }

// get gives a copy of a value.
func (s *Store) get(key []byte) (value []byte, found bool, err error) {
	value, err = guard(s.fate, func() ([]byte, error) {
		value, closer, err := s.db.Get(key)
		if err != nil {
			return nil, err
		}
		return bytes.Clone(value), closer.Close()
	})
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	return value, err == nil, storeError(s.options.Dir, "", err)
}

func (s *Store) set(key, value []byte) error {
	_, err := guard(s.fate, func() (struct{}, error) {
		return struct{}{}, s.db.Set(key, value, pebble.Sync)
	})
	return storeError(s.options.Dir, "", err)
}

// Close closes the store, after the latest answers have moved: at rest, a store is as small as
// it gets, and quickly opened. One that has failed stays locked until the process ends, since
// writes of it may still be under way.
func (s *Store) Close() error {
	s.commits.Lock()
	defer s.commits.Unlock()
	_, err := guard(s.fate, func() (struct{}, error) { return struct{}{}, errors.Join(s.settle(), s.close()) })
	return storeError(s.options.Dir, "", err)
}

// settle empties the journal of a store that was opened for writing.
func (s *Store) settle() error {
	if !s.writing {
		return nil
	}
	if err := s.mustWrite(s.move()); err != nil {
		return err
	}
	return s.mustWrite(s.journal.shrink())
}

// close closes all files as they are.
func (s *Store) close() error {
	return errors.Join(s.db.Close(), s.segments.close(), s.journal.files.close())
}
