package answers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/bulkcat/bulkcat/client"
)

// numbered is the i-th of many requests, and its answer.
func numbered(i int) (client.Request, Outcome) {
	r := request
	r.Input = fmt.Sprintf("https://site-%d.example", i)
	o := sound(noon)
	o.Answer.Entries = []client.Entry{{Value: fmt.Sprintf("A > %d", i), Confidence: 0.5}}
	o.Answer.Body = fmt.Appendf(nil, `{"taxonomy_v3":[{"value":"A > %d","confidence":0.5}]}`, i)
	return r, o
}

// wantAnswers looks the requests 0 to n-1 up and wants those below must to be there, and
// no wrong answer to any.
func wantAnswers(t *testing.T, s *Store, must, n int) {
	t.Helper()
	for i := range n {
		r, o := numbered(i)
		got, found, err := s.Lookup(r)
		switch {
		case err != nil:
			t.Fatalf("answer %d: %v", i, err)
		case !found && i < must:
			t.Fatalf("answer %d of %d committed ones is gone", i, must)
		case found && got.Answer.Entries[0] != o.Answer.Entries[0]:
			t.Fatalf("answer %d is %+v", i, got)
		}
	}
}

func addNumbered(b *Batch, i int) error {
	r, o := numbered(i)
	return b.Add(r, o, false)
}

// tryCommit commits the i-th answer.
func tryCommit(s *Store, i int) error {
	b := s.NewBatch()
	return errors.Join(addNumbered(b, i), b.Commit())
}

func TestPowerLossKeepsWhatWasCommitted(t *testing.T) {
	const commits = 12
	files := vfs.NewCrashableMem()
	s := open(t, Options{FS: files})
	for i := range commits {
		if err := tryCommit(s, i); err != nil {
			t.Fatal(err)
		}
		if i == commits/2 { // some in tables, some in the log
			if err := s.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for _, percent := range []int{0, 50} {
			lost := files.CrashClone(vfs.CrashCloneCfg{
				UnsyncedDataPercent: percent,
				RNG:                 rand.New(rand.NewPCG(uint64(i), uint64(percent))),
			})
			again := open(t, Options{FS: lost})
			wantAnswers(t, again, i+1, commits)
			closed(t, again)
		}
	}
	closed(t, s)
}

// faultyFS lets its n-th operation fail, and all after it where the fault lasts.
type faultyFS struct {
	*errorfs.FS
	operations atomic.Int64
	hit        atomic.Bool
}

func newFaultyFS(files vfs.FS, n int64, lasting bool, fault error) *faultyFS {
	f := new(faultyFS)
	f.FS = errorfs.Wrap(files, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.HasSuffix(op.Path, "LOCK") {
			return nil
		}
		k := f.operations.Add(1)
		if k == n || lasting && k > n && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			f.hit.Store(true)
			return fault
		}
		return nil
	}))
	return f
}

// use opens a store, commits three answers, one of them through a flush, looks them up
// and closes. It gives the number of acknowledged commits.
func use(t *testing.T, files vfs.FS) (committed int, err error) {
	t.Helper()
	s, err := Open(Options{Dir: "store", Source: "https://api.example.com", FS: files})
	if err != nil {
		return 0, err
	}
	for i := range 3 {
		if err := tryCommit(s, i); err != nil {
			return committed, errors.Join(err, s.Close())
		}
		committed++
		r, o := numbered(i)
		got, found, err := s.Lookup(r)
		if err != nil {
			return committed, errors.Join(err, s.Close())
		}
		if !found || got.Answer.Entries[0] != o.Answer.Entries[0] {
			t.Fatalf("answer %d: found %t, %+v", i, found, got)
		}
		if i == 1 {
			if err := s.Compact(t.Context()); err != nil {
				return committed, errors.Join(err, s.Close())
			}
		}
	}
	return committed, s.Close()
}

func TestEveryFaultEndsInAnError(t *testing.T) {
	for _, lasting := range []bool{false, true} {
		t.Run(fmt.Sprintf("lasting=%t", lasting), func(t *testing.T) {
			t.Parallel()
			failures := 0
			for n := int64(1); ; n++ {
				disk := vfs.NewCrashableMem()
				files := newFaultyFS(disk, n, lasting, syscall.ENOSPC)
				committed, err := use(t, files)
				if !files.hit.Load() {
					break
				}
				if err != nil {
					failures++
					wantStoreError(t, n, err)
				}
				unsynced := int(n%2) * 100 // the power fails, or the process is killed
				healthy := disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: rand.New(rand.NewPCG(1, 1))})
				s, err := Open(Options{Dir: "store", Source: "https://api.example.com", FS: healthy})
				if err != nil {
					t.Fatalf("operation %d: on a healthy disk: %v", n, err)
				}
				wantAnswers(t, s, committed, 3)
				closed(t, s)
			}
			t.Logf("%d faults were noticed", failures)
			if failures < 20 {
				t.Errorf("only %d faults were noticed", failures)
			}
		})
	}
}

func wantStoreError(t *testing.T, n int64, err error) {
	t.Helper()
	var (
		failed *FailedError
		damage *DamageError
	)
	if !errors.As(err, &failed) && !errors.As(err, &damage) {
		t.Errorf("operation %d: %T %v", n, err, err)
	}
	if failed != nil && !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "store") {
		t.Errorf("operation %d: %v", n, err)
	}
}

func TestFullDiskIsForGood(t *testing.T) {
	var full atomic.Bool
	files := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return syscall.ENOSPC
		}
		return nil
	}))
	s := open(t, Options{FS: files})
	if err := tryCommit(s, 0); err != nil {
		t.Fatal(err)
	}
	full.Store(true)
	first := tryCommit(s, 1)
	var failed *FailedError
	if !errors.As(first, &failed) || failed.Dir != "store" || !errors.Is(first, syscall.ENOSPC) || !strings.Contains(first.Error(), "free space") {
		t.Fatalf("got %v", first)
	}
	full.Store(false)
	_, _, lookup := s.Lookup(request)
	_, rate := s.LearnedRate()
	for name, err := range map[string]error{
		"commit": tryCommit(s, 2), "lookup": lookup, "rate": rate, "keep": s.KeepLearnedRate(1),
		"compact": s.Compact(t.Context()), "close": s.Close(), "second close": s.Close(),
	} {
		var again *FailedError
		if !errors.As(err, &again) || again != failed {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
