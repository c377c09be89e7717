package answers

import (
	"bytes"
	"maps"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/bulkcat/bulkcat/client"
)

// indexedKey leads to the position up to which keys are in the database.
var indexedKey = []byte("\x00indexed")

const (
	// mostRecent keys are held back, and most often 1 MiB of them. With more at once the tables
	// of keys are larger and fewer, and merged less; opening a store takes longer, with these
	// up to 20 ms.
	mostRecent      = 16 << 10
	mostRecentBytes = 4 << 20

	// moved keys go to the database with one write. One that would fill half of a table in
	// memory has the database begin a new log on the spot, and wait for the old one.
	moved      = 2 << 10
	movedBytes = 1 << 20
)

// recent leads from the keys of the latest answers to their positions. Each key is part of
// its answer and durable with it. To the database they go many at once, in their order: to
// find a place for each alone, as it comes, takes a quarter of the time that storing an
// answer takes. Those that have not gone there are gathered from the answers when the store
// is opened.
type recent struct {
	// mu is held by a lookup from its look at the positions until it has an iterator of the
	// database, and by whoever changes them. A commit that replaces answers holds it for as
	// long as it writes: or a lookup might come to a position that was replaced since, and
	// find nothing there.
	mu        sync.RWMutex
	positions map[string]Position
	bytes     int      // of the keys
	sorted    []string // memory for move
}

func (r *recent) isFull() bool { return len(r.positions) >= mostRecent || r.bytes >= mostRecentBytes }

func (r *recent) add(key string, at Position) {
	if r.positions == nil {
		r.positions = make(map[string]Position)
	}
	r.positions[key] = at
	r.bytes += len(key)
}

// addAll adds the keys of answers in the positions after a last one. The keys end at ends.
func (r *recent) addAll(keys []byte, ends []int, last Position) {
	text, start := string(keys), 0 // one piece of memory for all
	for i, end := range ends {
		r.add(text[start:end], last+Position(i)+1)
		start = end
	}
}

// addPack adds the keys of a pack's answers.
func (r *recent) addPack(p *pack) {
	for i, value := range p.values {
		if key, _, ok := splitValue(value); ok {
			r.add(string(key), p.first()+Position(i))
		}
	}
}

func (r *recent) has(key []byte) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.positions[string(key)] != 0
}

// find fills in the positions of the first n: it moves those whose keys are here there.
func (r *recent) find(missing []sought) (n int) {
	if len(r.positions) == 0 {
		return 0
	}
	for i := range missing {
		if missing[i].position = r.positions[string(missing[i].key)]; missing[i].position != 0 {
			missing[n], missing[i] = missing[i], missing[n]
			n++
		}
	}
	return n
}

// move moves all keys to the database and leaves hints; last is the last position of all
// answers. Until indexedKey is durable, which comes last, they are gathered anew.
func (r *recent) move(db *pebble.DB, hints *hints, last Position) error {
	r.sorted = slices.AppendSeq(r.sorted[:0], maps.Keys(r.positions))
	slices.Sort(r.sorted)
	batch := db.NewBatch()
	var key, value []byte
	for _, text := range r.sorted {
		at := r.positions[text]
		key, value = append(key[:0], text...), appendPosition(value[:0], at)
		if hints.wanted() {
			hints.add(hashKey(key), at)
		}
		if err := batch.Set(key, value, nil); err != nil {
			return err
		}
		if batch.Count() < moved && batch.Len() < movedBytes {
			continue
		}
		if err := batch.Commit(pebble.NoSync); err != nil {
			return err
		}
		batch.Reset()
	}
	if err := batch.Set(indexedKey, appendPosition(nil, last), nil); err != nil {
		return err
	}
	if err := batch.Commit(pebble.NoSync); err != nil {
		return err
	}
	clear(r.sorted) // keep no key alive
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.positions)
	r.bytes = 0
	return batch.Close()
}

func (s *Store) moveRecent() error {
	_, err := guard(s.fate, func() (struct{}, error) { return struct{}{}, s.recent.move(s.db, &s.hints, s.last()) })
	return storeError(s.options.Dir, "", err)
}

// gatherRecent finds the keys that are not in the database, and the last position. The error
// is a *DamageError if some could not be read; all others are then there nevertheless.
func (s *Store) gatherRecent() error {
	value, _, err := s.get(indexedKey)
	if err != nil {
		return err
	}
	_, err = guard(s.fate, func() (struct{}, error) { return struct{}{}, s.gatherAfter(parsePosition(value)) })
	return storeError(s.options.Dir, "", err)
}

func (s *Store) gatherAfter(indexed Position) error {
	s.arrived.Store(uint64(indexed))
	var p pack
	return s.walk(appendPositionKey(nil, indexed+1), []byte(afterAnswers), func(key, value []byte) error {
		last := parsePositionKey(key)
		if last == 0 {
			return nil
		}
		s.arrived.Store(uint64(last))
		if p.parse(last, value) != nil {
			s.damage.note(s.options, bytes.Clone(key), "", client.Request{})
		}
		s.recent.addPack(&p)
		if !s.recent.isFull() || s.options.ReadOnly {
			return nil
		}
		return s.recent.move(s.db, &s.hints, last)
	})
}
