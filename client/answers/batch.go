package answers

import (
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/bulkcat/bulkcat/client"
)

// Batch gathers outcomes that become durable together.
type Batch struct {
	store *Store
	batch *pebble.Batch

	keys     []byte // of the requests, one behind the other
	ends     []int  // of the keys
	value    []byte
	packer   packer
	packed   []byte // full packs, one behind the other
	packs    []fullPack
	replaced []Position // whose answers go with the commit
	packKey  []byte     // of the database
}

// fullPack is where a pack and its answers end in a batch.
type fullPack struct{ bytes, answers int }

// NewBatch starts an empty batch. It is for one goroutine, and reused after Commit.
func (s *Store) NewBatch() *Batch { return &Batch{store: s, batch: s.db.NewBatch()} }

// Add puts an outcome into the batch, which must not have one of the same request. Where
// the store has one, that is removed: replaces must be its position, as Query tells it, and
// 0 where there is none. One that is left behind would be exported, and may be read ahead
// in place of the newer one.
func (b *Batch) Add(r client.Request, o Outcome, replaces Position) error {
	return b.add(b.store.options.Source, r, o, replaces)
}

func (b *Batch) add(source string, r client.Request, o Outcome, replaces Position) error {
	if err := b.store.fate.err(); err != nil {
		return err // a commit that was given up may still read the batch
	}
	start := len(b.keys)
	b.keys = appendKey(b.keys, source, r)
	b.ends = append(b.ends, len(b.keys))
	key := b.keys[start:]
	b.store.keys.add(key) // before it is there for anybody
	b.value = appendValue(b.value[:0], key, o)
	b.packer.add(b.value)
	if b.packer.isFull() {
		b.endPack()
	}
	if replaces != 0 {
		b.replaced = append(b.replaced, replaces)
	}
	return nil
}

func (b *Batch) endPack() {
	b.packed = b.packer.appendPack(b.packed)
	b.packs = append(b.packs, fullPack{len(b.packed), len(b.ends)})
}

// Commit makes all that was added durable with one fsync, and empties the batch. After
// a *FailedError some or all of it may be there nevertheless; after a *DamageError, met
// where something was to be replaced, nothing is.
func (b *Batch) Commit() error {
	s := b.store
	if err := s.fate.err(); err != nil {
		return err
	}
	s.commits.Lock()
	defer s.commits.Unlock()
	last := s.last()
	err := b.fill(last)
	if err == nil && len(b.replaced) > 0 {
		_, err = guard(s.fate, func() (struct{}, error) { return struct{}{}, b.remove(b.replaced) })
	}
	if err == nil {
		err = b.commit(last)
	}
	if err != nil {
		return storeError(s.options.Dir, "", err)
	}
	s.arrived.Store(uint64(last) + uint64(len(b.ends)))
	if len(b.replaced) > 0 {
		s.ahead.forget(b.keys, b.ends) // not before: it would be read again
	}
	b.keys, b.ends = b.keys[:0], b.ends[:0]
	b.packed, b.packs, b.replaced = b.packed[:0], b.packs[:0], b.replaced[:0]
	if !s.recent.isFull() {
		return nil
	}
	return s.moveRecent()
}

// fill puts the answers into the positions after a last one.
func (b *Batch) fill(last Position) error {
	b.batch.Reset()
	if b.packer.count > 0 {
		b.endPack()
	}
	start := 0
	for _, p := range b.packs {
		b.packKey = appendPositionKey(b.packKey[:0], last+Position(p.answers))
		if err := b.batch.Set(b.packKey, b.packed[start:p.bytes], nil); err != nil {
			return err
		}
		start = p.bytes
	}
	return nil
}

// commit makes durable what was filled in.
func (b *Batch) commit(last Position) error {
	recent := &b.store.recent
	if len(b.replaced) > 0 {
		recent.mu.Lock()
		defer recent.mu.Unlock()
	}
	_, err := guard(b.store.fate, func() (struct{}, error) { return struct{}{}, b.batch.Commit(pebble.Sync) })
	if err != nil {
		return err
	}
	if len(b.replaced) == 0 {
		recent.mu.Lock()
		defer recent.mu.Unlock()
	}
	recent.addAll(b.keys, b.ends, last)
	return nil
}

// remove removes answers from their packs, and with the last of them the pack. So does the
// first from a damaged pack, since none of the others can be had again.
func (b *Batch) remove(replaced []Position) error {
	it, err := b.store.newAnswersIter(0)
	if err != nil {
		return err
	}
	defer it.Close() // gives the error of the seek once more
	slices.Sort(replaced)
	var p pack
	for len(replaced) > 0 {
		b.packKey = appendPositionKey(b.packKey[:0], replaced[0])
		if !it.SeekGE(b.packKey) {
			return it.Error()
		}
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		damaged := p.parse(parsePositionKey(it.Key()), value) != nil
		n, held := 1, p.empty(replaced[0])
		for n < len(replaced) && replaced[n] <= p.last {
			held = p.empty(replaced[n]) || held
			n++
		}
		if held || damaged {
			if err := b.rewrite(it.Key(), &p); err != nil {
				return err
			}
		}
		replaced = replaced[n:]
	}
	return nil
}

// rewrite writes what is left of a pack.
func (b *Batch) rewrite(key []byte, p *pack) error {
	if !slices.ContainsFunc(p.values, func(value []byte) bool { return len(value) > 0 }) {
		return b.batch.Delete(key, nil)
	}
	var left packer
	for _, value := range p.values {
		left.add(value)
	}
	return b.batch.Set(key, left.appendPack(nil), nil)
}

// Close gives the batch's memory back.
func (b *Batch) Close() error {
	if b.store.fate.err() != nil {
		return nil // a commit that was given up may still read the batch
	}
	return b.batch.Close()
}
