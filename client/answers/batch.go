package answers

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/bulkcat/bulkcat/client"
)

// Batch gathers outcomes that become durable together.
type Batch struct {
	store *Store

	keys      []byte   // of the requests, one behind the other
	ends      []int    // of the keys
	hashes    []uint64 // of the keys
	newer     [][]byte // those of them that replace others
	values    []byte   // as they are in a pack
	valueEnds []int
	marks     []byte
	value     []byte
	packs     []byte
}

// NewBatch starts an empty batch. It is for one goroutine, and reused after Commit.
func (s *Store) NewBatch() *Batch { return &Batch{store: s} }

// Add puts an outcome into the batch, which must not have one of the same request. Whether
// it replaces one that is stored, Query.Stored tells: one that is left behind would be
// exported, and may be read ahead in place of the newer one.
func (b *Batch) Add(r client.Request, o Outcome, replaces bool) error {
	return b.add(b.store.options.Source, r, o, replaces)
}

func (b *Batch) add(source string, r client.Request, o Outcome, replaces bool) error {
	if err := b.store.fate.err(); err != nil {
		return err // a commit that was given up may still read the batch
	}
	start := len(b.keys)
	b.keys = appendKey(b.keys, source, r)
	b.ends = append(b.ends, len(b.keys))
	key := b.keys[start:len(b.keys):len(b.keys)]
	b.hashes = append(b.hashes, hashKey(key))
	b.value = appendValue(b.value[:0], key, o)
	b.values = appendSized(b.values, b.value)
	b.valueEnds = append(b.valueEnds, len(b.values))
	mark := byte(0)
	if replaces {
		b.newer = append(b.newer, key)
		mark = newerMark
	}
	b.marks = append(b.marks, mark)
	return nil
}

// Commit makes all that was added durable with one fsync, and empties the batch. After
// an error some or all of it may be there nevertheless.
func (b *Batch) Commit() error {
	s := b.store
	if err := s.fate.err(); err != nil {
		return err
	}
	s.commits.Lock()
	defer s.commits.Unlock()
	if _, err := guard(s.fate, func() (struct{}, error) { return struct{}{}, b.commit() }); err != nil {
		return storeError(s.options.Dir, "", err)
	}
	b.keys, b.ends, b.hashes, b.newer = b.keys[:0], b.ends[:0], b.hashes[:0], b.newer[:0]
	b.values, b.valueEnds, b.marks = b.values[:0], b.valueEnds[:0], b.marks[:0]
	return nil
}

func (b *Batch) commit() error {
	s := b.store
	s.keys.add(b.hashes) // before they are there for anybody
	b.pack(s.journal.files.end())
	if err := s.mustWrite(s.journal.append(b.packs)); err != nil {
		return err
	}
	s.recent.commit(b.keys, b.ends, b.values)
	if err := s.mustWrite(s.markReplaced(b.newer, false)); err != nil {
		return err
	}
	s.ahead.forget(b.newer) // not before: it would be read again
	if !s.recent.isFull() {
		return nil
	}
	return s.mustWrite(s.move())
}

// pack makes packs of the answers, as they lie at a position: one, unless there are very many.
func (b *Batch) pack(at position) {
	b.packs = b.packs[:0]
	first, start := 0, 0
	for i, end := range b.valueEnds {
		if n := i + 1; n == len(b.valueEnds) || n-first == journalAnswers || end-start > journalBytes {
			b.packs = appendPack(b.packs, at+position(len(b.packs)), packPlain, b.marks[first:n], b.values[start:end])
			first, start = n, end
		}
	}
}

// markReplaced marks the answers in segments that were replaced by those with some keys. What
// has a mark already is not counted; but where the store is opened the states of segments are
// as they were before the journal, and all of it counts.
func (s *Store) markReplaced(keys [][]byte, opening bool) error {
	if len(keys) == 0 {
		return nil
	}
	replaced, err := s.findReplaced(keys, opening)
	if err != nil {
		return err
	}
	for r := range replaced {
		if err := s.segments.mark(r); err != nil {
			return err
		}
	}
	return nil
}

// findReplaced finds the answers in segments with some keys, and those with a mark only if
// they are wanted. Of a damaged pack all are replaced with the first, since none can be had
// again.
func (s *Store) findReplaced(keys [][]byte, marked bool) (map[replacement]struct{}, error) {
	replaced := make(map[replacement]struct{})
	from := cursor{segments: &s.segments, ahead: nearRead}
	p := pack{all: marked}
	for _, key := range keys {
		at, err := s.place(key)
		if err != nil {
			return nil, err
		}
		err = from.read(at, &p)
		if err != nil && !errors.Is(err, errDamaged) {
			return nil, err
		}
		if i := p.find(key); i >= 0 {
			replaced[replacement{at, i}] = struct{}{}
		}
		for i, mark := range p.marks {
			if err != nil && (marked || !isReplaced(mark)) {
				replaced[replacement{at, i}] = struct{}{}
			}
		}
	}
	return replaced, nil
}

// place gives the position that a key in the database leads to; 0 if there is none.
func (s *Store) place(key []byte) (position, error) {
	value, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return parsePosition(value), closer.Close()
}

// mustWrite has the store fail where a write did.
func (s *Store) mustWrite(err error) error {
	if err == nil {
		return nil
	}
	s.fate.fail(err)
	return s.fate.err()
}
