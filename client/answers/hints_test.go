package answers

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestHints(t *testing.T) {
	const n = 50_000
	var h hints
	hash := func(i int) uint64 { return hashKey(fmt.Appendf(nil, "site-%d", i)) }
	if at := h.lead(hash(0)); at != 0 {
		t.Errorf("without hints: %d", at)
	}
	h.add(hash(0), 1)
	if at := h.lead(hash(0)); at != 0 {
		t.Errorf("hints that nobody wants: %d", at)
	}
	h.begin()
	for i := range n {
		h.add(hash(i), position(i+1))
	}
	wrong, misleading := 0, 0
	for i := range n {
		if h.lead(hash(i)) != position(i+1) {
			wrong++
		}
		if h.lead(hash(n+i)) != 0 {
			misleading++
		}
	}
	if wrong > n/1000 || misleading > n/1000 {
		t.Errorf("of %d hints %d are wrong and %d lead from keys that are not there", n, wrong, misleading)
	}
}

// TestHintsHaveRoom fills one bucket: the hints at the oldest answers go.
func TestHintsHaveRoom(t *testing.T) {
	var h hints
	h.begin()
	hash := func(tag int) uint64 { return 7<<24 | uint64(tag) }
	h.add(hash(0), mostHinted+1)
	if at := h.lead(hash(0)); at != 0 {
		t.Errorf("a position that has no room: %d", at)
	}
	for _, i := range []int{5, 2, 9, 1, 4, 8, 3, 7, 6, 10, 10} {
		h.add(hash(i), position(i))
	}
	for i := 1; i <= 10; i++ {
		want := position(i)
		if i <= 2 {
			want = 0
		}
		if at := h.lead(hash(i)); at != want {
			t.Errorf("hint %d: %d", i, at)
		}
	}
	h.add(hash(10), mostHinted)
	if at := h.lead(hash(10)); at != mostHinted {
		t.Errorf("the later of two: %d", at)
	}
}

// TestHintsAreLeftWhereWanted asks in the order of arrival, and then out of it.
func TestHintsAreLeftWhereWanted(t *testing.T) {
	const n = mostRecent + unhinted
	s := open(t, Options{FS: vfs.NewMem()})
	defer closed(t, s)
	if err := addMany(s, 0, n); err != nil {
		t.Fatal(err)
	}
	lookUpMany(t, s, n)
	if s.hints.wanted() {
		t.Error("there are hints where answers come in order")
	}
	last := 0
	for i := 0; !s.hints.wanted(); i++ {
		if i > 4*unhinted {
			t.Fatal("there are no hints")
		}
		last = i * 7919 % n
		lookUpSpread(t, s, []int{last})
	}
	if at := s.hints.lead(hashKey(appendKey(nil, s.options.Source, spread(last)))); at != placeOf(t, s, last) {
		t.Errorf("the last answer that was sought: %d", at)
	}
}

// TestHintsSpareKeys takes a key away: its answer is found nevertheless, as long as
// there are hints.
func TestHintsSpareKeys(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, Options{FS: files})
	s.hints.begin()
	if err := addMany(s, 0, mostRecent+300); err != nil {
		t.Fatal(err)
	}
	key := appendKey(nil, s.options.Source, spread(5))
	if s.recent.has(key) {
		t.Fatal("the key was not moved")
	}
	if err := s.db.Delete(key, pebble.NoSync); err != nil {
		t.Fatal(err)
	}
	lookUpSpread(t, s, []int{5})
	closed(t, s)
	s = open(t, Options{FS: files})
	if _, found, err := s.Lookup(spread(5)); found || err != nil {
		t.Errorf("without hints: %v, %v", found, err)
	}
	closed(t, s)
}

// TestWrongHints misleads lookups in each way that hints can.
func TestWrongHints(t *testing.T) {
	const n, replaced = 1000, 7
	files := vfs.NewMem()
	s := storeSpread(t, files, n)
	older, another := placeOf(t, s, replaced), placeOf(t, s, n-1)
	commit(t, s, spread(replaced), spreadAnswer(n))
	closed(t, s)
	s = open(t, Options{FS: files}) // without a filter of all keys
	defer closed(t, s)
	if err := s.move(); err != nil {
		t.Fatal(err)
	}
	hintAt := func(i int, at position) {
		s.hints = hints{}
		s.hints.begin()
		s.hints.add(hashKey(appendKey(nil, s.options.Source, spread(i))), at)
	}
	for name, at := range map[string]position{
		"another's": another, "the one it replaced": older, "the first": firstPosition,
		"no pack": another + 1, "behind the last": s.segments.end(), "far behind": mostHinted,
	} {
		hintAt(replaced, at)
		q := []Query{{Request: spread(replaced)}, {Request: spread(20)}}
		if err := s.LookupAll(q); err != nil {
			t.Fatal(err)
		}
		if !q[0].Found || q[0].Outcome.Answer.Entries[0] != spreadAnswer(n).Answer.Entries[0] || !q[1].Found {
			t.Errorf("a hint at %s: %+v", name, q)
		}
		if s.Damaged() != 0 {
			t.Fatalf("a hint at %s: %d damaged", name, s.Damaged())
		}
		hintAt(n+1, at)
		if _, found, err := s.Lookup(spread(n + 1)); found || err != nil {
			t.Errorf("a hint at %s, for what is not there: %v, %v", name, found, err)
		}
	}
}
