package answers

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// addMany commits the answers from up to before to, some hundred at once.
func addMany(s *Store, from, to int) error {
	b := s.NewBatch()
	for i := from; i < to; i++ {
		if err := b.Add(spread(i), spreadAnswer(i), 0); err != nil {
			return err
		}
		if i%300 == 299 || i == to-1 {
			if err := b.Commit(); err != nil {
				return err
			}
		}
	}
	return b.Close()
}

// lookUpMany wants the first n answers, and none after them.
func lookUpMany(t *testing.T, s *Store, n int) {
	t.Helper()
	for from := 0; from < n; from += lookedUp {
		var indexes []int
		for i := from; i < min(n, from+lookedUp); i++ {
			indexes = append(indexes, i)
		}
		lookUpSpread(t, s, indexes)
	}
	if _, found, err := s.Lookup(spread(n)); found || err != nil {
		t.Errorf("behind the last: found %t, %v", found, err)
	}
}

// TestKeysComeBack takes the power from stores whose keys are partly in the database and
// partly in their answers alone.
func TestKeysComeBack(t *testing.T) {
	for _, n := range []int{1, 1000, mostRecent, mostRecent + 7} {
		files := vfs.NewCrashableMem()
		s := open(t, Options{FS: files})
		if err := addMany(s, 0, n); err != nil {
			t.Fatal(err)
		}
		disk := files.CrashClone(vfs.CrashCloneCfg{}) // nothing that was not synced
		closed(t, s)
		for _, readOnly := range []bool{true, false} {
			s = open(t, Options{FS: disk, ReadOnly: readOnly})
			if got := s.last(); got != Position(n) {
				t.Errorf("%d answers: the last is %d", n, got)
			}
			lookUpMany(t, s, n)
			closed(t, s)
		}
		s = open(t, Options{FS: disk})
		if err := addMany(s, n, n+10); err != nil {
			t.Fatal(err)
		}
		closed(t, s)
		s = open(t, Options{FS: disk})
		lookUpMany(t, s, n+10)
		closed(t, s)
	}
}

// TestKeysAreHeldBack wants few of them in memory, however many there are.
func TestKeysAreHeldBack(t *testing.T) {
	const n = 2*mostRecent + 1
	files := vfs.NewMem()
	s := open(t, Options{FS: files})
	if err := addMany(s, 0, n); err != nil {
		t.Fatal(err)
	}
	if got := len(s.recent.positions); got > mostRecent {
		t.Errorf("%d keys are held", got)
	}
	if err := s.db.Delete(indexedKey, pebble.NoSync); err != nil {
		t.Fatal(err)
	}
	closed(t, s)

	s = open(t, Options{FS: files}) // all of them are gathered
	if got := len(s.recent.positions); got > mostRecent {
		t.Errorf("%d keys are held", got)
	}
	lookUpMany(t, s, n)
	closed(t, s)
}

// TestLongKeysAreHeldBack wants few bytes of them in memory.
func TestLongKeysAreHeldBack(t *testing.T) {
	const batches, size = 30, 30
	files := vfs.NewMem()
	s := open(t, Options{FS: files})
	for i := range batches {
		if err := commitLong(s, i*size, (i+1)*size); err != nil {
			t.Fatal(err)
		}
		if s.recent.isFull() {
			t.Fatalf("%d bytes of keys are held", s.recent.bytes)
		}
	}
	closed(t, s)
	s = open(t, Options{FS: files})
	defer closed(t, s)
	if s.recent.isFull() || s.last() != batches*size {
		t.Errorf("%d bytes of keys are held, the last is %d", s.recent.bytes, s.last())
	}
}

// TestUnreadableKeys damages the file of the latest answers: it must not look as if they
// had never been there.
func TestUnreadableKeys(t *testing.T) {
	const n = 8000
	files := vfs.NewMem()
	s := storeSpread(t, files, n)
	if err := errors.Join(s.Compact(t.Context()), s.Close()); err != nil {
		t.Fatal(err)
	}
	contents := readStore(t, files)
	table := largestTable(contents)
	contents[table] = flip(contents[table], len(contents[table])/2)
	_, err := Open(Options{Dir: "store", Source: s.options.Source, FS: lay(t, contents)})
	wantDamageError(t, table, err)

	s = open(t, Options{FS: lay(t, contents), ReadOnly: true})
	defer closed(t, s)
	const probes = 100
	readable := 0
	for i := range probes {
		_, found, err := s.Lookup(spread(i * (n / probes)))
		switch {
		case found:
			readable++
		default:
			wantDamageError(t, table, err)
		}
	}
	if readable < probes/2 || readable == probes {
		t.Errorf("%d answers of %d are readable", readable, probes)
	}
}

// TestKeysOfDamagedPack opens a store with a damaged pack among the latest.
func TestKeysOfDamagedPack(t *testing.T) {
	const n = 200
	files := vfs.NewMem()
	s := storeSpread(t, files, n)
	if err := s.db.Set(appendPositionKey(nil, n), []byte("damaged"), pebble.NoSync); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	s = open(t, Options{FS: files})
	defer closed(t, s)
	if got := s.Damaged(); got != 1 || s.last() != n {
		t.Errorf("%d damaged, the last is %d", got, s.last())
	}
	missing := 0
	for i := range n {
		if _, found, err := s.Lookup(spread(i)); err != nil {
			t.Fatal(err)
		} else if !found {
			missing++
		}
	}
	if missing == 0 || missing > n/4 {
		t.Errorf("%d of %d are missing", missing, n)
	}
}

// TestLookupsWhileKeysMove wants each answer from its commit on, while keys go to the
// database.
func TestLookupsWhileKeysMove(t *testing.T) {
	const n, step = mostRecent + 3000, 1000
	s := open(t, Options{FS: vfs.NewMem()})
	defer closed(t, s)
	var committed atomic.Int64
	var wg sync.WaitGroup
	for worker := range 2 {
		wg.Go(func() {
			for i := worker; committed.Load() < n; i += 7919 {
				there := int(committed.Load())
				if there == 0 {
					continue
				}
				queries := []Query{{Request: spread(i % there)}, {Request: spread(there - 1 - i%min(there, mostRecent))}}
				if err := s.LookupAll(queries); err != nil || !queries[0].Found || !queries[1].Found {
					t.Errorf("of %d answers: %+v, %v", there, queries, err)
					return
				}
			}
		})
	}
	for from := 0; from < n; from += step {
		if err := addMany(s, from, from+step); err != nil {
			t.Fatal(errors.Join(err, s.Close()))
		}
		committed.Add(step)
	}
	wg.Wait()
}

// TestLookupsWhileAnswersAreReplaced wants one answer or the other, and no damage.
func TestLookupsWhileAnswersAreReplaced(t *testing.T) {
	const n, rounds = 20, 300
	s := storeSpread(t, vfs.NewMem(), n)
	defer closed(t, s)
	if err := s.moveRecent(); err != nil { // what is replaced first is found in the database
		t.Fatal(err)
	}
	var over atomic.Bool
	var wg sync.WaitGroup
	for worker := range 2 {
		wg.Go(func() {
			for i := worker; !over.Load(); i++ {
				if _, found, err := s.Lookup(spread(i % n)); !found || err != nil {
					t.Errorf("answer %d: found %t, %v", i%n, found, err)
					return
				}
			}
		})
	}
	for round := range rounds {
		for i := range n {
			if (i+round)%7 == 0 {
				commit(t, s, spread(i), spreadAnswer(i))
			}
		}
		if round%10 == 0 {
			if err := s.moveRecent(); err != nil {
				t.Error(err)
			}
		}
	}
	over.Store(true)
	wg.Wait()
	if got := s.Damaged(); got != 0 {
		t.Errorf("%d damaged", got)
	}
}
