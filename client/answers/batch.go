package answers

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/bulkcat/bulkcat/client"
)

// Batch gathers outcomes that become durable together.
//
// The keys of the requests follow the answers, sorted: the database finds the place of
// each from that of the one before, which takes a tenth off the making of a store.
type Batch struct {
	store    *Store
	batch    *pebble.Batch
	value    []byte
	place    []byte // the key of a position
	keys     []byte // of the requests, one behind the other
	led      []leading
	replaced bool // some of the requests had an answer, which goes with the commit
}

// leading is a request's key, and where it leads to.
type leading struct {
	key      []byte
	position Position
}

// NewBatch starts an empty batch. It is for one goroutine, and reused after Commit.
func (s *Store) NewBatch() *Batch { return &Batch{store: s, batch: s.db.NewBatch()} }

// Add puts an outcome into the batch. Where the store has one of the same request, that is
// removed: replaces must be its position, as Query tells it, and 0 where there is none. One
// that is left behind would be exported, and may be read ahead in place of the newer one.
func (b *Batch) Add(r client.Request, o Outcome, replaces Position) error {
	_, err := b.add(b.store.options.Source, r, o, replaces)
	return err
}

func (b *Batch) add(source string, r client.Request, o Outcome, replaces Position) (Position, error) {
	if err := b.store.fate.err(); err != nil {
		return 0, err // a commit that was given up may still read the batch
	}
	start := len(b.keys)
	b.keys = appendKey(b.keys, source, r)
	to := leading{b.keys[start:len(b.keys):len(b.keys)], Position(b.store.arrived.Add(1))}
	b.led = append(b.led, to)
	b.store.keys.add(to.key) // before it is there for anybody
	b.value = appendValue(b.value[:0], to.key, o)
	b.place = appendPositionKey(b.place[:0], to.position)
	err := b.batch.Set(b.place, b.value, nil)
	if replaces != 0 && err == nil {
		b.replaced = true
		b.place = appendPositionKey(b.place[:0], replaces)
		err = b.batch.Delete(b.place, nil)
	}
	return to.position, storeError(b.store.options.Dir, "", err)
}

// Commit makes all that was added durable with one fsync, and empties the batch. After
// a *FailedError some or all of it may be there nevertheless.
func (b *Batch) Commit() error {
	if err := b.store.fate.err(); err != nil {
		return err
	}
	slices.SortFunc(b.led, func(a, b leading) int {
		return cmp.Or(bytes.Compare(a.key, b.key), cmp.Compare(a.position, b.position))
	})
	for _, to := range b.led {
		b.place = appendPosition(b.place[:0], to.position)
		if err := b.batch.Set(to.key, b.place, nil); err != nil {
			return storeError(b.store.options.Dir, "", err)
		}
	}
	_, err := guard(b.store.fate, func() (struct{}, error) {
		return struct{}{}, b.batch.Commit(pebble.Sync)
	})
	if err != nil {
		return storeError(b.store.options.Dir, "", err)
	}
	if b.replaced {
		b.store.ahead.forget(b.led) // not before: it would be read again
	}
	b.batch.Reset()
	b.keys, b.led, b.replaced = b.keys[:0], b.led[:0], false
	return nil
}

// Close gives the batch's memory back.
func (b *Batch) Close() error {
	if b.store.fate.err() != nil {
		return nil // a commit that was given up may still read the batch
	}
	return b.batch.Close()
}
