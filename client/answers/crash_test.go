package answers

import (
	"encoding/json"
	"errors"
	"maps"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// image is a disk as a kill or the loss of power leaves it, and what must be on it: of each
// request the version that was committed, or the one that was being committed.
type image struct {
	disk             vfs.FS
	committed, flown map[int]int
	kill             bool // nothing that was written is lost
}

const versions = 1000 // of a request's answer are this far from each other

// TestCrashesAtAnyTime commits, replaces, moves and gives space back in any order, and takes
// images of the disk before any write.
func TestCrashesAtAnyTime(t *testing.T) {
	t.Parallel()
	const seeds, requests, steps = 2, 25, 30
	images := 0
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 1))
		for _, i := range crashImages(t, rng, requests, steps) {
			i.check(t, requests)
			images++
		}
	}
	t.Logf("%d images", images)
	if images < 15*seeds {
		t.Error("these are too few")
	}
}

func crashImages(t *testing.T, rng *rand.Rand, requests, steps int) (images []image) {
	t.Helper()
	disk := vfs.NewCrashableMem()
	committed, flown := make(map[int]int), make(map[int]int)
	dice := rand.New(rand.NewPCG(rng.Uint64(), 1)) // its order is not that of the steps
	armed := make(chan struct{}, 1)                // the database writes on its own goroutines, too
	armed <- struct{}{}
	s := open(t, Options{FS: errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() != errorfs.OpIsWrite || !strings.HasSuffix(op.Path, segmentExt) && !strings.HasSuffix(op.Path, journalExt) {
			return nil
		}
		<-armed
		defer func() { armed <- struct{}{} }()
		if kill := dice.IntN(2) == 0; dice.IntN(3) == 0 {
			images = append(images, image{crash(disk, kill), maps.Clone(committed), maps.Clone(flown), kill})
		}
		return nil
	}))})
	for step := range steps {
		switch rng.IntN(8) {
		case 0:
			must(t, s.move())
		case 1:
			must(t, s.Compact(t.Context()))
		case 2:
			_, err := s.segments.begin() // as if the last one were full
			must(t, errors.Join(s.move(), err, s.move()))
		default:
			b := s.NewBatch()
			clear(flown)
			for range 1 + rng.IntN(6) {
				i := rng.IntN(requests)
				if _, twice := flown[i]; twice {
					continue
				}
				_, stored := committed[i]
				flown[i] = step + 1
				must(t, b.Add(spread(i), spreadAnswer(i+versions*(step+1)), stored))
			}
			must(t, b.Commit())
			maps.Copy(committed, flown)
			clear(flown)
		}
	}
	closed(t, s)
	return images
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// crash gives the disk as a kill leaves it, or the loss of power.
func crash(disk *vfs.MemFS, kill bool) vfs.FS {
	if kill {
		return disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
	}
	return disk.CrashClone(vfs.CrashCloneCfg{})
}

// check opens the store twice, once to see what is there and again after it has moved on.
func (i image) check(t *testing.T, requests int) {
	t.Helper()
	for _, options := range []Options{{FS: i.disk, ReadOnly: true}, {FS: i.disk}, {FS: i.disk}} {
		s, err := Open(Options{Dir: "store", Source: "https://api.example.com", FS: i.disk, ReadOnly: options.ReadOnly})
		if _, missing := errors.AsType[*MissingError](err); missing && len(i.committed) == 0 {
			continue
		}
		must(t, err)
		i.checkOpen(t, s, requests)
		if !options.ReadOnly {
			must(t, s.Compact(t.Context()))
			i.checkOpen(t, s, requests)
		}
		closed(t, s)
	}
}

func (i image) checkOpen(t *testing.T, s *Store, requests int) {
	t.Helper()
	exported := make(map[string]int)
	for line := range strings.Lines(export(t, s)) {
		var l struct{ Input string }
		must(t, json.Unmarshal([]byte(line), &l))
		exported[l.Input]++
	}
	for n := range requests {
		o, found, err := s.Lookup(spread(n))
		must(t, err)
		committed, must := i.committed[n]
		flown, may := i.flown[n]
		is := func(version int) bool {
			return found && o.Answer.Entries[0] == spreadAnswer(n + versions*version).Answer.Entries[0]
		}
		if fine := must && is(committed) || may && is(flown) || !must && !found; !fine || s.Damaged() != 0 {
			t.Fatalf("kill %t: request %d: found %t %+v, committed %t %d, in flight %t %d, %d damaged", i.kill, n, found, o, must, committed, may, flown, s.Damaged())
		}
		if times := exported[spread(n).Input]; found && times != 1 || !found && times != 0 {
			t.Fatalf("kill %t: request %d: found %t, exported %d times", i.kill, n, found, times)
		}
	}
}

// TestMarksBecomeDurable takes the power after a start that has found marks which nobody had
// synced, and a move.
func TestMarksBecomeDurable(t *testing.T) {
	const n, more, replaced = 300, 5, 100
	disk := vfs.NewCrashableMem()
	s := storeSpread(t, disk, n)
	_, err := s.segments.begin() // so that the last move does not write to the first
	must(t, errors.Join(err, addMany(s, n, n+more), s.move(), replaceMany(s, n+more, replaced)))
	killed(t, s)
	s = open(t, Options{FS: disk})
	must(t, s.move())
	lost := crash(disk, false)
	closed(t, s)
	s = open(t, Options{FS: lost})
	defer closed(t, s)
	wantReplaced(t, s, n+more, func(i int) bool { return i < replaced })
	must(t, s.reclaim(s.segments.list[0]))
	wantReplaced(t, s, n+more, func(i int) bool { return i < replaced })
}

// replaceMany replaces the first answers with one commit.
func replaceMany(s *Store, n, replaced int) error {
	indexes := make([]int, replaced)
	for i := range indexes {
		indexes[i] = i
	}
	return replaceSpread(s, n, indexes...)
}

// TestMarksAreDurableBeforeKeys loses all but the database's log in the midst of a move.
func TestMarksAreDurableBeforeKeys(t *testing.T) {
	const n = 2*moved + 100 // their keys take several writes
	disk := vfs.NewCrashableMem()
	s := storeSpread(t, disk, n)
	must(t, replaceMany(s, n, n))
	places, err := s.segments.append(s.recent.values)
	batch := s.db.NewBatch()
	must(t, errors.Join(err, s.moveKeys(batch, places), batch.Close()))
	synced, all := readStore(t, crash(disk, false)), readStore(t, crash(disk, true))
	for name, content := range all {
		if strings.HasSuffix(name, logExt) {
			synced[name] = content
		}
	}
	again := open(t, Options{FS: lay(t, synced)})
	defer closed(t, again)
	wantReplaced(t, again, n, func(int) bool { return true })
	must(t, again.Compact(t.Context()))
	wantReplaced(t, again, n, func(int) bool { return true })
	closed(t, s)
}

// TestReplacedAreCounted wants space back from runs that replace less than what moves at once.
func TestReplacedAreCounted(t *testing.T) {
	const n = 300
	disk := vfs.NewMem()
	s := storeSpread(t, disk, n)
	for round := range 4 {
		must(t, replaceMany(s, n*(round+1), n/2))
		killed(t, s)
		s = open(t, Options{FS: disk})
		must(t, s.Compact(t.Context()))
		left := uint64(0)
		for _, g := range s.segments.list {
			left += g.answers
		}
		if left != n {
			t.Errorf("round %d: %d answers are kept of %d", round, left, n)
		}
		closed(t, s)
		s = open(t, Options{FS: disk})
	}
	closed(t, s)
}

// TestDatabaseForgets damages the database's log, so that it knows of fewer answers than
// there are: nobody may write over them, and all can be saved.
func TestDatabaseForgets(t *testing.T) {
	const n = 40
	disk := vfs.NewMem()
	s := open(t, Options{FS: disk})
	must(t, errors.Join(addMany(s, 0, 20), s.move(), addMany(s, 20, 30), s.move(), addMany(s, 30, n)))
	killed(t, s)
	whole := readStore(t, disk)
	log := only(t, whole, logExt)
	refused := 0
	for _, at := range damages(len(whole[log]), 20) {
		for _, bad := range [][]byte{flip(whole[log], at), whole[log][:at]} {
			files := maps.Clone(whole)
			files[log] = bad
			damaged := lay(t, files)
			s, err := Open(Options{Dir: "store", Source: "https://api.example.com", FS: damaged})
			if err == nil {
				lookUpMany(t, s, n)
				closed(t, s)
				continue
			}
			refused++
			wantDamageError(t, log, err)
			s = open(t, Options{FS: damaged, ReadOnly: true})
			var out strings.Builder
			if written, err := s.Export(&out); written != n || err == nil {
				t.Errorf("byte %d: %d answers are exported, %v", at, written, err)
			}
			for i := range n {
				_, _, err := s.Lookup(spread(i))
				if err != nil {
					wantDamageError(t, log, err)
				}
			}
			closed(t, s)
		}
	}
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}

// TestUnreadablePackEndsTheStore lets an answer be replaced whose pack the disk does not give:
// without its mark it would come back.
func TestUnreadablePackEndsTheStore(t *testing.T) {
	const n = 300
	disk := vfs.NewCrashableMem()
	broken := false
	s := storeSpread(t, errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if broken && op.Kind == errorfs.OpFileReadAt && strings.HasSuffix(op.Path, segmentExt) {
			return syscall.EIO
		}
		return nil
	})), n)
	broken = true
	err := replaceMany(s, n, 1)
	if failed, ok := errors.AsType[*FailedError](err); !ok || s.Close() != failed {
		t.Fatalf("got %v", err)
	}
	again := open(t, Options{FS: crash(disk, false)})
	defer closed(t, again)
	wantReplaced(t, again, n, func(i int) bool { return i == 0 })
}
