package answers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/bulkcat/bulkcat/client"
)

const lookedUp = 256 // requests at once

// spread is the request that has the i-th answer: the order of the keys is another.
func spread(i int) client.Request {
	r := request
	r.Input = fmt.Sprintf("https://site-%d.example", (i*7919)%100_003)
	return r
}

func spreadAnswer(i int) Outcome {
	o := sound(noon)
	o.Answer.Entries[0].Value = fmt.Sprintf("A > %d", i)
	o.Answer.Body = fmt.Appendf(nil, `{"taxonomy_v3":[{"value":"A > %d","confidence":0.5}],"noise":"`, i)
	noise := rand.NewPCG(uint64(i), 1)
	for range 10 { // with it, an answer takes as much as one of some entries when it is packed
		o.Answer.Body = strconv.AppendUint(o.Answer.Body, noise.Uint64(), 36)
	}
	o.Answer.Body = append(o.Answer.Body, `"}`...)
	return o
}

// storeSpread makes a store of n answers, which have moved to the segments.
func storeSpread(t *testing.T, files vfs.FS, n int) *Store {
	t.Helper()
	s := open(t, Options{FS: files})
	b := s.NewBatch()
	for i := range n {
		if err := b.Add(spread(i), spreadAnswer(i), false); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(b.Commit(), s.move()); err != nil {
		t.Fatal(err)
	}
	return s
}

// isAhead says whether an answer has been read ahead.
func isAhead(s *Store, i int) bool {
	key := appendKey(nil, s.options.Source, spread(i))
	return slices.ContainsFunc(s.ahead.chunks, func(c *chunk) bool { return c.answers[string(key)].value != nil })
}

// placeOf is the position of an answer's pack.
func placeOf(t *testing.T, s *Store, i int) position {
	t.Helper()
	at, err := s.place(appendKey(nil, s.options.Source, spread(i)))
	if err != nil || at == 0 {
		t.Fatalf("answer %d: at %d, %v", i, at, err)
	}
	return at
}

// lookUpSpread looks up what lies at indexes, wants all of it, and gives how many had
// been read ahead.
func lookUpSpread(t *testing.T, s *Store, indexes []int) (ahead int) {
	t.Helper()
	queries := make([]Query, len(indexes))
	for k, i := range indexes {
		queries[k].Request = spread(i)
		if isAhead(s, i) {
			ahead++
		}
	}
	if err := s.LookupAll(queries); err != nil {
		t.Fatal(err)
	}
	for k, i := range indexes {
		want := spreadAnswer(i).Answer.Entries[0]
		if q := queries[k]; !q.Found || !q.Stored || q.Outcome.Answer.Entries[0] != want {
			t.Fatalf("answer %d: got %+v", i, q)
		}
	}
	return ahead
}

// TestReadsAhead looks all answers up once, in some order.
func TestReadsAhead(t *testing.T) {
	const n = 10_000
	s := storeSpread(t, vfs.NewMem(), n)
	defer closed(t, s)
	rng := rand.New(rand.NewPCG(1, 1))
	for name, tt := range map[string]struct {
		at          func(i int) int
		least, most int // that are read ahead
	}{
		"as they arrived":     {func(i int) int { return i }, n - 3*lookedUp, n},
		"backwards":           {func(i int) int { return n - 1 - i }, n / 2, n},
		"some overtook":       {func(i int) int { return (i/100*100 + rng.IntN(100)) % n }, n - 3*lookedUp, n},
		"some came very late": {func(i int) int { return (i + i%10/9*(n/2)) % n }, n * 8 / 10, n * 95 / 100},
		"far from each other": {func(i int) int { return i * 7919 % n }, 0, n / 10},
	} {
		t.Run(name, func(t *testing.T) {
			s.ahead.drop(len(s.ahead.chunks))
			s.ahead.missed = 0
			ahead := 0
			for from := 0; from < n; from += lookedUp {
				var indexes []int
				for i := from; i < min(from+lookedUp, n); i++ {
					indexes = append(indexes, tt.at(i))
				}
				ahead += lookUpSpread(t, s, indexes)
			}
			if ahead < tt.least || ahead > tt.most {
				t.Errorf("%d of %d were read ahead, want %d to %d", ahead, n, tt.least, tt.most)
			}
			if got := len(s.ahead.chunks); got > maxChunks {
				t.Errorf("%d chunks are held", got)
			}
		})
	}
}

// TestReadsAheadAmongDuplicates wants it where most requests are the same as some before,
// whose answers lie anywhere.
func TestReadsAheadAmongDuplicates(t *testing.T) {
	const n, fresh, of = 9_000, 3, 10 // three in ten are there for the first time
	s := storeSpread(t, vfs.NewMem(), n)
	defer closed(t, s)
	rng := rand.New(rand.NewPCG(1, 1))
	ahead := 0
	for next := 0; next < n; {
		var indexes []int
		for i := range lookedUp {
			index := rng.IntN(next + 1)
			if i%of < fresh {
				index, next = min(next, n-1), next+1
				if isAhead(s, index) {
					ahead++
				}
			}
			indexes = append(indexes, index)
		}
		lookUpSpread(t, s, indexes)
	}
	if want := n * 95 / 100; ahead < want {
		t.Errorf("%d of %d were read ahead, want at least %d", ahead, n, want)
	}
}

// TestReadsAheadOneByOne wants the same of requests that are looked up alone, and of a
// store that grows meanwhile.
func TestReadsAheadOneByOne(t *testing.T) {
	const n = 3000
	s := storeSpread(t, vfs.NewMem(), n)
	defer closed(t, s)
	ahead := 0
	for i := range n {
		ahead += lookUpSpread(t, s, []int{i})
		if i%3 == 0 {
			commit(t, s, spread(n+i/3), spreadAnswer(n+i/3))
			if err := s.move(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if ahead < n-chunkAnswers {
		t.Errorf("%d of %d were read ahead", ahead, n)
	}
}

// TestIdleAnswersAreDropped comes to what is new behind what was answered.
func TestIdleAnswersAreDropped(t *testing.T) {
	const n = 1000
	s := storeSpread(t, vfs.NewMem(), n)
	defer closed(t, s)
	for i := range n {
		lookUpSpread(t, s, []int{i})
	}
	for i := range maxIdle + 1 {
		if len(s.ahead.chunks) == 0 {
			t.Fatalf("dropped after %d batches", i)
		}
		if _, found, err := s.Lookup(spread(n + i)); found || err != nil {
			t.Fatalf("found %t, %v", found, err)
		}
	}
	if len(s.ahead.chunks) > 0 {
		t.Error("what nobody asks for is held")
	}
	lookUpSpread(t, s, []int{1, 2, 3})
	if lookUpSpread(t, s, []int{4, 5, 6}) != 3 {
		t.Error("nothing is read ahead any more")
	}
	for i := range maxIdle + 1 { // hits now and then
		queries := []Query{{Request: spread(i)}}
		for k := range 15 {
			queries = append(queries, Query{Request: spread(n + 15*i + k)})
		}
		if err := s.LookupAll(queries); err != nil || !queries[0].Found {
			t.Fatalf("found %t, %v", queries[0].Found, err)
		}
	}
	if len(s.ahead.chunks) > 0 {
		t.Error("what hardly anybody asks for is held")
	}
}

// TestTakenValuesStay reads on while values that were taken are still being read.
func TestTakenValuesStay(t *testing.T) {
	const n = 20 * chunkAnswers
	s := storeSpread(t, vfs.NewMem(), n)
	defer closed(t, s)
	lookUpSpread(t, s, []int{0})
	order := []sought{{key: appendKey(nil, s.options.Source, spread(0))}}
	taken := s.ahead.take(order, nil)
	if len(taken) != 1 || order[0].position != firstPosition {
		t.Fatalf("taken %+v", order)
	}
	s.ahead.drop(len(s.ahead.chunks))
	for i := range n {
		lookUpSpread(t, s, []int{i})
	}
	if _, err := parseValue(order[0].key, order[0].value, client.TaxonomyV3); err != nil {
		t.Error("the memory of a value that was taken has been used again")
	}
	s.ahead.release(taken)
	if c := s.ahead.newChunk(); c != taken[0] {
		t.Error("the memory is not used again")
	}
}

func TestReplacedAnswersAreForgotten(t *testing.T) {
	files := vfs.NewMem()
	s := storeSpread(t, files, lookedUp)
	lookUpSpread(t, s, []int{0, 1, 2})
	if !isAhead(s, 3) {
		t.Fatal("nothing was read ahead")
	}
	newer := spreadAnswer(1000)
	commit(t, s, spread(1), newer)
	for range 2 {
		got, found, err := s.Lookup(spread(1))
		if err != nil || !found || got.Answer.Entries[0] != newer.Answer.Entries[0] {
			t.Errorf("got %+v, %t, %v", got, found, err)
		}
		lookUpSpread(t, s, []int{0, 2})
		closed(t, s)
		s = open(t, Options{FS: files})
	}
	if lines := strings.Count(export(t, s), "\n"); lines != lookedUp {
		t.Errorf("%d answers are left of %d", lines, lookedUp)
	}
	closed(t, s)
}

// TestDamageAheadIsNotMet wants damage to be told of by who needs what is damaged, and by
// nobody else.
func TestDamageAheadIsNotMet(t *testing.T) {
	const n = 8000
	files := vfs.NewMem()
	s := storeSpread(t, files, n)
	if err := errors.Join(s.Close()); err != nil {
		t.Fatal(err)
	}
	contents := readStore(t, files)
	name := theSegment(t, contents)
	contents[name] = flip(contents[name], len(contents[name])/2)
	s = open(t, Options{FS: lay(t, contents)})
	defer s.Close()
	lookUpSpread(t, s, []int{0, 1, 2, 3})
	if len(s.ahead.chunks) == 0 || s.Damaged() != 0 {
		t.Errorf("%d chunks, %d damaged", len(s.ahead.chunks), s.Damaged())
	}
	missing := int64(0)
	for i := range n {
		if _, found, err := s.Lookup(spread(i)); err != nil {
			t.Fatal(err)
		} else if !found {
			missing++
		}
	}
	if missing == 0 || missing > n/50 || s.Damaged() != missing {
		t.Errorf("%d of %d are missing, %d damaged", missing, n, s.Damaged())
	}
}

// TestLookupsWhileAnswersCome wants the newest answer at any time.
func TestLookupsWhileAnswersCome(t *testing.T) {
	const n, rounds = 600, 20
	s := storeSpread(t, vfs.NewMem(), n)
	defer closed(t, s)
	var wg sync.WaitGroup
	for worker := range 2 {
		wg.Go(func() { // each has requests of its own
			b := s.NewBatch()
			for round := range rounds {
				queries := make([]Query, n/2)
				for i := range queries {
					queries[i].Request = spread(2*i + worker)
				}
				if err := s.LookupAll(queries); err != nil {
					t.Error(err)
					return
				}
				for i, q := range queries {
					was := spreadAnswer(2*i + worker)
					if round > 0 {
						was = spreadAnswer(round)
					}
					if !q.Found || q.Outcome.Answer.Entries[0] != was.Answer.Entries[0] {
						t.Errorf("round %d, request %d: got %+v", round, i, q)
						return
					}
					if err := b.Add(q.Request, spreadAnswer(round+1), q.Stored); err != nil {
						t.Error(err)
						return
					}
				}
				if err := b.Commit(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if lines := strings.Count(export(t, s), "\n"); lines != n {
		t.Errorf("%d answers of %d requests", lines, n)
	}
}

// TestLongAnswersAreReadAhead wants answers of any length, and memory that does not grow
// with them.
func TestLongAnswersAreReadAhead(t *testing.T) {
	const n = 40
	s := open(t, Options{FS: vfs.NewMem()})
	defer closed(t, s)
	for i := range n {
		o := spreadAnswer(i)
		o.Answer.Body = append(o.Answer.Body, strings.Repeat(" ", i%2*2*chunkBytes)...)
		commit(t, s, spread(i), o)
	}
	if err := s.move(); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		lookUpSpread(t, s, []int{i})
		held := 0
		for _, c := range s.ahead.chunks {
			for _, a := range c.answers {
				held += len(a.value)
			}
		}
		if most := maxChunks * 3 * chunkBytes; held > most {
			t.Fatalf("%d bytes are held, want %d at most", held, most)
		}
	}
}

// TestPositionsGoOn wants no position twice.
func TestPositionsGoOn(t *testing.T) {
	files := vfs.NewMem()
	last := position(0)
	for i := range 5 {
		s := open(t, Options{FS: files})
		commit(t, s, spread(i), spreadAnswer(i))
		if err := s.move(); err != nil {
			t.Fatal(err)
		}
		if at := placeOf(t, s, i); at <= last {
			t.Errorf("answer %d is at %d, the one before at %d", i, at, last)
		} else {
			last = at
		}
		closed(t, s)
	}
	s := open(t, Options{FS: files, ReadOnly: true})
	defer closed(t, s)
	if err := s.db.Set([]byte("x"), nil, pebble.Sync); err == nil {
		t.Error("it was written")
	}
	lookUpSpread(t, s, []int{0, 1, 2, 3, 4})
}
