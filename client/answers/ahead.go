package answers

import (
	"errors"
	"math"
	"slices"
	"sync"
)

const (
	chunkAnswers = 256
	chunkBytes   = 256 << 10 // of values; one of more is a chunk of its own
	aheadChunks  = 4         // read before they are asked for; the others lie behind

	// maxChunks are held: at most 16 MiB, unless single answers are larger. A goroutine that
	// waits 10 ms for its turn falls behind by 4,000 answers.
	maxChunks = 32

	// maxIdle batches may find less than an eighth of their answers here before all is
	// dropped. To look in vain costs as much as a filter, and the rest of a run that has come
	// to what is new would do so, with a hit now and then where inputs come again.
	maxIdle = 100

	// reach is how far apart answers may lie that were asked for one after the other: answers
	// overtake each other by as many as were in flight. It is a thousand of them and more.
	reach position = 128 << 10

	// crumb is less than most chunks take.
	crumb position = 16 << 10
)

// ahead reads answers before they are asked for. Inputs mostly come again in the order
// in which they were first asked, and so in the order of arrival, whatever the order of
// their keys: found here, an answer costs a tenth of one that is sought by its key
// (BenchmarkLookup).
//
// It follows the crowd: the quarter of what a batch of requests has found that lies closest
// together. Answers that came late do not move it, nor do those to inputs that come again
// and again, which lie anywhere. Where there is no crowd, nothing is read ahead.
type ahead struct {
	mu     sync.Mutex
	chunks []*chunk // one behind the other in the order of arrival
	spare  []*chunk // were dropped: their memory is used again when nobody reads it
	memory []byte   // of the cursor
	missed position // where the last crowd was that had not been read ahead
	idle   int      // batches since one has found enough here
}

// chunk is some answers that lie together.
type chunk struct {
	first, last position           // of its packs
	behind      position           // the last of them
	answers     map[string]arrived // by key
	marks       marks              // of the keys

	packs   []pack
	keys    int // bytes of them, which the next answers are likely to have too
	readers int // batches that have taken values
}

// marks tells most keys that are not there: with 256 that are, 97% of the others.
type marks [1 << 13 / 64]uint64

func (m *marks) add(hash uint64) { m[hash/64%uint64(len(m))] |= 1 << (hash % 64) }

func (m *marks) has(hash uint64) bool { return m[hash/64%uint64(len(m))]&(1<<(hash%64)) != 0 }

// arrived is an answer's value, and the position of its pack; 0 where it is recent. It is in
// the memory of a chunk's pack, or among the recent answers.
type arrived struct {
	position position
	value    []byte
}

// take fills in what has been read ahead of the queries' answers. It appends the chunks
// that they are in to taken, which are to be released when the values have been read.
func (a *ahead) take(order []sought, taken []*chunk) []*chunk {
	a.mu.Lock()
	defer a.mu.Unlock()
	hits, at := 0, 0 // the chunk that had the last one probably has the next
	for i := range order {
		n, found := a.find(&order[i], at)
		if n < 0 {
			continue
		}
		if c := a.chunks[n]; !slices.Contains(taken, c) {
			c.readers++
			taken = append(taken, c)
		}
		order[i].arrived, at = found, n
		hits++
	}
	if a.idle++; hits > len(order)/8 {
		a.idle = 0
	} else if a.idle > maxIdle {
		a.drop(len(a.chunks))
	}
	return taken
}

// find looks for an answer in the nth chunk first, and gives the number of the one that has
// it, or -1. An input that comes again out of order is in none: few of their maps are asked.
func (a *ahead) find(w *sought, n int) (int, arrived) {
	if n < len(a.chunks) {
		if found, ok := a.chunks[n].answers[string(w.key)]; ok {
			return n, found
		}
	}
	for i, c := range a.chunks {
		if i == n || !c.marks.has(w.hash) {
			continue
		}
		if found, ok := c.answers[string(w.key)]; ok {
			return i, found
		}
	}
	return -1, arrived{}
}

func (a *ahead) release(taken []*chunk) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range taken {
		c.readers--
	}
}

// follow reads on from where a batch has found its answers. The positions are sorted;
// sought is how many of them had not been read ahead.
//
// It takes two crowds that lie together to begin elsewhere: one alone may be that of a
// goroutine which has fallen behind.
func (a *ahead) follow(s *Store, positions []position, sought int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	crowd, extent := crowdOf(positions)
	switch {
	case extent > reach:
		return
	case a.holds(crowd):
		if a.readAhead(crowd) >= aheadChunks {
			return
		}
	case sought <= len(positions)/2:
		return
	default:
		near := distance(crowd, a.missed) <= reach
		a.missed = crowd
		if !near {
			return
		}
		if a.last() > crowd || crowd-a.last() > reach {
			a.drop(len(a.chunks))
		}
	}
	if behind := a.behind(); behind > 0 && behind+crumb > s.segments.end() {
		return // else the end of a store that grows would be read in crumbs
	}
	a.read(s, crowd)
}

// crowdOf finds the quarter of sorted positions that lies closest together, the last of
// them if there are several: its middle, and how far it reaches.
func crowdOf(positions []position) (middle, extent position) {
	others := len(positions) / 4
	extent = math.MaxUint64
	for i := range positions[others:] {
		if e := positions[i+others] - positions[i]; e <= extent {
			middle, extent = positions[i+others/2], e
		}
	}
	return middle, extent
}

func distance(a, b position) position { return max(a, b) - min(a, b) }

func (a *ahead) holds(p position) bool {
	return len(a.chunks) > 0 && a.chunks[0].first <= p && p <= a.last()
}

// last is the position of the last pack that was read; 0 if none was.
func (a *ahead) last() position {
	if len(a.chunks) == 0 {
		return 0
	}
	return a.chunks[len(a.chunks)-1].last
}

// behind is the position behind it.
func (a *ahead) behind() position {
	if len(a.chunks) == 0 {
		return 0
	}
	return a.chunks[len(a.chunks)-1].behind
}

// readAhead is the number of chunks that follow the one with a position.
func (a *ahead) readAhead(p position) int {
	n := 0
	for n < len(a.chunks) && a.chunks[len(a.chunks)-1-n].first > p {
		n++
	}
	return n
}

// read reads chunks until enough lie ahead of a position. What can't be read is not there:
// whoever needs it seeks it by its key, and is told why.
func (a *ahead) read(s *Store, p position) {
	a.idle = 0
	from := cursor{segments: &s.segments, memory: a.memory, ahead: farRead}
	at := a.behind()
	if at == 0 {
		var err error
		if at, err = from.seek(p - min(reach, p)); err != nil {
			return
		}
	}
	for more := true; more && (!a.holds(p) || a.readAhead(p) < aheadChunks); {
		c := a.newChunk()
		if more = c.fill(&from, at); len(c.packs) == 0 {
			break
		}
		c.index(s)
		at = c.behind
		a.chunks = append(a.chunks, c)
		a.drop(len(a.chunks) - maxChunks)
	}
	if cap(from.memory) <= chunkBytes { // a single long answer's would be kept for good
		a.memory = from.memory
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
	for i, c := range a.spare {
		if c.readers > 0 {
			continue
		}
		a.spare = slices.Delete(a.spare, i, i+1)
		if c.memory() > 2*chunkBytes {
			break // a single long answer's would be kept for good
		}
		clear(c.answers)
		clear(c.marks[:])
		return c
	}
	return &chunk{answers: make(map[string]arrived, chunkAnswers)}
}

// memory is what the packs hold, in bytes, for these answers or the next.
func (c *chunk) memory() (n int) {
	for _, p := range c.packs[:cap(c.packs)] {
		n += cap(p.memory)
	}
	return n
}

// fill reads packs from a position on into an empty chunk, and says whether there are more.
func (c *chunk) fill(from *cursor, at position) (more bool) {
	c.packs = c.packs[:0]
	answers, bytes := 0, 0
	for start := at; answers < chunkAnswers && bytes < chunkBytes && at-start < chunkBytes; {
		p := c.nextPack()
		behind, err := from.next(at, p)
		if err != nil && !errors.Is(err, errDamaged) { // of a damaged one is told when it is sought
			c.packs = c.packs[:len(c.packs)-1]
			break
		}
		answers += len(p.values)
		bytes += len(p.memory)
		at = behind
	}
	if len(c.packs) == 0 {
		return false
	}
	c.first, c.last, c.behind = c.packs[0].at, c.packs[len(c.packs)-1].at, at
	return true
}

// nextPack makes room for a pack, if there was one before in its memory.
func (c *chunk) nextPack() *pack {
	n := len(c.packs)
	c.packs = slices.Grow(c.packs, 1)[:n+1]
	return &c.packs[n]
}

// index finds the answers' keys, which share a piece of memory, and leaves hints to them.
func (c *chunk) index(s *Store) {
	keys := make([]byte, 0, c.keys+c.keys/4)
	for i := range c.packs {
		for _, value := range c.packs[i].values {
			key, _, _ := splitValue(value) // none in one that has been replaced
			keys = append(keys, key...)
		}
	}
	c.keys = len(keys)
	text, end := string(keys), 0
	for i := range c.packs {
		p := &c.packs[i]
		for _, value := range p.values {
			key, _, ok := splitValue(value)
			if !ok {
				continue
			}
			start := end
			end += len(key)
			if s.options.ReadOnly && s.recent.has(key) {
				continue // a newer one, and nobody could mark this
			}
			hash := hashKey(key)
			c.answers[text[start:end]] = arrived{p.at, value}
			c.marks.add(hash)
			s.hints.add(hash, p.at)
		}
	}
}

// forget drops the answers with some keys, which have newer ones.
func (a *ahead) forget(keys [][]byte) {
	if len(keys) == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, key := range keys {
		for _, c := range a.chunks {
			delete(c.answers, string(key))
		}
	}
}
