package answers

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"slices"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	indexDir     = "index"
	indexVersion = 3
	oldVersion   = 2           // without Last and Sum; good enough for reading, since a new index takes memory then
	stateKey     = "\x00state" // sorts before every request's key
)

// index leads from the key of a record to the place of the newest record's pack. It is a database
// without a journal of its own: after a crash the index describes the log up to state.Indexed.
type index struct {
	db      *pebble.DB // nil in a store that is only read and has no sound index
	fs      vfs.FS
	dir     string
	failure *failure
	state   state            // each write to the database contains the state
	tail    map[keySum]place // what the log has behind state.Indexed, in a store that is only read

	damage atomic.Pointer[DamageError] // that was found; nil again once empty has replaced the database
	mend   func()                      // makes the index anew, after damage that the database finds in the background
}

// keySum stands for a key in memory. Whole keys take 140 bytes each, and slow down the garbage collector.
type keySum [16]byte

func sumOf(key []byte) keySum {
	sum := sha256.Sum256(key)
	return keySum(sum[:])
}

// state is what the index describes. Its fields lie in the database in this order.
type state struct {
	Version  uint8
	Indexed  place  // the end of the log that the index describes; 0 for an empty index
	First    uint32 // number of the first log file
	Records  uint64 // in the log
	Replaced uint64 // how many of these records have newer ones
	Last     place  // of the last pack before Indexed
	Sum      uint32 // that the header of the last pack has; in the log of another store it is another
}

// decode reads the state from the database; also the state of the version before, in a store that is only read.
func (s *state) decode(value []byte, readOnly bool) error {
	if missing := binary.Size(s.Last) + binary.Size(s.Sum); readOnly && len(value) == binary.Size(s)-missing {
		value = append(bytes.Clone(value), make([]byte, missing)...)
	}
	n, err := binary.Decode(value, binary.BigEndian, s)
	if err != nil || n != len(value) || s.Version != indexVersion && !(readOnly && s.Version == oldVersion) {
		return errors.New("the index has another version")
	}
	return nil
}

// openIndex opens the index, or makes an empty index if there is none that can be used.
func openIndex(o Options, f *failure, mend func()) (*index, error) {
	x := &index{fs: indexFS{o.FS, f}, dir: o.FS.PathJoin(o.Dir, indexDir), failure: f, mend: mend}
	if o.ReadOnly {
		x.tail = make(map[keySum]place)
	}
	err := guard(f, func() error { return x.open(o.ReadOnly) })
	if err == nil || f.err() != nil || isDisk(err) {
		return x, err
	}
	if !errors.Is(err, fs.ErrNotExist) {
		o.Log.Info("the index of the store cannot be used and is made anew from the log", "store", o.Dir, "reason", err)
	}
	return x, x.empty(o.ReadOnly)
}

// open opens the database that is there. The error is fs.ErrNotExist if there is none.
func (x *index) open(readOnly bool) error {
	if _, err := x.fs.Stat(x.dir); err != nil {
		return err
	}
	settings := x.settings()
	settings.ReadOnly, settings.ErrorIfNotExists = readOnly, true
	db, err := pebble.Open(x.dir, settings)
	if err != nil {
		return err
	}
	value, closer, err := db.Get([]byte(stateKey))
	if errors.Is(err, pebble.ErrNotFound) { // killed before the index was written for the first time
		err = nil
	} else if err == nil {
		err = errors.Join(x.state.decode(value, readOnly), closer.Close())
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	x.db = db
	return nil
}

// empty replaces the index by an empty index; in a store that is only read, by a map in memory.
func (x *index) empty(readOnly bool) error {
	x.state = state{}
	return guard(x.failure, func() (err error) {
		if x.db != nil {
			err = x.db.Close()
			x.db = nil
		}
		x.damage.Store(nil)
		if isDisk(err) || readOnly {
			return err
		}
		if err := x.fs.RemoveAll(x.dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := x.fs.MkdirAll(x.dir, 0o777); err != nil {
			return err
		}
		x.db, err = pebble.Open(x.dir, x.settings())
		return err
	})
}

// settings suit keys that are written once in any order and looked up at random. A filter of 10
// bits a key avoids 99% of the reads for keys that are not there, and the cache holds the filters
// of 10,000,000 keys. Each merge of the newest tables rewrites the whole first level, so that
// merges begin only when eight tables overlap, and the first level holds 16 MiB.
func (x *index) settings() *pebble.Options {
	o := &pebble.Options{
		FS:                 x.fs,
		DisableWAL:         true,
		DisableTableStats:  true, // their goroutine panics after Open has failed
		FormatMajorVersion: pebble.FormatValueSeparation,
		Logger:             x.failure,
		EventListener: &pebble.EventListener{
			BackgroundError: x.backgroundError,
			DataCorruption:  func(pebble.DataCorruptionInfo) {}, // the call that meets the damage returns it
		},
		MemTableSize:          4 << 20,
		CacheSize:             40 << 20,
		MaxOpenFiles:          1000,
		L0CompactionThreshold: 16, // merges begin at half of it
		L0StopWritesThreshold: 32,
		LBaseMaxBytes:         16 << 20,
	}
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return pebble.UniformDBCompressionSettings(block.NoCompression) })
	for i := range o.Levels {
		o.Levels[i].BlockSize = 4 << 10
		o.Levels[i].IndexBlockSize = math.MaxInt32 // an index of blocks is one more block to read
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
		o.Levels[i].FilterType = pebble.TableFilter
	}
	return o
}

// call calls the database. An error of the disk is sticky. Damage makes this and each later call return a
// *DamageError, until empty has replaced the database.
func (x *index) call(work func() error) error {
	err := guard(x.failure, func() error {
		if damage := x.damage.Load(); damage != nil {
			return damage
		}
		return work()
	})
	if err = x.explain(err); isIndexDamage(err) {
		return err
	}
	return x.failure.set(err)
}

// explain keeps what is wrong with the database as damage, and returns it. It returns other errors as they are.
func (x *index) explain(err error) error {
	if err == nil || isTyped(err) || isDisk(err) {
		return err
	}
	damage := &DamageError{Dir: x.failure.dir, File: x.dir, Index: true, Err: err}
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		damage.File = info.Path
	}
	x.damage.CompareAndSwap(nil, damage)
	return damage
}

// backgroundError receives the errors that no call returns. The database tries again at once and without end what has
// failed, so that a damaged database is replaced even if no call comes.
func (x *index) backgroundError(err error) {
	known := x.damage.Load() != nil
	if err = x.explain(err); !isIndexDamage(err) {
		x.failure.end(err)
	} else if !known {
		go x.mend()
	}
}

// find sorts keys and sets their places; 0 for a key that the index does not have. Seeking by
// prefix asks the filters first (a key is its own prefix).
func (x *index) find(keys []recordRef) error {
	slices.SortFunc(keys, func(a, b recordRef) int { return bytes.Compare(a.key, b.key) })
	return x.call(func() error {
		if x.db != nil {
			it, err := x.db.NewIter(&pebble.IterOptions{KeyTypes: pebble.IterKeyTypePointsOnly, UseL6Filters: true})
			if err != nil {
				return err
			}
			defer it.Close() // returns the error of the last seek again
			for i := range keys {
				if keys[i].place, err = seekPlace(it, keys[i].key); err != nil {
					return err
				}
			}
		}
		for i := 0; len(x.tail) > 0 && i < len(keys); i++ {
			if at, ok := x.tail[sumOf(keys[i].key)]; ok {
				keys[i].place = at
			}
		}
		return nil
	})
}

// seekPlace returns the place of a key; 0 for a key that the index does not have.
func seekPlace(it *pebble.Iterator, key []byte) (place, error) {
	if !it.SeekPrefixGE(key) {
		return 0, it.Error() // the next seek forgets the error
	}
	value, err := it.ValueAndErr()
	if err == nil && len(value) != 8 {
		err = errors.New("an entry of the index is no place")
	}
	if err != nil {
		return 0, err
	}
	return place(binary.BigEndian.Uint64(value)), nil
}

// apply adds records whose places are known, up to a place in the log, unless the index describes the log up to that
// place already. The last pack has a checksum in its header.
func (x *index) apply(records []recordRef, indexed place, sum uint32) error {
	if indexed <= x.state.Indexed {
		return nil
	}
	older := slices.Clone(records)
	if err := x.find(older); err != nil {
		return err
	}
	slices.SortFunc(records, func(a, b recordRef) int { return cmp.Or(bytes.Compare(a.key, b.key), cmp.Compare(a.place, b.place)) })
	s := x.state
	s.Indexed, s.Sum, s.Records = indexed, sum, s.Records+uint64(len(records))
	for i, r := range records {
		s.Last = max(s.Last, r.place)
		if older[i].place != 0 || i > 0 && bytes.Equal(r.key, records[i-1].key) {
			s.Replaced++
		}
	}
	return x.write(s, records)
}

// remove removes keys, whose records are in the log no more.
func (x *index) remove(keys []recordRef) error {
	for i := range keys {
		keys[i].place = 0
	}
	if err := x.write(x.state, keys); err != nil {
		return err
	}
	return x.flush()
}

// write writes the places of records together with the new state. It removes records without a place.
func (x *index) write(s state, records []recordRef) error {
	err := x.call(func() error {
		if x.tail != nil {
			for _, r := range records {
				x.tail[sumOf(r.key)] = r.place
			}
			return nil
		}
		batch := x.db.NewBatch()
		var memory []byte
		for _, r := range records {
			memory = r.place.append(memory[:0])
			err := batch.Set(r.key, memory, nil)
			if r.place == 0 {
				err = batch.Delete(r.key, nil)
			}
			if err != nil {
				return err
			}
		}
		s.Version = indexVersion
		value, err := binary.Append(nil, binary.BigEndian, s)
		if err == nil {
			err = batch.Set([]byte(stateKey), value, nil)
		}
		return errors.Join(err, batch.Commit(pebble.NoSync), batch.Close())
	})
	if err == nil {
		x.state = s
	}
	return err
}

// flush makes the index durable.
func (x *index) flush() error { return x.call(func() error { return x.db.Flush() }) }

// compact makes the index as small as it gets. The error is the cause of ctx's end, or the
// store's.
func (x *index) compact(ctx context.Context) error {
	err := x.call(func() error {
		err := x.db.Compact(ctx, []byte{0}, []byte{0xff}, true)
		if ctx.Err() != nil {
			return nil
		}
		return err
	})
	if err == nil {
		err = context.Cause(ctx)
	}
	return err
}

// close closes the database, and removes a database that is damaged: the next start makes a new one.
func (x *index) close() error {
	if x.db == nil {
		return nil
	}
	damage := x.damage.Swap(nil)
	if err := x.call(func() error { return x.db.Close() }); err != nil && !isIndexDamage(err) {
		return err
	}
	if x.damage.Swap(nil) == nil && damage == nil || x.tail != nil {
		return nil
	}
	return x.call(func() error { return x.fs.RemoveAll(x.dir) })
}
