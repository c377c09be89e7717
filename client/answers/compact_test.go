package answers

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// replaceSpread replaces answers by those that are n further.
func replaceSpread(s *Store, n int, indexes ...int) error {
	b := s.NewBatch()
	for _, i := range indexes {
		if err := b.Add(spread(i), spreadAnswer(i+n), true); err != nil {
			return err
		}
	}
	return b.Commit()
}

// wantReplaced wants n answers of which those in replaced are n further.
func wantReplaced(t *testing.T, s *Store, n int, replaced func(i int) bool) {
	t.Helper()
	for i := range n {
		want := i
		if replaced(i) {
			want += n
		}
		got, found, err := s.Lookup(spread(i))
		if err != nil || !found || got.Answer.Entries[0] != spreadAnswer(want).Answer.Entries[0] {
			t.Fatalf("answer %d: got %+v, %t, %v", i, got, found, err)
		}
	}
	if got := strings.Count(export(t, s), "\n"); got != n || s.Damaged() != 0 {
		t.Errorf("%d answers of %d are exported, %d damaged", got, n, s.Damaged())
	}
}

func bytesOf(t *testing.T, s *Store, ext string) (sum int64) {
	t.Helper()
	names, err := s.options.FS.List(s.options.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		info, err := s.options.FS.Stat(filepath.Join(s.options.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ext {
			sum += info.Size()
		}
	}
	return sum
}

// TestCompactDropsWhatWasReplaced wants the space of a few replaced answers back.
func TestCompactDropsWhatWasReplaced(t *testing.T) {
	const n = 2000
	disk := vfs.NewMem()
	s := storeSpread(t, disk, n)
	before := bytesOf(t, s, segmentExt)
	replaced := func(i int) bool { return i%5 == 0 }
	for i := range n {
		if replaced(i) {
			if err := replaceSpread(s, n, i); err != nil {
				t.Fatal(err)
			}
		}
	}
	stray, err := disk.Create("store/00000000000000999999.segment", vfs.WriteCategoryUnspecified)
	if err := errors.Join(err, stray.Close(), s.Compact(t.Context())); err != nil {
		t.Fatal(err)
	}
	if after := bytesOf(t, s, segmentExt); after > before+before/20 {
		t.Errorf("%d bytes, before %d", after, before)
	}
	if _, err := disk.Stat("store/00000000000000999999.segment"); err == nil {
		t.Error("a segment that nobody knows is left")
	}
	for range 2 {
		wantReplaced(t, s, n, replaced)
		closed(t, s)
		s = open(t, Options{FS: disk})
	}
	closed(t, s)
}

// TestSpaceIsGivenBack replaces all answers again and again, as a daily refresh does.
func TestSpaceIsGivenBack(t *testing.T) {
	const n, days = 300, 10
	disk := vfs.NewMem()
	s := storeSpread(t, disk, n)
	before := bytesOf(t, s, segmentExt)
	for day := range days {
		for i := range n {
			if err := replaceSpread(s, n*(day+1), i); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.move(); err != nil {
			t.Fatal(err)
		}
		if got := bytesOf(t, s, segmentExt); got > 5*before {
			t.Errorf("day %d: %d bytes, on the first one %d", day, got, before)
		}
		closed(t, s)
		s = open(t, Options{FS: disk})
	}
	for i := range n {
		got, found, err := s.Lookup(spread(i))
		if err != nil || !found || got.Answer.Entries[0] != spreadAnswer(n*days + i).Answer.Entries[0] {
			t.Fatalf("answer %d: got %+v, %t, %v", i, got, found, err)
		}
	}
	closed(t, s)
}

// TestEveryFaultOfReclaiming lets each operation of a compaction fail.
func TestEveryFaultOfReclaiming(t *testing.T) {
	const n = 60
	replaced := func(i int) bool { return i%3 == 0 }
	for fault := int64(1); ; fault++ {
		disk := vfs.NewCrashableMem()
		var armed, hit atomic.Bool
		var seen atomic.Int64
		s := open(t, Options{FS: errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if armed.Load() && seen.Add(1) == fault {
				hit.Store(true)
				return syscall.EIO
			}
			return nil
		}))})
		if err := addMany(s, 0, n); err != nil {
			t.Fatal(err)
		}
		if err := s.move(); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if replaced(i) {
				if err := replaceSpread(s, n, i); err != nil {
					t.Fatal(err)
				}
			}
		}
		armed.Store(true)
		err := s.Compact(t.Context())
		armed.Store(false)
		if !hit.Load() {
			if err != nil {
				t.Fatal(err)
			}
			closed(t, s)
			t.Logf("%d operations", fault-1)
			return
		}
		for percent := range 2 {
			again := open(t, Options{FS: disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100 * percent, RNG: rand.New(rand.NewPCG(uint64(fault), 1))})})
			wantReplaced(t, again, n, replaced)
			if err := again.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantReplaced(t, again, n, replaced)
			closed(t, again)
		}
	}
}

// TestLookupsWhileSegmentsGo looks answers up while all of them move on and on.
func TestLookupsWhileSegmentsGo(t *testing.T) {
	const n, rounds = 200, 60
	s := storeSpread(t, vfs.NewMem(), n)
	defer closed(t, s)
	s.hints.begin()
	var over atomic.Bool
	var wg sync.WaitGroup
	for worker := range 2 {
		wg.Go(func() {
			for i := worker; !over.Load(); i += 7 {
				queries := []Query{{Request: spread(i % n)}, {Request: spread(i * 31 % n)}}
				if err := s.LookupAll(queries); err != nil || !queries[0].Found || !queries[1].Found {
					t.Errorf("%+v, %v", queries, err)
					return
				}
			}
		})
	}
	for round := range rounds {
		if err := replaceSpread(s, n*round, round%n, (round+50)%n); err != nil {
			t.Error(err)
		}
		if err := s.Compact(t.Context()); err != nil {
			t.Error(err)
		}
	}
	over.Store(true)
	wg.Wait()
	if got := s.Damaged(); got != 0 {
		t.Errorf("%d damaged", got)
	}
}
