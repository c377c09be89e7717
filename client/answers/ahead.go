package answers

import (
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

const (
	chunkAnswers = 256
	chunkBytes   = 256 << 10 // of values; one of more is a chunk of its own
	maxChunks    = 16        // at most 4 MiB, unless single answers are larger
	aheadChunks  = 4         // read before they are asked for; the others lie behind

	// reach is how far apart, in positions, answers may lie that were asked for one after
	// the other: answers overtake each other by as many as were in flight.
	reach = 1024
)

// ahead reads answers before they are asked for. Inputs mostly come again in the order
// in which they were first asked, and so in the order of arrival, whatever the order of
// their keys: found here, an answer costs a tenth of one that is sought by its key
// (BenchmarkLookup).
//
// It follows the middle of what a batch has found, which single answers that came late
// do not move. Where the answers of a batch lie far apart, nothing is read ahead.
type ahead struct {
	mu     sync.Mutex
	chunks []*chunk // one behind the other in the order of arrival
	spare  []*chunk // were dropped: their maps are used again
	middle Position // of the last batch
}

// chunk is some answers that lie together.
type chunk struct {
	first, last Position
	answers     map[string]arrived // by key

	keys, values int // bytes of them, which the next chunk is likely to have too
}

// arrived is an answer's value. Its memory is not reused.
type arrived struct {
	position Position
	value    []byte
}

// take fills in what has been read ahead of the queries' answers.
func (a *ahead) take(order []sought) {
	a.mu.Lock()
	defer a.mu.Unlock()
	at := 0 // the chunk that had the last one probably has the next
	for i := range order {
		for j := range a.chunks {
			n := (at + j) % len(a.chunks)
			if found, ok := a.chunks[n].answers[string(order[i].key)]; ok {
				order[i].arrived, at = found, n
				break
			}
		}
	}
}

// follow reads on from where a batch has found its answers, if they lie together. The
// positions are sorted; end is the last there is, 0 if that is unknown.
func (a *ahead) follow(db *pebble.DB, positions []Position, end Position) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, n := a.middle, len(positions)
	a.middle = positions[n/2]
	together := positions[n-1-n/4]-positions[n/4] <= reach
	near := distance(a.middle, last) <= reach
	switch {
	case a.holds(a.middle):
		if a.readAhead() >= aheadChunks {
			return
		}
	case together && (near || n >= chunkAnswers/4):
		if a.last() > a.middle || a.middle-a.last() > reach {
			a.drop(len(a.chunks))
		}
	default:
		return
	}
	if len(a.chunks) > 0 && end >= a.last() && end-a.last() < chunkAnswers {
		return // else the end of a store that grows would be read in crumbs
	}
	a.read(db)
}

func distance(a, b Position) Position { return max(a, b) - min(a, b) }

func (a *ahead) holds(p Position) bool {
	return len(a.chunks) > 0 && a.chunks[0].first <= p && p <= a.last()
}

// last is the position up to which was read; 0 if nothing was.
func (a *ahead) last() Position {
	if len(a.chunks) == 0 {
		return 0
	}
	return a.chunks[len(a.chunks)-1].last
}

// readAhead is the number of chunks behind the one with the middle.
func (a *ahead) readAhead() int {
	n := 0
	for n < len(a.chunks) && a.chunks[len(a.chunks)-1-n].first > a.middle {
		n++
	}
	return n
}

// read reads chunks until enough lie ahead. What can't be read is not there: whoever
// needs it seeks it by its key, and is told why.
func (a *ahead) read(db *pebble.DB) {
	from := a.last()
	if from == 0 {
		from = a.middle - min(reach, a.middle)
	}
	it, err := db.NewIter(&pebble.IterOptions{
		KeyTypes:   pebble.IterKeyTypePointsOnly,
		LowerBound: appendPositionKey(nil, from+1),
		UpperBound: []byte(afterAnswers),
	})
	if err != nil {
		return
	}
	defer it.Close() // gives the error of the walk once more
	for more := it.First(); more && (!a.holds(a.middle) || a.readAhead() < aheadChunks); {
		c := a.newChunk()
		if more = c.fill(it); len(c.answers) == 0 {
			return
		}
		a.chunks = append(a.chunks, c)
		a.drop(len(a.chunks) - maxChunks)
	}
}

// drop drops the first n chunks.
func (a *ahead) drop(n int) {
	if n <= 0 {
		return
	}
	a.spare = append(a.spare, a.chunks[:n]...)
	a.chunks = slices.Delete(a.chunks, 0, n)
}

func (a *ahead) newChunk() *chunk {
	if n := len(a.spare); n > 0 {
		c := a.spare[n-1]
		a.spare = a.spare[:n-1]
		clear(c.answers)
		return c
	}
	return &chunk{answers: make(map[string]arrived, chunkAnswers)}
}

// fill reads answers into an empty chunk, and says whether there are more. All keys and
// all values share a piece of memory.
func (c *chunk) fill(it *pebble.Iterator) (more bool) {
	var all [chunkAnswers]struct {
		position   Position
		key, value int // where they end
	}
	keys, values := make([]byte, 0, c.keys+c.keys/4), make([]byte, 0, c.values+c.values/4)
	n := 0
	for more = true; more && n < len(all) && len(values) < chunkBytes; more = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			more = false
			break
		}
		key, _, _ := splitValue(value) // none in a damaged one, which is told of when it is sought
		keys, values = append(keys, key...), append(values, value...)
		all[n].position, all[n].key, all[n].value = parsePositionKey(it.Key()), len(keys), len(values)
		n++
	}
	if n == 0 {
		return false
	}
	c.first, c.last, c.keys, c.values = all[0].position, all[n-1].position, len(keys), len(values)
	text, key, value := string(keys), 0, 0
	for _, one := range all[:n] {
		if one.key > key {
			c.answers[text[key:one.key]] = arrived{one.position, values[value:one.value:one.value]}
		}
		key, value = one.key, one.value
	}
	return more
}

// forget drops the answers to requests that have newer ones.
func (a *ahead) forget(newer []leading) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, to := range newer {
		for _, c := range a.chunks {
			delete(c.answers, string(to.key))
		}
	}
}
