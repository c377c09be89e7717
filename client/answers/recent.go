package answers

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

const (
	// mostRecent answers are held back, and most often 8 MiB of them. With more at once the tables
	// of keys are larger and fewer, and merged less; opening a store takes longer, with these
	// up to 20 ms.
	mostRecent      = 16 << 10
	mostRecentBytes = 8 << 20
)

// recent are the latest answers, in memory as in the journal. From time to time all of them
// move to the segments, and their keys to the database in the order of keys: to find a place
// for each alone, as it comes, takes a quarter of the time that storing an answer takes.
type recent struct {
	mu     sync.RWMutex
	places map[string]int // of values, by key
	keys   []string       // of the values
	values [][]byte       // in the order of arrival; nil where there is a newer one
	bytes  int            // of the values
	sorted []keyPlace     // memory for move
}

func (r *recent) isFull() bool { return len(r.values) >= mostRecent || r.bytes >= mostRecentBytes }

// add adds an answer's value in place of an older one. Key and value must stay as they are.
func (r *recent) add(key string, value []byte) {
	if r.places == nil {
		r.places = make(map[string]int)
	}
	if older, found := r.places[key]; found {
		r.bytes -= len(r.values[older])
		r.values[older] = nil
	}
	r.places[key] = len(r.values)
	r.keys, r.values = append(r.keys, key), append(r.values, value)
	r.bytes += len(value)
}

// commit adds answers that are in the journal. Their keys end at ends.
func (r *recent) commit(keys []byte, ends []int, values []byte) {
	text, start := string(keys), 0 // one piece of memory for all
	rest := bytes.Clone(values)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, end := range ends {
		var value []byte
		value, rest, _ = cutSized(rest)
		r.add(text[start:end], value)
		start = end
	}
}

func (r *recent) has(key []byte) bool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	_, found := r.places[string(key)]
	return found
}

// take fills in the values of the first n: it moves those whose keys are here there.
func (r *recent) take(missing []sought) (n int) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if len(r.places) == 0 {
		return 0
	}
	for i := range missing {
		if place, found := r.places[string(missing[i].key)]; found {
			missing[i].value = r.values[place]
			missing[n], missing[i] = missing[i], missing[n]
			n++
		}
	}
	return n
}

// all gives the values that have no newer one, in the order of arrival.
func (r *recent) all() [][]byte {
	r.mu.RLock()
	defer r.mu.RUnlock()
	values := make([][]byte, 0, len(r.places))
	for _, value := range r.values {
		if value != nil {
			values = append(values, value)
		}
	}
	return values
}

// keyPlace is a key and where its answer lies in the segments.
type keyPlace struct {
	key   string
	place position
}

// sort gives the places of values by their keys, in the order of keys.
func (r *recent) sort(places []position) []keyPlace {
	r.sorted = r.sorted[:0]
	for i, value := range r.values {
		if value != nil {
			r.sorted = append(r.sorted, keyPlace{r.keys[i], places[i]})
		}
	}
	slices.SortFunc(r.sorted, func(a, b keyPlace) int { return strings.Compare(a.key, b.key) })
	return r.sorted
}

// drop drops all, but keeps the memory.
func (r *recent) drop() {
	clear(r.sorted) // keep no key alive
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.places)
	clear(r.keys)
	clear(r.values)
	r.keys, r.values, r.bytes = r.keys[:0], r.values[:0], 0
}
