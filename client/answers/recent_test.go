package answers

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// addMany commits the answers from up to before to, some hundred at once.
func addMany(s *Store, from, to int) error {
	b := s.NewBatch()
	for i := from; i < to; i++ {
		if err := b.Add(spread(i), spreadAnswer(i), false); err != nil {
			return err
		}
		if i%300 == 299 || i == to-1 {
			if err := b.Commit(); err != nil {
				return err
			}
		}
	}
	return nil
}

// lookUpMany wants the first n answers, of many a part, and none after them.
func lookUpMany(t *testing.T, s *Store, n int) {
	t.Helper()
	step := lookedUp * (1 + n/4000)
	for from := 0; from < n; from += step {
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
	for _, n := range []int{1, 1000, mostRecent + 7} {
		files := vfs.NewCrashableMem()
		s := open(t, Options{FS: files})
		if err := addMany(s, 0, n); err != nil {
			t.Fatal(err)
		}
		disk := files.CrashClone(vfs.CrashCloneCfg{}) // nothing that was not synced
		closed(t, s)
		for _, readOnly := range []bool{true, false} {
			s = open(t, Options{FS: disk, ReadOnly: readOnly})
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

// TestAnswersAreHeldBack wants few of them in memory, however many there are.
func TestAnswersAreHeldBack(t *testing.T) {
	const n = 2*mostRecent + 1
	files := vfs.NewMem()
	s := open(t, Options{FS: files})
	if err := addMany(s, 0, n); err != nil {
		t.Fatal(err)
	}
	held := len(s.recent.values)
	if held == 0 || held > mostRecent {
		t.Errorf("%d answers are held", held)
	}
	killed(t, s)

	s = open(t, Options{FS: files})
	if got := len(s.recent.values); got != held {
		t.Errorf("%d answers are held after another start, %d before", got, held)
	}
	lookUpMany(t, s, n)
	closed(t, s)
}

// TestLongAnswersAreHeldBack wants few bytes of them in memory.
func TestLongAnswersAreHeldBack(t *testing.T) {
	const batches, size = 12, 30
	files := vfs.NewMem()
	s := open(t, Options{FS: files})
	for i := range batches {
		if err := commitLong(s, i*size, (i+1)*size, 20_000); err != nil {
			t.Fatal(err)
		}
		if s.recent.isFull() {
			t.Fatalf("%d bytes of answers are held", s.recent.bytes)
		}
	}
	held := s.recent.bytes
	killed(t, s)
	s = open(t, Options{FS: files})
	defer closed(t, s)
	if s.recent.bytes != held || len(s.segments.list) == 0 {
		t.Errorf("%d bytes of answers are held, %d before, and there are %d segments", s.recent.bytes, held, len(s.segments.list))
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
	if err := s.move(); err != nil { // what is replaced first is found in the database
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
			if err := s.move(); err != nil {
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
