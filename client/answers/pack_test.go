package answers

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

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
	for name, tt := range map[string]struct {
		values     [][]byte
		replaced   []int
		compressed bool
	}{
		"one":                  {alike(1, 100), nil, true},
		"several":              {alike(20, 400), nil, true},
		"of random bytes":      {random(20, 400), nil, true},
		"some replaced":        {alike(20, 400), []int{0, 7, 19}, true},
		"nearly too long":      {alike(1, mostPacked-3), nil, true},
		"one that is too long": {random(1, mostPacked), nil, false},
		"as many as fit":       {alike(packAnswers, 30), nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			var from packer
			for _, value := range tt.values {
				from.add(value)
			}
			plain := len(from.answers)
			const at = 1000
			before := []byte("before")
			packed := from.appendPack(before, at)
			if !bytes.HasPrefix(packed, before) || from.count != 0 || len(from.answers) != 0 {
				t.Fatalf("appended to %q; %d are left", packed[:len(before)], from.count)
			}
			packed = packed[len(before):]
			if got := packed[1] == packS2; got != tt.compressed || len(packed) > plain+packHeaderSize+len(tt.values)+64 {
				t.Errorf("compressed %t: %d bytes of %d", got, len(packed), plain)
			}
			for _, i := range tt.replaced {
				packed[packHeaderSize+i] = replacedMark
				tt.values[i] = nil
			}
			var p pack
			for range 2 { // the second time in the memory of the first
				if err := p.parse(at, packed); err != nil {
					t.Fatal(err)
				}
			}
			if p.at != at || !slices.EqualFunc(p.values, tt.values, bytes.Equal) {
				t.Errorf("at %d, %d answers that are not those that were added", p.at, len(p.values))
			}
			if err := p.parse(at+1, packed); !errors.Is(err, errDamaged) {
				t.Errorf("in another place: %v", err)
			}
			for i := 0; i < len(packed); i += 1 + len(packed)/300 {
				wantDamagedPack(t, packed[:i], at)
				if i < packHeaderSize || i >= packHeaderSize+len(tt.values) {
					wantDamagedPack(t, flip(packed, i), at)
				} else if err := p.parse(at, flip(packed, i)); err != nil || !slices.EqualFunc(p.values, tt.values, bytes.Equal) {
					t.Errorf("one bit of mark %d: %v", i-packHeaderSize, err)
				}
			}
		})
	}
}

func wantDamagedPack(t *testing.T, text []byte, at position) {
	t.Helper()
	var p pack
	if err := p.parse(at, text); !errors.Is(err, errDamaged) || len(p.values) > 0 {
		t.Fatalf("%d bytes: %v, %d answers", len(text), err, len(p.values))
	}
}

// A pack that nobody needs any more is never damaged.
func TestReplacedPack(t *testing.T) {
	var from packer
	for _, value := range random(3, 100) {
		from.add(value)
	}
	packed := from.appendPack(nil, 1)
	for i := range 3 {
		packed[packHeaderSize+i] = replacedMark
	}
	var p pack
	if err := p.parse(1, flip(packed, len(packed)-1)); err != nil || len(p.values) > 0 {
		t.Errorf("%v, %d answers", err, len(p.values))
	}
}

// FuzzParsePack wants no more than what is there from any bytes, whose checksums are right.
func FuzzParsePack(f *testing.F) {
	for _, values := range [][][]byte{random(1, 100), random(20, 400), random(1, mostPacked)} {
		var from packer
		for _, value := range values {
			from.add(value)
		}
		f.Add(from.appendPack(nil, 1), byte(len(values)))
	}
	f.Fuzz(func(t *testing.T, text []byte, answers byte) {
		if size := len(text) - packHeaderSize - int(answers); size >= 0 {
			text = bytes.Clone(text)
			packHeader{text[1], int(answers), size, crc32.Checksum(text[packHeaderSize+int(answers):], castagnoli)}.put(text, 1)
		}
		var p pack
		if err := p.parse(1, text); err != nil {
			if len(p.values) != 0 {
				t.Fatal("a damaged pack has answers")
			}
			return
		}
		size := 0
		for _, v := range p.values {
			size += len(v)
		}
		if len(p.values) > int(answers) || size > max(mostPacked, len(text)) {
			t.Fatalf("%d answers of %d bytes in all", len(p.values), size)
		}
	})
}

// packsOf is the number of packs in the segments, and of the answers in them.
func packsOf(t *testing.T, s *Store) (packs, answers int) {
	t.Helper()
	from := cursor{segments: &s.segments, ahead: farRead}
	var p pack
	for at := firstPosition; ; packs++ {
		behind, err := from.next(at, &p)
		if errors.Is(err, io.EOF) {
			return packs, answers
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, value := range p.values {
			if len(value) > 0 {
				answers++
			}
		}
		at = behind
	}
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
		for _, i := range indexes {
			queries := []Query{{Request: spread(i)}}
			current[i] += n
			if err := errors.Join(s.LookupAll(queries), b.Add(spread(i), spreadAnswer(current[i]), queries[0].Stored)); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		if _, answers := packsOf(t, s); answers != n-len(indexes) {
			t.Errorf("%d answers are left", answers)
		}
		if err := s.move(); err != nil {
			t.Fatal(err)
		}
		if _, answers := packsOf(t, s); answers != n {
			t.Errorf("%d answers have moved", answers)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	all := rng.Perm(n)
	replace(all[:1])
	replace(all[1:100])
	replace(all[100:])
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
	files := vfs.NewMem()
	s := storeSpread(t, files, n)
	closed(t, s)
	contents := readStore(t, files)
	name := theSegment(t, contents)
	h, ok := parsePackHeader(contents[name], firstPosition)
	if !ok || h.answers < 2 || h.answers > n/2 {
		t.Fatalf("%d answers in the first pack", h.answers)
	}
	contents[name] = flip(contents[name], h.length()-1)
	s = open(t, Options{FS: lay(t, contents)})
	defer closed(t, s)
	lost := h.answers
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
	if got := s.Damaged(); got != int64(lost) { // the export has met no other
		t.Errorf("%d damaged, want %d", got, lost)
	}
}

// Who is led to another pack, or to none, leaves it alone.
func TestDamagedPositionHarmsNoOther(t *testing.T) {
	const n, led = 100, 3
	for name, to := range map[string]func(s *Store) position{
		"nowhere":            func(s *Store) position { return 0 },
		"another pack":       func(s *Store) position { return placeOf(t, s, n-1) },
		"inside of its pack": func(s *Store) position { return placeOf(t, s, led) + 1 },
		"behind all":         func(s *Store) position { return s.segments.end() },
		"far behind all":     func(s *Store) position { return 1 << 63 },
		"the last of all":    func(s *Store) position { return math.MaxUint64 },
	} {
		for how, ask := range map[string]func(s *Store) error{
			"asked again": func(s *Store) error { return tryCommitSpread(s, led, true) },
			"imported": func(s *Store) error {
				im := &importer{store: s, batch: s.NewBatch(), pending: make(map[string]int)}
				o := spreadAnswer(led)
				o.Answer.AnsweredAt = noon.Add(time.Hour)
				return errors.Join(im.add(s.options.Source, spread(led), o), im.commit())
			},
		} {
			s := storeSpread(t, vfs.NewMem(), n)
			set(t, s, appendKey(nil, s.options.Source, spread(led)), appendPosition(nil, to(s)))
			if _, found, err := s.Lookup(spread(led)); found || err != nil || s.Damaged() != 1 {
				t.Errorf("%s: found %t, %d damaged, %v", name, found, s.Damaged(), err)
			}
			if err := ask(s); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				if _, found, err := s.Lookup(spread(i)); !found || err != nil {
					t.Errorf("%s, %s: answer %d: found %t, %v", name, how, i, found, err)
				}
			}
			closed(t, s)
		}
	}
}

func tryCommitSpread(s *Store, i int, replaces bool) error {
	b := s.NewBatch()
	return errors.Join(b.Add(spread(i), spreadAnswer(i), replaces), b.Commit())
}
