package answers

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/bulkcat/bulkcat/client"
)

// Options describe a store.
type Options struct {
	Dir           string        // made if it is not there
	Source        string        // the service whose answers are looked up and kept
	MaxAge        time.Duration // an older answer counts as none; 0 for any age
	RetryRejected bool          // a stored rejection counts as none
	FS            vfs.FS        // default: the machine's
}

// Store is the answers of one service on disk. It is safe for concurrent use by one
// process; a second process is refused.
type Store struct {
	options Options
	db      *pebble.DB
	keys    sync.Pool // *[]byte
}

// LockedError says that another process has the store open.
type LockedError struct {
	Dir string
	PID int // 0 if unknown
}

func (e *LockedError) Error() string {
	owner := "another process"
	if e.PID != 0 {
		owner = "process " + strconv.Itoa(e.PID)
	}
	return fmt.Sprintf("the store %s is in use by %s: wait for it to end, or choose another with --store", e.Dir, owner)
}

// VersionError says that the store was written by a newer bulkcat.
type VersionError struct {
	Dir     string
	Version string
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("the store %s has format %q, this bulkcat reads format %s: use a newer bulkcat, or choose another store with --store", e.Dir, e.Version, formatVersion)
}

const (
	formatVersion = "1"
	ownerFile     = "OWNER" // the process that has, or last had, the store open
)

// formatKey sorts before every source and can be no source: those are URLs.
var formatKey = []byte("\x00format")

// Open opens the store, or makes it.
func Open(options Options) (*Store, error) {
	if options.FS == nil {
		options.FS = vfs.Default
	}
	if err := options.FS.MkdirAll(options.Dir, 0o777); err != nil {
		return nil, fmt.Errorf("make the store %s: %w", options.Dir, err)
	}
	db, err := pebble.Open(options.Dir, pebbleOptions(options.FS))
	if err != nil {
		if isLocked(err) {
			return nil, &LockedError{Dir: options.Dir, PID: readOwner(options)}
		}
		return nil, fmt.Errorf("open the store %s: %w", options.Dir, err)
	}
	s := &Store{options: options, db: db, keys: sync.Pool{New: func() any { return new([]byte) }}}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

// pebbleOptions are chosen for a store that is written once in any order and looked up
// at random: a filter of 10 bits a key spares 99% of the reads for keys that are not
// there, and compression is strong at the bottom, where nearly all data lies.
func pebbleOptions(files vfs.FS) *pebble.Options {
	o := &pebble.Options{
		FS:                 files,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             silent{},
		MemTableSize:       16 << 20,
		CacheSize:          32 << 20,
		MaxOpenFiles:       256,
	}
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		o.Levels[i].FilterType = pebble.TableFilter
	}
	return o
}

// silent drops pebble's log; its errors come back from the calls.
type silent struct{}

func (silent) Infof(string, ...any)  {}
func (silent) Errorf(string, ...any) {}
func (silent) Fatalf(format string, args ...any) {
	panic(fmt.Sprintf(format, args...)) // pebble's contract: must not return
}

func isLocked(err error) bool {
	return errors.Is(err, syscall.EAGAIN) || errors.Is(err, syscall.EACCES) && !errors.Is(err, fs.ErrPermission) ||
		strings.Contains(err.Error(), "lock held by current process")
}

// prepare checks the format of an old store, marks a new one, and signs it.
func (s *Store) prepare() error {
	value, closer, err := s.db.Get(formatKey)
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		if err := s.db.Set(formatKey, []byte(formatVersion), pebble.Sync); err != nil {
			return fmt.Errorf("prepare the store %s: %w", s.options.Dir, err)
		}
	case err != nil:
		return fmt.Errorf("read the store %s: %w", s.options.Dir, err)
	default:
		version := string(value)
		if err := closer.Close(); err != nil {
			return fmt.Errorf("read the store %s: %w", s.options.Dir, err)
		}
		if version != formatVersion {
			return &VersionError{Dir: s.options.Dir, Version: version}
		}
	}
	return s.signOwner()
}

func (s *Store) signOwner() error {
	path := s.options.FS.PathJoin(s.options.Dir, ownerFile)
	f, err := s.options.FS.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write([]byte(strconv.Itoa(os.Getpid()) + "\n"))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
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

// Lookup gives the stored outcome of a request, and whether there is one that still
// counts. A damaged value counts as none: it is asked again and written over.
func (s *Store) Lookup(r client.Request) (Outcome, bool, error) {
	buf := s.keys.Get().(*[]byte)
	defer s.keys.Put(buf)
	key := appendKey((*buf)[:0], s.options.Source, r)
	*buf = key
	value, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return Outcome{}, false, nil
	}
	if err != nil {
		return Outcome{}, false, fmt.Errorf("look up in the store %s: %w", s.options.Dir, err)
	}
	outcome, parseErr := parseValue(key, value, r.Classification)
	if err := closer.Close(); err != nil {
		return Outcome{}, false, fmt.Errorf("look up in the store %s: %w", s.options.Dir, err)
	}
	return outcome, parseErr == nil && s.counts(outcome), nil
}

func (s *Store) counts(o Outcome) bool {
	if o.Rejection != nil && s.options.RetryRejected {
		return false
	}
	return s.options.MaxAge <= 0 || time.Since(o.Answer.AnsweredAt) <= s.options.MaxAge
}

// Batch gathers outcomes that become durable together.
type Batch struct {
	store      *Store
	batch      *pebble.Batch
	key, value []byte
}

// NewBatch starts an empty batch. It is for one goroutine, and reused after Commit.
func (s *Store) NewBatch() *Batch { return &Batch{store: s, batch: s.db.NewBatch()} }

// Add puts an outcome into the batch.
func (b *Batch) Add(r client.Request, o Outcome) error {
	b.key = appendKey(b.key[:0], b.store.options.Source, r)
	b.value = appendValue(b.value[:0], b.key, o)
	if err := b.batch.Set(b.key, b.value, nil); err != nil {
		return fmt.Errorf("add to the store %s: %w", b.store.options.Dir, err)
	}
	return nil
}

// Commit makes all that was added durable with one fsync, and empties the batch.
func (b *Batch) Commit() error {
	if err := b.batch.Commit(pebble.Sync); err != nil {
		return fmt.Errorf("write to the store %s: %w", b.store.options.Dir, err)
	}
	b.batch.Reset()
	return nil
}

// Close gives the batch's memory back.
func (b *Batch) Close() error { return b.batch.Close() }

// Close flushes and closes the store.
func (s *Store) Close() error {
	if err := s.db.Close(); err != nil {
		return fmt.Errorf("close the store %s: %w", s.options.Dir, err)
	}
	return nil
}

// ratePrefix, like formatKey, sorts before every source.
const ratePrefix = "\x00rate\x00"

// LearnedRate is the rate of the service, in requests a second, that an earlier run
// has learned; 0 if none has.
func (s *Store) LearnedRate() (float64, error) {
	value, closer, err := s.db.Get([]byte(ratePrefix + s.options.Source))
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("read the store %s: %w", s.options.Dir, err)
	}
	learned, parseErr := strconv.ParseFloat(string(value), 64)
	if err := closer.Close(); err != nil {
		return 0, fmt.Errorf("read the store %s: %w", s.options.Dir, err)
	}
	if parseErr != nil || !(learned > 0 && learned < 1e6) {
		return 0, nil // learned anew
	}
	return learned, nil
}

// KeepLearnedRate keeps the rate for the next run.
func (s *Store) KeepLearnedRate(perSecond float64) error {
	value := strconv.AppendFloat(nil, perSecond, 'f', 3, 64)
	if err := s.db.Set([]byte(ratePrefix+s.options.Source), value, pebble.Sync); err != nil {
		return fmt.Errorf("write to the store %s: %w", s.options.Dir, err)
	}
	return nil
}
