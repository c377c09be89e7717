package answers_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	. "github.com/bulkcat/bulkcat/client/answers"
)

// crash returns the disk as a kill leaves it, or the loss of power.
func crash(disk *vfs.MemFS, kill bool) vfs.FS {
	if kill {
		return disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
	}
	return disk.CrashClone(vfs.CrashCloneCfg{})
}

func TestCommittedAnswersSurvivePowerLoss(t *testing.T) {
	const commits = 12
	disk := vfs.NewCrashableMem()
	s := start(t, disk)
	for i := range commits {
		s.put(i, i+1, 0)
		if i == commits/2 { // some records in tables of the index, some only in the log
			s.must(s.Compact(t.Context()))
		}
		for _, percent := range []int{0, 50} {
			again := start(t, disk.CrashClone(vfs.CrashCloneCfg{
				UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(uint64(i), uint64(percent))),
			}))
			again.want(0, i+1, 0)
			again.want(i+1, commits, -1)
			again.close()
		}
	}
	s.close()
}

// faultyFS lets the n-th operation fail, and all writes after it if the fault lasts.
type faultyFS struct {
	*errorfs.FS
	operations atomic.Int64
	hit        atomic.Bool
}

func newFaultyFS(disk vfs.FS, n int64, lasting bool) *faultyFS {
	f := new(faultyFS)
	f.FS = errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if strings.HasSuffix(op.Path, "LOCK") {
			return nil
		}
		k := f.operations.Add(1)
		if k == n || lasting && k > n && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			f.hit.Store(true)
			return syscall.ENOSPC
		}
		return nil
	}))
	return f
}

// use opens a store, commits, replaces and looks up answers, compacts, and closes. It returns
// how many versions of the three answers were acknowledged.
func use(t *testing.T, disk vfs.FS) (committed int, err error) {
	t.Helper()
	s := &suite{T: t, options: Options{Dir: dir, Source: source, FS: disk}}
	if s.Store, err = Open(s.options); err != nil {
		return 0, err
	}
	for v := range 3 {
		if err := s.tryPut(0, 3, v); err != nil {
			return v, errors.Join(err, s.Store.Close())
		}
		for i := range 3 {
			r, o := version(i, v)
			got, found, err := s.Lookup(r)
			if err != nil {
				return v + 1, errors.Join(err, s.Store.Close())
			}
			if !found || got.Answer.Entries[0] != o.Answer.Entries[0] {
				t.Fatalf("version %d of answer %d: found %t, %+v", v, i, found, got)
			}
		}
		if v == 1 {
			if err := s.Compact(t.Context()); err != nil {
				return v + 1, errors.Join(err, s.Store.Close())
			}
		}
	}
	return 3, s.Store.Close()
}

// TestEveryFaultEndsInAnError lets each operation on the disk fail once, and for good. The store
// returns an error of its own, and keeps on a healthy disk all that was acknowledged.
func TestEveryFaultEndsInAnError(t *testing.T) {
	for _, lasting := range []bool{false, true} {
		t.Run(fmt.Sprintf("lasting=%t", lasting), func(t *testing.T) {
			t.Parallel()
			failures := 0
			for n := int64(1); ; n++ {
				disk := vfs.NewCrashableMem()
				faulty := newFaultyFS(disk, n, lasting)
				committed, err := use(t, faulty)
				if !faulty.hit.Load() {
					break
				}
				if err != nil {
					failures++
					wantStoreError(t, n, err)
				}
				s := start(t, crash(disk, n%2 == 0))
				for i := range 3 {
					wantVersion(s, i, committed-1, committed)
				}
				s.close()
			}
			t.Logf("%d faults were noticed", failures)
			if failures < 20 {
				t.Errorf("only %d faults were noticed", failures)
			}
		})
	}
}

// wantVersion wants one of two versions of an answer; -1 for none. It returns the version.
func wantVersion(s *suite, i int, versions ...int) int {
	s.Helper()
	r, _ := numbered(i)
	got, found, err := s.Lookup(r)
	s.must(err)
	for _, v := range versions {
		if _, o := version(i, v); v < 0 && !found || v >= 0 && found && got.Answer.Entries[0] == o.Answer.Entries[0] {
			return v
		}
	}
	s.Fatalf("answer %d: found %t %+v, want one of the versions %v", i, found, got, versions)
	return 0
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
	s := start(t, errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if full.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			return syscall.ENOSPC
		}
		return nil
	})))
	s.put(0, 1, 0)
	full.Store(true)
	first := s.tryPut(1, 2, 0)
	failed, ok := errors.AsType[*FailedError](first)
	if !ok || failed.Dir != dir || !errors.Is(first, syscall.ENOSPC) || !strings.Contains(first.Error(), "free space") {
		t.Fatalf("got %v", first)
	}
	full.Store(false)
	r, _ := numbered(0)
	_, _, lookup := s.Lookup(r)
	_, rate := s.Learned()
	_, size := s.Size()
	s.must(size)
	scan := s.Scan(func(Stored) error { return nil })
	for name, err := range map[string]error{
		"commit": s.tryPut(2, 3, 0), "lookup": lookup, "rate": rate, "keep": s.KeepLearned(Learned{Rate: 1}), "scan": scan,
		"compact": s.Compact(t.Context()), "close": s.Store.Close(), "second close": s.Store.Close(),
	} {
		if again, ok := errors.AsType[*FailedError](err); !ok || again != failed {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// image is a disk as a kill or the loss of power leaves it, and what must be there: of each
// answer the version that was committed, or the version that was being committed.
type image struct {
	disk             vfs.FS
	committed, flown map[int]int
	kill             bool // nothing that was written is lost
}

// TestCrashesAtAnyTime commits, replaces, compacts and opens again in any order, and takes images
// of the disk before any write.
func TestCrashesAtAnyTime(t *testing.T) {
	t.Parallel()
	const seeds, answers, steps = 4, 25, 30
	images := 0
	for seed := range uint64(seeds) {
		for _, i := range crashImages(t, rand.New(rand.NewPCG(seed, 1)), answers, steps) {
			i.check(t, answers)
			images++
		}
	}
	t.Logf("%d images", images)
	if images < 50*seeds {
		t.Error("these are too few")
	}
}

func crashImages(t *testing.T, rng *rand.Rand, answers, steps int) (images []image) {
	t.Helper()
	disk := vfs.NewCrashableMem()
	committed, flown := make(map[int]int), make(map[int]int)
	dice := rand.New(rand.NewPCG(rng.Uint64(), 1)) // its order is not that of the steps
	var mu sync.Mutex                              // the index writes in goroutines of its own
	s := start(t, errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if op.Kind.ReadOrWrite() != errorfs.OpIsWrite || dice.IntN(4) != 0 {
			return nil
		}
		kill := dice.IntN(2) == 0
		images = append(images, image{crash(disk, kill), maps.Clone(committed), maps.Clone(flown), kill})
		return nil
	})))
	for step := range steps {
		switch rng.IntN(8) {
		case 0:
			s.reopen(func(*Options) {})
		case 1:
			s.must(s.Compact(t.Context()))
		default:
			b := s.NewBatch()
			mu.Lock()
			for range 1 + rng.IntN(6) {
				if i := rng.IntN(answers); flown[i] == 0 {
					flown[i] = step + 1
					b.Add(version(i, step+1))
				}
			}
			mu.Unlock()
			s.must(b.Commit())
			mu.Lock()
			maps.Copy(committed, flown)
			clear(flown)
			mu.Unlock()
		}
	}
	s.close()
	return images
}

// check opens the store only to read it, for use, and again.
func (i image) check(t *testing.T, answers int) {
	t.Helper()
	for _, readOnly := range []bool{true, false, false} {
		s := &suite{T: t, options: Options{Dir: dir, Source: source, FS: i.disk, ReadOnly: readOnly}}
		var err error
		s.Store, err = Open(s.options)
		if _, missing := errors.AsType[*MissingError](err); missing && len(i.committed) == 0 {
			continue
		}
		s.must(err)
		i.checkOpen(s, answers)
		if !readOnly {
			s.must(s.Compact(t.Context()))
			i.checkOpen(s, answers)
		}
		s.close()
	}
}

func (i image) checkOpen(s *suite, answers int) {
	s.Helper()
	inputs, bodies := s.scan()
	for n := range answers {
		wanted := []int{-1}
		if v, ok := i.committed[n]; ok {
			wanted[0] = v
		}
		if v, ok := i.flown[n]; ok {
			wanted = append(wanted, v)
		}
		v := wantVersion(s, n, wanted...)
		r, o := version(n, v)
		if times := inputs[r.Input]; v >= 0 && times != 1 || v < 0 && times != 0 {
			s.Fatalf("kill %t: answer %d in version %d is stored %d times", i.kill, n, v, times)
		}
		if v >= 0 && !strings.Contains(bodies, string(o.Answer.Body)) {
			s.Fatalf("kill %t: the scan has another version of answer %d than %d:\n%s", i.kill, n, v, bodies)
		}
	}
	if s.Damaged() != 0 {
		s.Fatalf("kill %t: %d damaged", i.kill, s.Damaged())
	}
}

// TestFolderAndFileOfAKilledStartAreDurable starts where an earlier start was killed before its
// folder, or the first file of its log, was durable. What is committed survives the loss of power.
func TestFolderAndFileOfAKilledStartAreDurable(t *testing.T) {
	for name, header := range map[string]string{"folder": "", "file": "bulkcat answers, format 5\n"} {
		t.Run(name, func(t *testing.T) {
			disk := vfs.NewCrashableMem()
			s := &suite{T: t, options: Options{Dir: dir, Source: source, FS: disk}}
			s.must(disk.MkdirAll(dir, 0o777))
			if header != "" {
				root, err := disk.OpenDir("/")
				s.must(err)
				s.must(errors.Join(root.Sync(), root.Close()))
				f, err := disk.Create(dir+"/00000001.log", vfs.WriteCategoryUnspecified)
				s.must(err)
				_, err = f.Write([]byte(header))
				s.must(errors.Join(err, f.Close()))
			}
			s.open().put(0, 10, 0)
			start(t, crash(disk, false)).wantAll(10, 0)
		})
	}
}

// TestReadErrorIsForGood lets one read of the log fail.
func TestReadErrorIsForGood(t *testing.T) {
	calls := map[string]func(s *suite) error{
		"lookup":  func(s *suite) error { r, _ := numbered(0); _, _, err := s.Lookup(r); return err },
		"rate":    func(s *suite) error { _, err := s.Learned(); return err },
		"scan":    func(s *suite) error { return s.Scan(func(Stored) error { return nil }) },
		"compact": func(s *suite) error { return s.Compact(t.Context()) },
	}
	for name, call := range calls {
		var bad atomic.Bool
		s := start(t, errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == errorfs.OpFileReadAt && strings.HasSuffix(op.Path, "00000001.log") && bad.CompareAndSwap(true, false) {
				return syscall.EIO
			}
			return nil
		})))
		s.put(0, 1, 0)
		s.must(s.KeepLearned(Learned{Rate: 3}))
		bad.Store(true)
		first := call(s)
		if failed, ok := errors.AsType[*FailedError](first); !ok || !errors.Is(failed, syscall.EIO) {
			t.Errorf("%s: got %v", name, first)
		}
		for other, call := range calls {
			if again := call(s); again != first {
				t.Errorf("%s after %s: got %v", other, name, again)
			}
		}
	}
}

// countingFS counts the files that are open, other than the index's.
type countingFS struct {
	vfs.FS
	open *atomic.Int64
}

func (f countingFS) count(name string, file vfs.File, err error) (vfs.File, error) {
	if err != nil || strings.Contains(name, "index") {
		return file, err
	}
	f.open.Add(1)
	return &countedFile{File: file, open: f.open}, nil
}

func (f countingFS) Open(name string, o ...vfs.OpenOption) (vfs.File, error) {
	file, err := f.FS.Open(name, o...)
	return f.count(name, file, err)
}

func (f countingFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	return f.count(name, file, err)
}

func (f countingFS) OpenDir(name string) (vfs.File, error) {
	file, err := f.FS.OpenDir(name)
	return f.count(name, file, err)
}

func (f countingFS) OpenReadWrite(name string, c vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	file, err := f.FS.OpenReadWrite(name, c, o...)
	return f.count(name, file, err)
}

type countedFile struct {
	vfs.File
	open *atomic.Int64
	once sync.Once
}

func (f *countedFile) Close() error {
	f.once.Do(func() { f.open.Add(-1) })
	return f.File.Close()
}

// TestNoFileStaysOpen lets each operation on the disk fail: no file is left open behind.
func TestNoFileStaysOpen(t *testing.T) {
	for n := int64(1); ; n++ {
		var open atomic.Int64
		faulty := newFaultyFS(vfs.NewMem(), n, false)
		_, err := use(t, countingFS{faulty, &open})
		if left := open.Load(); left != 0 {
			t.Errorf("operation %d: %d files are open after %v", n, left, err)
		}
		if !faulty.hit.Load() {
			break
		}
	}
}

// TestFaultsWithAFullIndex lets each operation on the disk fail when a store is opened whose index has tables, and used.
// Each fault ends in an error, and nothing is missing without one.
func TestFaultsWithAFullIndex(t *testing.T) {
	t.Parallel()
	const n = 300
	files := replacedStore(t, n)
	for _, lasting := range []bool{false, true} {
		for _, readOnly := range []bool{false, true} {
			t.Run(fmt.Sprintf("lasting=%t, read only=%t", lasting, readOnly), func(t *testing.T) {
				t.Parallel()
				for k := int64(1); ; k++ {
					faulty := newFaultyFS(lay(t, files), k, lasting)
					store, err := Open(Options{Dir: dir, Source: source, FS: faulty, ReadOnly: readOnly})
					if err == nil {
						s := &suite{T: t, Store: store}
						err = errors.Join(s.useAll(n, readOnly), store.Close())
					}
					if !faulty.hit.Load() {
						break
					}
					if err != nil {
						wantStoreError(t, k, err)
					}
				}
			})
		}
	}
}

// useAll looks n answers up, stores some again, compacts and scans the store.
func (s *suite) useAll(n int, readOnly bool) error {
	queries := make([]Query, n)
	for i := range n {
		queries[i].Request, _ = numbered(i)
	}
	err := s.LookupAll(queries)
	if i := slices.IndexFunc(queries, func(q Query) bool { return !q.Found }); i >= 0 && err == nil {
		s.Errorf("answer %v is not found", queries[i].Request)
	}
	if err == nil && !readOnly {
		err = errors.Join(s.tryPut(0, 10, 1), s.Compact(s.Context()))
	}
	scanned, scanErr := tryScan(s)
	if scanned != n && scanErr == nil {
		s.Errorf("%d answers are scanned", scanned)
	}
	return errors.Join(err, scanErr)
}
