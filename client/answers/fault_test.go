package answers

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/bulkcat/bulkcat/client/limits"
)

// wrapping is the file system of the machine with other files.
type wrapping struct {
	disk
	wrap func(path string, f diskFile) unmapped
}

func newWrapping(wrap func(path string, f diskFile) unmapped) wrapping {
	return wrapping{disk{vfs.Find("os").(vfs.VFSFilename)}, wrap}
}

func (w wrapping) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	file, flags, err := w.disk.OpenFilename(name, flags)
	if err != nil {
		return nil, flags, err
	}
	return diskFile{w.wrap(name.String(), file.(diskFile))}, flags, nil
}

// newFaulty registers a file system that refuses to write or sync after a number of operations.
func newFaulty(t *testing.T, err error) (name string, left *atomic.Int64) {
	name, left = t.Name(), new(atomic.Int64)
	left.Store(1 << 40)
	vfs.Register(name, newWrapping(func(_ string, f diskFile) unmapped { return faultyFile{f, left, err} }))
	t.Cleanup(func() { vfs.Unregister(name) })
	return name, left
}

type faultyFile struct {
	diskFile
	left *atomic.Int64
	err  error
}

func (f faultyFile) WriteAt(p []byte, off int64) (int, error) {
	if f.left.Add(-1) < 0 {
		return 0, f.err
	}
	return f.diskFile.WriteAt(p, off)
}

func (f faultyFile) Sync(flags vfs.SyncFlag) error {
	if f.left.Add(-1) < 0 {
		return f.err
	}
	return f.diskFile.Sync(flags)
}

// A disk that refuses at any operation ends the store: all calls return the same error, and all that was committed is
// there when the store is opened again. Close leaves no goroutine and no lock.
func TestFaults(t *testing.T) {
	for name, refusal := range map[string]error{"full": syscall.ENOSPC, "broken": sqlite3.IOERR} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			refused := refusal
			if name == "broken" {
				refused = syscall.EIO
			}
			system, left := newFaulty(t, refused)
			committed, goroutines := 0, runtime.NumGoroutine()
			for operations := range int64(60) {
				left.Store(1 << 40)
				s := p.open(func(o *Options) { o.vfs = system })
				p.must(s.Claim([]Query{{Request: request(1 << 20)}}))
				left.Store(operations)
				for err := error(nil); err == nil; {
					b := s.NewBatch()
					b.Add(request(committed), answer(fmt.Sprint("value ", committed), noon))
					if err = b.Commit(); err == nil {
						committed++
						continue
					}
					failed, ok := errors.AsType[*Error](err)
					if !ok || failed.Kind != Failed || !errors.Is(err, refusal) || failed.Path != p.path {
						t.Fatalf("after %d operations: %v", operations, err)
					}
					if again := s.LookupAll([]Query{{Request: request(0)}}); again != err {
						t.Errorf("then %v", again)
					}
				}
				p.must(s.Close())
			}
			if n := runtime.NumGoroutine(); n > goroutines {
				t.Errorf("%d goroutines, %d before", n, goroutines)
			}
			s := p.open()
			defer s.Close()
			query := []Query{{Request: request(1 << 20)}}
			if err := s.Claim(query); err != nil || query[0].Holder != 0 {
				t.Errorf("a claim of a store that has failed: %v, %v", query[0].Holder, err)
			}
			for i := range committed {
				p.wantValue(s, i, fmt.Sprint("value ", i))
			}
		})
	}
}

// A disk that refuses to write a copy fails the copy, and not the store.
func TestFaultyCopy(t *testing.T) {
	for name, refusal := range map[string]error{"full": syscall.ENOSPC, "broken": syscall.EIO} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			left := new(atomic.Int64)
			vfs.Register(t.Name(), newWrapping(func(path string, f diskFile) unmapped {
				if strings.HasPrefix(path, p.path) {
					return f
				}
				return faultyFile{f, left, refusal}
			}))
			t.Cleanup(func() { vfs.Unregister(t.Name()) })
			s := p.open(func(o *Options) { o.vfs = t.Name() })
			p.put(s, 0, 100)
			to := filepath.Join(t.TempDir(), "copy.db")
			refused, err := 0, error(nil)
			for {
				left.Store(int64(refused))
				if err = s.Copy(t.Context(), to); err == nil {
					break
				}
				refused++
				if of, ok := errors.AsType[*fs.PathError](err); !ok || of.Path != to || errors.Is(err, Failed) || name == "full" && !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("after %d operations: %v", refused, err)
				}
				p.wantValue(s, 99, "value 99")
				if files, err := os.ReadDir(filepath.Dir(to)); len(files) > 0 || err != nil {
					t.Errorf("there are %v, %v", files, err)
				}
			}
			if refused < 10 {
				t.Errorf("%d copies were refused", refused)
			}
			place{t, to}.open()
		})
	}
}

// syncedFile calls a function with the flags of each sync.
type syncedFile struct {
	diskFile
	synced func(vfs.SyncFlag)
}

func (f syncedFile) Sync(flags vfs.SyncFlag) error {
	f.synced(flags)
	return f.diskFile.Sync(flags)
}

// Every sync asks for all that the system can do, in each mode and for a copy.
func TestFullSync(t *testing.T) {
	for name, mode := range map[string]func(*Options){"shared": func(*Options) {}, "exclusive": exclusive} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			syncs := 0
			vfs.Register(t.Name(), newWrapping(func(path string, f diskFile) unmapped {
				return syncedFile{f, func(flags vfs.SyncFlag) {
					if syncs++; flags&vfs.SYNC_FULL != vfs.SYNC_FULL {
						t.Errorf("%s is synced with the flags %#x", path, flags)
					}
				}}
			}))
			t.Cleanup(func() { vfs.Unregister(t.Name()) })
			s := p.open(mode, func(o *Options) { o.vfs = t.Name() })
			for i, step := range []func(){
				func() { p.put(s, 0, 1) },
				func() { p.must(s.Copy(t.Context(), p.path+".copy")) },
				func() { p.must(s.Close()) },
			} {
				before := syncs
				if step(); syncs == before && (name == "shared" || i < 2) {
					t.Errorf("step %d syncs nothing", i)
				}
			}
		})
	}
}

// refusing is a file system that waits before it refuses to open files.
type refusing struct {
	wrapping
	begun, refuse chan struct{} // nil to open files
}

func (r *refusing) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	if r.begun == nil {
		return r.wrapping.OpenFilename(name, flags)
	}
	r.begun <- struct{}{}
	<-r.refuse
	return nil, flags, syscall.EIO
}

// Close does not wait for a lookup that gets no connection.
func TestCloseWithoutReaders(t *testing.T) {
	p := newPlace(t)
	system := &refusing{wrapping: newWrapping(func(_ string, f diskFile) unmapped { return f })}
	vfs.Register(t.Name(), system)
	defer vfs.Unregister(t.Name())
	s := p.open(func(o *Options) { o.vfs = t.Name() })
	p.put(s, 0, 1)
	system.begun, system.refuse = make(chan struct{}), make(chan struct{})
	const lookups = mostReaders + 2
	var calls sync.WaitGroup
	for range lookups {
		calls.Go(func() {
			if err := s.LookupAll([]Query{{Request: request(0)}}); !errors.Is(err, Failed) {
				t.Errorf("got %v", err)
			}
		})
	}
	for range mostReaders {
		<-system.begun
	}
	calls.Go(func() { p.must(s.Close()) })
	for closed := false; !closed; runtime.Gosched() {
		closed = s.failure.Load() != nil
	}
	close(system.refuse)
	calls.Wait()
}

// lossy is a file system that loses with the power what was not synced, or parts of it: what a disk keeps in its memory.
type lossy struct {
	wrapping
	files map[string]*lossyContent // by path
	left  int                      // operations until the power is lost
	lost  func()
}

func newLossy(left int) *lossy {
	l := &lossy{files: make(map[string]*lossyContent), left: left}
	l.wrapping = newWrapping(func(path string, f diskFile) unmapped {
		if l.files[path] == nil {
			l.files[path] = new(lossyContent)
		}
		return lossyFile{f, l, path}
	})
	return l
}

// lossyContent is what a disk has of a file for sure, and what it may have.
type lossyContent struct {
	synced  []byte
	changes []lossyChange
}

type lossyChange struct {
	at   int64
	text []byte // nil if the file was truncated at this offset
}

// after is the content after a loss of power: each sector of each change is there or not.
func (c *lossyContent) after(rng *rand.Rand) []byte {
	const sector = 512
	content := bytes.Clone(c.synced)
	for _, change := range c.changes {
		if change.text == nil {
			if rng.IntN(2) == 0 && change.at < int64(len(content)) {
				content = content[:change.at]
			}
			continue
		}
		for at := 0; at < len(change.text); at += sector {
			if rng.IntN(2) == 0 {
				continue
			}
			part := change.text[at:min(at+sector, len(change.text))]
			if end := int(change.at) + at + len(part); end > len(content) {
				content = append(content, make([]byte, end-len(content))...)
			}
			copy(content[int(change.at)+at:], part)
		}
	}
	return content
}

func (f *lossy) Delete(path string, syncDir bool) error {
	delete(f.files, path)
	return f.disk.Delete(path, syncDir)
}

type lossyFile struct {
	diskFile
	system *lossy
	path   string
}

// operate does an operation unless the power is lost.
func (f lossyFile) operate(operation func() error) error {
	if f.system.left--; f.system.left == 0 {
		f.system.lost()
	}
	if f.system.left <= 0 {
		return syscall.EIO
	}
	return operation()
}

func (f lossyFile) change(c lossyChange) {
	content := f.system.files[f.path]
	content.changes = append(content.changes, c)
}

func (f lossyFile) WriteAt(p []byte, off int64) (n int, err error) {
	err = f.operate(func() (err error) {
		f.change(lossyChange{off, bytes.Clone(p)})
		n, err = f.diskFile.WriteAt(p, off)
		return err
	})
	return n, err
}

func (f lossyFile) Truncate(size int64) error {
	return f.operate(func() error {
		f.change(lossyChange{at: size})
		return f.diskFile.Truncate(size)
	})
}

func (f lossyFile) Sync(flags vfs.SyncFlag) error {
	return f.operate(func() error {
		if err := f.diskFile.Sync(flags); err != nil {
			return err
		}
		synced, err := os.ReadFile(f.path)
		f.system.files[f.path] = &lossyContent{synced: synced}
		return err
	})
}

var losses = flag.Uint64("losses", 20, "moments in each mode at which TestPowerLoss loses the power")

// TestPowerLoss loses the power at some moments in each mode. Then each answer that was committed is there, and right.
func TestPowerLoss(t *testing.T) {
	for name, mode := range map[string]func(*Options){"shared": func(*Options) {}, "exclusive": exclusive} {
		t.Run(name, func(t *testing.T) {
			for seed := range *losses {
				rng := rand.New(rand.NewPCG(seed, 52))
				p, after := newPlace(t), newPlace(t)
				p.must(os.MkdirAll(filepath.Dir(after.path), 0o700))
				p.open().Close()
				committed, kept := 0, -1
				system := newLossy(1 + rng.IntN(400))
				made, err := os.ReadFile(p.path)
				p.must(err)
				system.files[p.path] = &lossyContent{synced: made}
				system.lost = func() {
					kept = committed
					for i, path := range Files(p.path) {
						if content := system.files[path]; content != nil {
							p.must(os.WriteFile(Files(after.path)[i], content.after(rng), 0o600))
						}
					}
				}
				vfs.Register(t.Name(), system)
				s, err := Open(Options{Path: p.path, Source: source, Exclusive: name == "exclusive", vfs: t.Name()})
				for err == nil && kept < 0 {
					b, n := s.NewBatch(), 1+rng.IntN(20)
					for i := range n {
						b.Add(request(committed+i), answer(fmt.Sprint("value ", committed+i), noon))
					}
					if err = b.Commit(); err == nil {
						committed += n
					}
				}
				if s != nil {
					p.must(s.Close())
				}
				vfs.Unregister(t.Name())
				if kept < 0 {
					t.Fatalf("seed %d: %v before the power was lost", seed, err)
				}
				s = after.open(mode)
				for i := range kept {
					after.wantValue(s, i, fmt.Sprint("value ", i))
				}
				after.put(s, kept, kept+50)
				p.must(s.Close())
				if t.Failed() {
					t.Fatalf("seed %d: the power was lost with %d answers committed", seed, kept)
				}
			}
		})
	}
}

// watchedFile calls a function after each change.
type watchedFile struct {
	diskFile
	changed func()
}

func (f watchedFile) WriteAt(p []byte, off int64) (int, error) {
	defer f.changed()
	return f.diskFile.WriteAt(p, off)
}

// A process that is killed while it makes the store leaves files that the next process makes a store of.
func TestKilledAtStart(t *testing.T) {
	p := newPlace(t)
	var killed []place
	changed := func() {
		k := newPlace(t)
		p.must(os.MkdirAll(filepath.Dir(k.path), 0o700))
		for i, name := range Files(p.path) {
			if content, err := os.ReadFile(name); err == nil && i != 2 { // which a kill leaves in memory
				p.must(os.WriteFile(Files(k.path)[i], content, 0o600))
			}
		}
		killed = append(killed, k)
	}
	vfs.Register(t.Name(), newWrapping(func(_ string, f diskFile) unmapped { return watchedFile{f, changed} }))
	defer vfs.Unregister(t.Name())
	s := p.open(func(o *Options) { o.vfs = t.Name() })
	p.put(s, 0, 3)
	p.must(s.Close())
	if len(killed) < 10 {
		t.Errorf("there are %d moments", len(killed))
	}
	for _, k := range killed {
		if s, err := Open(Options{Path: k.path, Source: source, MustExist: true}); err == nil {
			p.must(s.Close())
		} else if !errors.Is(err, Missing) {
			t.Error(err)
		}
		s := k.open()
		k.put(s, 7, 8)
		p.must(s.Close())
	}
}

// A store on a disk that is full fails, and works again when there is room.
func TestFullDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "small")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := mountSmall(dir, 2<<20); err != nil {
		t.Skipf("no file system can be mounted: %v", err)
	}
	defer func() {
		if err := unmount(dir); err != nil {
			t.Error(err)
		}
	}()
	p := place{t, filepath.Join(dir, "answers.db")}
	s := p.open()
	committed := 0
	for {
		b := s.NewBatch()
		for i := range 10 {
			b.Add(request(committed+i), answer(fmt.Sprint("value ", committed+i), noon))
		}
		err := b.Commit()
		if err == nil {
			committed += 10
			continue
		}
		if !errors.Is(err, Failed) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("got %v", err)
		}
		break
	}
	p.must(s.Close())
	if err := remount(dir, 8<<20); err != nil {
		t.Fatal(err)
	}
	s = p.open()
	for i := range committed {
		p.wantValue(s, i, fmt.Sprint("value ", i))
	}
	p.put(s, committed, committed+1000)
	p.must(s.Close())
	fill, err := os.Create(filepath.Join(dir, "fill"))
	p.must(err)
	for err == nil {
		_, err = fill.Write(make([]byte, pageSize))
	}
	p.must(fill.Close())
	if s, err := Open(p.options()); !errors.Is(err, Failed) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("opened without space: %v, %v", s, err)
	}
}

// A store that is removed or replaced while it is open fails with the next commit, and with the next lookup that opens files.
func TestGone(t *testing.T) {
	for name, use := range map[string]func(s *Store) error{
		"commit": func(s *Store) error {
			b := s.NewBatch()
			b.Add(request(1), answer("x", noon))
			return b.Commit()
		},
		"lookup": func(s *Store) error { return s.LookupAll([]Query{{Request: request(1)}}) },
	} {
		for _, replaced := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s replaced=%t", name, replaced), func(t *testing.T) {
				p := newPlace(t)
				s := p.open()
				p.put(s, 0, 10)
				for _, name := range Files(p.path) {
					if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
						t.Fatal(err)
					}
				}
				var other *Store
				if replaced {
					other = p.open()
				}
				err := use(s)
				if !errors.Is(err, Failed) || !strings.Contains(err.Error(), "removed or replaced") {
					t.Errorf("got %v", err)
				}
				p.must(s.Close())
				if replaced {
					p.put(other, 5, 6)
					p.must(other.Close())
					p.wantValue(p.open(), 5, "value 5")
				}
			})
		}
	}
}

// A store whose journal is removed while it is open asks and commits no more: other processes would not see it.
func TestJournalGone(t *testing.T) {
	for name, ask := range map[string]func(p place, s *Store) error{
		"commit": func(p place, s *Store) error {
			b := s.NewBatch()
			b.Add(request(10), answer("x", noon))
			return b.Commit()
		},
		"claim": func(p place, s *Store) error { return s.Claim([]Query{{Request: request(10)}}) },
	} {
		for _, removed := range [][]int{{1}, {2}, {1, 2}} {
			t.Run(fmt.Sprint(name, removed), func(t *testing.T) {
				p := newPlace(t)
				s := p.open()
				p.put(s, 0, 10)
				for _, i := range removed {
					p.must(os.Remove(Files(p.path)[i]))
				}
				err := ask(p, s)
				if !errors.Is(err, Failed) || !strings.Contains(err.Error(), "removed or replaced") {
					t.Errorf("got %v", err)
				}
				p.must(s.Close())
				p.wantValue(p.open(), 9, "value 9")
			})
		}
	}
}

// A symbolic link to a store is that store, with its journal.
func TestLink(t *testing.T) {
	p := newPlace(t)
	s := p.open()
	p.put(s, 0, 1)
	link := place{t, filepath.Join(t.TempDir(), "link.db")}
	if err := os.Symlink(p.path, link.path); err != nil {
		t.Skip(err)
	}
	linked := link.open()
	link.wantValue(linked, 0, "value 0")
	p.must(os.Remove(p.path + "-wal"))
	if err := linked.Claim([]Query{{Request: request(1)}}); !errors.Is(err, errGone) {
		t.Errorf("got %v", err)
	}
}

// A process whose store was replaced leaves the new store alone when it ends.
func TestReplaced(t *testing.T) {
	for name, commit := range map[string]bool{"before a commit": false, "after a commit": true} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			s := p.open()
			p.put(s, 0, 10)
			for _, name := range Files(p.path) {
				if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
			}
			other := p.open()
			p.put(other, 5, 6)
			if b := s.NewBatch(); commit {
				b.Add(request(1), answer("x", noon))
				if err := b.Commit(); err == nil {
					t.Error("the commit succeeded")
				}
			}
			p.must(s.Close())
			p.put(other, 6, 7)
			third := p.open()
			p.wantValue(third, 5, "value 5")
			p.wantValue(third, 6, "value 6")
		})
	}
}

// A store that is moved while it is open has all that was committed before.
func TestMoved(t *testing.T) {
	p := newPlace(t)
	s := p.open()
	p.put(s, 0, 10)
	moved := place{t, p.path + ".moved"}
	p.must(os.Rename(p.path, moved.path))
	b := s.NewBatch()
	b.Add(request(10), answer("x", noon))
	if err := b.Commit(); err == nil {
		t.Error("the commit succeeded")
	}
	p.must(s.Close())
	moved.wantValue(moved.open(), 9, "value 9")
}

// Any damage is found, and nothing that lies intact is lost: a lookup has the right answer, or the error names recover,
// which copies all answers but a few.
func TestDamage(t *testing.T) {
	p := newPlace(t)
	s := p.open()
	const answers = 3000
	p.put(s, 0, answers)
	p.must(s.KeepLearned(limits.Learned{Rate: 7}))
	p.must(s.Close())
	sound, err := os.ReadFile(p.path)
	p.must(err)
	damages := map[string]func(content []byte) []byte{
		"sound": func(c []byte) []byte { return c },
	}
	for i := range 60 {
		at := rand.IntN(len(sound))
		if i < 20 {
			at = rand.IntN(2 * pageSize)
		}
		bit := byte(1) << rand.IntN(8)
		damages[fmt.Sprintf("bit %#x at %d", bit, at)] = func(c []byte) []byte { c[at] ^= bit; return c }
	}
	leaf := pageSize
	for sound[leaf] != tableLeaf || sound[leaf+4] < 10 { // few notes and claims are stored
		leaf += pageSize
	}
	for at := leaf; at < leaf+8; at++ { // the header of a page of answers
		for bit := byte(1); bit > 0; bit <<= 1 {
			damages[fmt.Sprintf("header: bit %#x at %d", bit, at)] = func(c []byte) []byte { c[at] ^= bit; return c }
		}
	}
	for range 15 {
		size := rand.IntN(len(sound))
		damages[fmt.Sprintf("truncated to %d", size)] = func(c []byte) []byte { return c[:size] }
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			d := newPlace(t)
			d.must(os.MkdirAll(filepath.Dir(d.path), 0o700))
			content := damage(append([]byte(nil), sound...))
			d.must(os.WriteFile(d.path, content, 0o600))
			wrong := d.look(answers)
			if wrong == nil {
				return
			}
			if errors.Is(wrong, Foreign) && len(content) < headerBytes {
				return
			}
			if !errors.Is(wrong, Damaged) || !strings.Contains(wrong.Error(), "bulkcat store recover") {
				t.Fatalf("got %v", wrong)
			}
			to := place{t, filepath.Join(filepath.Dir(d.path), "recovered.db")}
			n, err := Recover(t.Context(), d.path, to.path)
			d.must(err)
			least := int64(answers - 1)
			if len(content) < len(sound) {
				least = int64(answers*(len(content)-len(sound)/20)/len(sound)) / 3
			}
			if n.Answers < least || n.Answers+n.Lost > answers {
				t.Errorf("recovered %+v of %d", n, answers)
			}
			if err := to.look(answers); err == nil && n.Answers < answers || err != nil && !errors.Is(err, errFewer) {
				t.Errorf("the new store: %v", err)
			}
		})
	}
}

var errFewer = errors.New("answers are missing")

// look looks up all answers; errFewer if some are not there.
func (p place) look(answers int) (err error) {
	s, err := Open(p.options())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	queries := make([]Query, answers)
	for i := range queries {
		queries[i].Request = request(i)
	}
	if err := s.LookupAll(queries); err != nil {
		return err
	}
	for i, q := range queries {
		if !q.Found {
			err = errFewer
		} else if got := q.Outcome.Answer.Entries[0].Value; got != fmt.Sprint("value ", i) {
			p.Errorf("request %d has %q", i, got)
		}
	}
	return err
}

// The store of a process that was killed is recovered with what its journal has.
func TestRecoverJournal(t *testing.T) {
	p := newPlace(t)
	s := p.open()
	p.put(s, 0, 1000)
	d := newPlace(t)
	p.must(os.MkdirAll(filepath.Dir(d.path), 0o700))
	for i, name := range Files(p.path)[:2] {
		content, err := os.ReadFile(name)
		p.must(err)
		if i == 0 {
			content[20] ^= 2 // the engine refuses the file
		}
		p.must(os.WriteFile(Files(d.path)[i], content, 0o600))
	}
	n, err := Recover(t.Context(), d.path, d.path+".new")
	if n.Answers != 1000 || err != nil {
		t.Errorf("recovered %+v, %v", n, err)
	}
}
