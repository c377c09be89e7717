package answers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// random gives values that do not compress.
func random(n, size int) [][]byte {
	rng := rand.NewChaCha8([32]byte{1})
	values := make([][]byte, n)
	for i := range values {
		values[i] = make([]byte, size)
		rng.Read(values[i])
	}
	return values
}

func TestPack(t *testing.T) {
	alike := func(n, size int) [][]byte {
		values := make([][]byte, n)
		for i := range values {
			values[i] = bytes.Repeat([]byte{byte(i)}, size)
		}
		return values
	}
	replaced := alike(20, 400)
	replaced[0], replaced[7], replaced[19] = nil, nil, nil
	for name, tt := range map[string]struct {
		values     [][]byte
		compressed bool
	}{
		"one":                  {alike(1, 100), false},
		"too few to compress":  {alike(2, 1000), false},
		"compressed":           {alike(20, 400), true},
		"of random bytes":      {random(20, 400), true},
		"some replaced":        {replaced, true},
		"nearly too long":      {alike(1, mostPacked-3), true},
		"one that is too long": {random(1, mostPacked), false},
		"as many as fit":       {alike(packAnswers, 30), true},
	} {
		t.Run(name, func(t *testing.T) {
			var from packer
			for _, value := range tt.values {
				from.add(value)
			}
			plain := len(from.answers)
			before := []byte("before")
			packed := from.appendPack(before)
			if !bytes.HasPrefix(packed, before) || from.count != 0 || len(from.answers) != 0 {
				t.Fatalf("appended to %q; %d are left", packed[:len(before)], from.count)
			}
			packed = packed[len(before):]
			if got := packed[1] == packS2; got != tt.compressed || len(packed) > plain+64 {
				t.Errorf("compressed %t: %d bytes of %d", got, len(packed), plain)
			}
			const last = 1000
			var p pack
			for range 2 { // the second time in the memory of the first
				if err := p.parse(last, packed); err != nil {
					t.Fatal(err)
				}
			}
			first := Position(last - len(tt.values) + 1)
			if p.first() != first || p.holds(first-1) || !p.holds(first) || !p.holds(last) || p.holds(last+1) {
				t.Errorf("from %d to %d, want from %d", p.first(), p.last, first)
			}
			for i, want := range tt.values {
				if got := p.value(first + Position(i)); !bytes.Equal(got, want) {
					t.Errorf("answer %d is %.20q, want %.20q", i, got, want)
				}
			}
			if p.value(first-1) != nil || p.value(last+1) != nil {
				t.Error("there are answers outside")
			}
			for i := 0; i < len(packed); i += 1 + len(packed)/300 {
				for _, bad := range [][]byte{flip(packed, i), packed[:i]} {
					if err := p.parse(last, bad); !errors.Is(err, errDamaged) || p.holds(last) {
						t.Fatalf("byte %d: %v, %d answers", i, err, len(p.values))
					}
				}
			}
			if err := p.parse(Position(len(tt.values)-1), packed); !errors.Is(err, errDamaged) {
				t.Errorf("before the first position: %v", err)
			}
		})
	}
}

// FuzzParsePack wants no more than what is there from any bytes, whose checksum is right.
func FuzzParsePack(f *testing.F) {
	for _, values := range [][][]byte{random(1, 100), random(20, 400), {nil, []byte("x"), nil}} {
		var from packer
		for _, value := range values {
			from.add(value)
		}
		f.Add(from.appendPack(nil))
	}
	f.Add([]byte{valueVersion, 1})
	f.Fuzz(func(t *testing.T, value []byte) {
		if len(value) >= packHeaderSize && value[0] == packVersion {
			value = bytes.Clone(value)
			binary.BigEndian.PutUint32(value[packChecksumAt:], packChecksum(value))
		}
		var p pack
		if err := p.parse(1<<40, value); err != nil {
			if len(p.values) != 0 {
				t.Fatal("a damaged pack has answers")
			}
			return
		}
		size := 0
		for _, v := range p.values {
			size += len(v)
		}
		if len(p.values) == 0 || len(p.values) > packAnswers || size > max(mostPacked, len(value)) {
			t.Fatalf("%d answers of %d bytes in all", len(p.values), size)
		}
	})
}

// packsOf is the number of packs, and of the answers in them.
func packsOf(t *testing.T, s *Store) (packs, answers int) {
	t.Helper()
	it, err := s.newAnswersIter(0)
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	for more := it.First(); more; more = it.Next() {
		var p pack
		if err := p.parse(parsePositionKey(it.Key()), it.Value()); err != nil {
			t.Fatal(err)
		}
		packs++
		for _, value := range p.values {
			if len(value) > 0 {
				answers++
			}
		}
	}
	return packs, answers
}

// TestReplacedAnswersLeavePacks replaces answers anywhere, and then the rest.
func TestReplacedAnswersLeavePacks(t *testing.T) {
	const n = 1000
	files := vfs.NewMem()
	s := storeSpread(t, files, n)
	if packs, answers := packsOf(t, s); packs > n/10 || answers != n {
		t.Fatalf("%d answers in %d packs", answers, packs)
	}
	current := make([]int, n) // whose answer each request has
	for i := range current {
		current[i] = i
	}
	replace := func(indexes []int) {
		t.Helper()
		b := s.NewBatch()
		defer b.Close()
		for _, i := range indexes {
			queries := []Query{{Request: spread(i)}}
			current[i] += n
			if err := errors.Join(s.LookupAll(queries), b.Add(spread(i), spreadAnswer(current[i]), queries[0].Position)); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		if _, answers := packsOf(t, s); answers != n {
			t.Errorf("%d answers are left", answers)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	all := rng.Perm(n)
	replace(all[:1])
	replace(all[1:100])
	replace(all[100:])
	if packs, _ := packsOf(t, s); packs > n/10 {
		t.Errorf("%d packs are left", packs)
	}
	for range 2 {
		for i := range n {
			got, found, err := s.Lookup(spread(i))
			if want := spreadAnswer(current[i]).Answer.Entries[0]; err != nil || !found || got.Answer.Entries[0] != want {
				t.Fatalf("answer %d: got %+v, %t, %v", i, got, found, err)
			}
		}
		closed(t, s)
		s = open(t, Options{FS: files})
	}
	closed(t, s)
}

// A pack that is damaged goes with the first of its answers that is asked again.
func TestDamagedPackIsReplaced(t *testing.T) {
	const n = 200
	s := storeSpread(t, vfs.NewMem(), n)
	defer closed(t, s)
	it, err := s.newAnswersIter(0)
	if err != nil {
		t.Fatal(err)
	}
	it.First()
	key, value := bytes.Clone(it.Key()), bytes.Clone(it.Value())
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
	lost := int(parsePositionKey(key))
	if lost < 2 || lost > n/2 {
		t.Fatalf("%d answers in the first pack", lost)
	}
	set(t, s, key, flip(value, len(value)/2))
	for i := range n {
		if _, found, err := s.Lookup(spread(i)); err != nil || found == (i < lost) {
			t.Fatalf("answer %d: found %t, %v", i, found, err)
		}
	}
	if got := s.Damaged(); got != int64(lost) {
		t.Errorf("%d damaged, want %d", got, lost)
	}
	for i := range lost {
		commit(t, s, spread(i), spreadAnswer(i))
		if lines := strings.Count(export(t, s), "\n"); lines != n-lost+i+1 {
			t.Fatalf("%d asked again: %d answers", i+1, lines)
		}
	}
	if _, answers := packsOf(t, s); answers != n {
		t.Errorf("%d answers", answers)
	}
}

// TestFormat2 opens a store in which each answer has a place of its own, and each key was
// in the database at once.
func TestFormat2(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, Options{FS: files})
	const n = 5
	for i := range n {
		r, o := numbered(i)
		key := appendKey(nil, s.options.Source, r)
		set(t, s, key, appendPosition(nil, Position(i+1)))
		set(t, s, appendPositionKey(nil, Position(i+1)), appendValue(nil, key, o))
	}
	set(t, s, formatKey, []byte(formatSingle))
	if err := s.db.Delete(indexedKey, pebble.NoSync); err != nil {
		t.Fatal(err)
	}
	closed(t, s)

	for _, readOnly := range []bool{true, false} {
		s = open(t, Options{FS: files, ReadOnly: readOnly})
		wantAnswers(t, s, n, n+1)
		if got := strings.Count(export(t, s), "\n"); got != n {
			t.Errorf("exported %d", got)
		}
		if len(s.recent.positions) != 0 {
			t.Errorf("%d keys are not in the database", len(s.recent.positions))
		}
		if readOnly {
			closed(t, s)
		}
	}
	for i := range 2 { // one that is written over, and a new one
		r, o := numbered(n - 1 + i)
		commit(t, s, r, o)
	}
	closed(t, s)

	s = open(t, Options{FS: files})
	defer closed(t, s)
	wantAnswers(t, s, n+1, n+1)
	if got := strings.Count(export(t, s), "\n"); got != n+1 {
		t.Errorf("exported %d", got)
	}
	if format, _, err := s.get(formatKey); string(format) != formatVersion || err != nil {
		t.Errorf("format %q, %v: older programs must not write into it", format, err)
	}
}

// Who is led to another's answer, or behind the last one, in whatever pack, leaves it alone.
func TestDamagedPositionHarmsNoneInPacks(t *testing.T) {
	const n, led = 100, 3
	for _, to := range []Position{1, 2, 50, n - 1, n, n + 1} {
		s := storeSpread(t, vfs.NewMem(), n)
		set(t, s, appendKey(nil, s.options.Source, spread(led)), appendPosition(nil, to))
		if _, found, err := s.Lookup(spread(led)); found || err != nil {
			t.Errorf("at %d: found %t, %v", to, found, err)
		}
		commit(t, s, spread(led), spreadAnswer(led))
		for i := range n {
			if _, found, err := s.Lookup(spread(i)); !found || err != nil {
				t.Errorf("at %d: answer %d: found %t, %v", to, i, found, err)
			}
		}
		closed(t, s)
	}
}
