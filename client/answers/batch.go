package answers

import (
	"github.com/cockroachdb/pebble/v2"

	"github.com/bulkcat/bulkcat/client"
)

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
	return b.add(b.store.options.Source, r, o)
}

func (b *Batch) add(source string, r client.Request, o Outcome) error {
	if err := b.store.fate.err(); err != nil {
		return err // a commit that was given up may still read the batch
	}
	b.key = appendKey(b.key[:0], source, r)
	b.value = appendValue(b.value[:0], b.key, o)
	return storeError(b.store.options.Dir, "", b.batch.Set(b.key, b.value, nil))
}

// Commit makes all that was added durable with one fsync, and empties the batch. After
// a *FailedError some or all of it may be there nevertheless.
func (b *Batch) Commit() error {
	_, err := guard(b.store.fate, func() (struct{}, error) {
		return struct{}{}, b.batch.Commit(pebble.Sync)
	})
	if err != nil {
		return storeError(b.store.options.Dir, "", err)
	}
	b.batch.Reset()
	return nil
}

// Close gives the batch's memory back.
func (b *Batch) Close() error {
	if b.store.fate.err() != nil {
		return nil // a commit that was given up may still read the batch
	}
	return b.batch.Close()
}
