package answers

import (
	"cmp"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/bulkcat/bulkcat/client"
)

// indexedKey leads to the position up to which keys are in the database.
var indexedKey = []byte("\x00indexed")

// mostRecent keys are held back, 1 MiB of them. With more at once the tables of keys are
// larger and fewer, and merged less; opening a store takes longer, with these up to 20 ms.
const mostRecent = 16 << 10

// recent leads from the keys of the latest answers to their places. Each key is part of
// its answer and durable with it. To the database they go many at once, in their order: to
// find a place for each alone, as it comes, takes a quarter of the time that storing an
// answer takes. Those that have not gone there are gathered from the answers when the store
// is opened.
type recent struct {
	// mu is held by a lookup from its look at the places until it has an iterator of the
	// database, and by a commit that replaces answers: or a lookup might come to a position
	// that was replaced since, and find nothing there.
	mu     sync.RWMutex
	places map[string]place
	sorted []indexed // memory for write
}

// indexed is a key, and the position it leads to.
type indexed struct {
	key string
	at  place
}

// add adds the keys of answers in the positions after a last one, which end at ends.
func (r *recent) add(keys []byte, ends []int, packs []fullPack, last Position) {
	if r.places == nil {
		r.places = make(map[string]place)
	}
	text, start, pack := string(keys), 0, 0 // one piece of memory for all
	for i, end := range ends {
		if i == packs[pack].answers {
			pack++
		}
		r.places[text[start:end]] = place{last + Position(i) + 1, last + Position(packs[pack].answers)}
		start = end
	}
}

// addPack adds the keys of a pack's answers.
func (r *recent) addPack(p *pack) {
	if r.places == nil {
		r.places = make(map[string]place)
	}
	for i, value := range p.values {
		if key, _, ok := splitValue(value); ok {
			r.places[string(key)] = place{p.first() + Position(i), p.last}
		}
	}
}

func (r *recent) has(key []byte) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, ok := r.places[string(key)]
	return ok
}

// find fills in the places of the first n: it moves those whose keys are here there.
func (r *recent) find(missing []sought) (n int) {
	if len(r.places) == 0 {
		return 0
	}
	for i := range missing {
		if at, ok := r.places[string(missing[i].key)]; ok {
			missing[i].position, missing[i].pack = at.position, at.pack
			missing[n], missing[i] = missing[i], missing[n]
			n++
		}
	}
	return n
}

// write moves all keys to the database; last is the last position of all answers. They are
// durable with what is committed next.
func (r *recent) write(db *pebble.DB, last Position) error {
	r.sorted = r.sorted[:0]
	size := 0
	for key, at := range r.places {
		r.sorted = append(r.sorted, indexed{key, at})
		size += len(key) + 2*positionSize
	}
	slices.SortFunc(r.sorted, func(a, b indexed) int { return cmp.Compare(a.key, b.key) })
	batch := db.NewBatchWithSize(size)
	defer batch.Close()
	var key, value []byte
	for _, to := range r.sorted {
		key, value = append(key[:0], to.key...), appendPlace(value[:0], to.at)
		if err := batch.Set(key, value, nil); err != nil {
			return err
		}
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
	clear(r.places)
	return nil
}

func (s *Store) writeRecent() error {
	_, err := guard(s.fate, func() (struct{}, error) { return struct{}{}, s.recent.write(s.db, s.last()) })
	return storeError(s.options.Dir, "", err)
}

// gatherRecent finds the keys that are not in the database, and the last position.
func (s *Store) gatherRecent() error {
	value, _, err := s.get(indexedKey)
	if err != nil {
		return err
	}
	_, err = guard(s.fate, func() (struct{}, error) { return struct{}{}, s.gatherFrom(parsePosition(value)) })
	return storeError(s.options.Dir, "", err)
}

func (s *Store) gatherFrom(indexed Position) error {
	s.arrived.Store(uint64(indexed))
	it, err := s.newAnswersIter(indexed)
	if err != nil {
		return err
	}
	defer it.Close() // gives the error of the walk once more
	var p pack
	for more := it.First(); more; more = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			return err
		}
		last := parsePositionKey(it.Key())
		if last == 0 {
			continue
		}
		s.arrived.Store(uint64(last))
		if p.parse(last, value) != nil {
			s.damage.note(s.options, it.Key(), "", client.Request{})
		}
		s.recent.addPack(&p)
		if len(s.recent.places) >= mostRecent && !s.options.ReadOnly {
			if err := s.recent.write(s.db, last); err != nil {
				return err
			}
		}
	}
	return it.Error()
}
