package answers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	indexDir     = "index"
	indexVersion = 2
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
	tail    map[string]place // what the log has behind state.Indexed, in a store that is only read
}

// state is what the index describes. Its fields lie in the database in this order.
type state struct {
	Version  uint8
	Indexed  place  // the end of the log that the index describes; 0 for an empty index
	First    uint32 // number of the first log file
	Records  uint64 // in the log
	Replaced uint64 // how many of these records have newer ones
}

// openIndex opens the index, or makes an empty index if there is none that can be used.
func openIndex(o Options, f *failure) (*index, error) {
	x := &index{fs: indexFS{o.FS, f}, dir: o.FS.PathJoin(o.Dir, indexDir), failure: f}
	if o.ReadOnly {
		x.tail = make(map[string]place)
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
		n, decodeErr := binary.Decode(value, binary.BigEndian, &x.state)
		if decodeErr != nil || n != len(value) || x.state.Version != indexVersion {
			err = errors.New("the index has another version")
		}
		err = errors.Join(err, closer.Close())
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
		if err != nil || readOnly {
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
		FormatMajorVersion: pebble.FormatValueSeparation,
		Logger:             x.failure,
		EventListener: &pebble.EventListener{
			BackgroundError: func(err error) { x.failure.end(x.explain(err)) },
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

// call calls the database. Any error is sticky. Damage removes the index, so that the next start
// makes a new one.
func (x *index) call(work func() error) error {
	if err := guard(x.failure, work); err != nil {
		return x.failure.set(x.explain(err))
	}
	return nil
}

func (x *index) explain(err error) error {
	if isTyped(err) || isDisk(err) {
		return err
	}
	file := x.dir
	if info := pebble.ExtractDataCorruptionInfo(err); info != nil {
		file = info.Path
	}
	return &DamageError{Dir: x.failure.dir, File: file, Index: true, Err: errors.Join(err, x.fs.RemoveAll(x.dir))}
}

// find sorts keys and sets their places; 0 for a key that the index does not have. Seeking by
// prefix asks the filters first (a key is its own prefix).
func (x *index) find(keys []sought) error {
	slices.SortFunc(keys, func(a, b sought) int { return bytes.Compare(a.key, b.key) })
	return x.call(func() error {
		if x.db != nil {
			it, err := x.db.NewIter(&pebble.IterOptions{KeyTypes: pebble.IterKeyTypePointsOnly, UseL6Filters: true})
			if err != nil {
				return err
			}
			defer it.Close() // returns the error of the seek again
			for i := range keys {
				keys[i].place = 0
				if !it.SeekPrefixGE(keys[i].key) {
					continue
				}
				value, err := it.ValueAndErr()
				if err != nil {
					return err
				}
				if len(value) == 8 {
					keys[i].place = place(binary.BigEndian.Uint64(value))
				}
			}
			if err := it.Error(); err != nil {
				return err
			}
		}
		for i := range keys {
			if at, ok := x.tail[string(keys[i].key)]; ok {
				keys[i].place = at
			}
		}
		return nil
	})
}

// apply adds records whose places are known, up to a place in the log. It returns the records
// that replace older records.
func (x *index) apply(records []sought, indexed place) (replacing []sought, err error) {
	older := slices.Clone(records)
	if err := x.find(older); err != nil {
		return nil, err
	}
	slices.SortFunc(records, func(a, b sought) int { return cmp.Or(bytes.Compare(a.key, b.key), cmp.Compare(a.place, b.place)) })
	for i, r := range records {
		if older[i].place != 0 || i > 0 && bytes.Equal(r.key, records[i-1].key) {
			replacing = append(replacing, r)
		}
	}
	s := x.state
	s.Indexed, s.Records, s.Replaced = indexed, s.Records+uint64(len(records)), s.Replaced+uint64(len(replacing))
	return replacing, x.write(s, records)
}

// remove removes the keys that it has, for good. The records that they led to count as replaced.
func (x *index) remove(keys []sought) error {
	if err := x.find(keys); err != nil {
		return err
	}
	keys = slices.DeleteFunc(keys, func(k sought) bool { return k.place == 0 })
	for i := range keys {
		keys[i].place = 0
	}
	s := x.state
	s.Replaced += uint64(len(keys))
	if err := x.write(s, keys); err != nil {
		return err
	}
	return x.flush()
}

// write writes the places of records together with the new state. It removes records without a place.
func (x *index) write(s state, records []sought) error {
	err := x.call(func() error {
		if x.tail != nil {
			for _, r := range records {
				x.tail[string(r.key)] = r.place
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

func (x *index) close() error {
	if x.db == nil {
		return nil
	}
	return x.call(func() error { return x.db.Close() })
}
