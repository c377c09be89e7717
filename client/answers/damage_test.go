package answers_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"

	"github.com/bulkcat/bulkcat/client"
	. "github.com/bulkcat/bulkcat/client/answers"
)

// bigStore returns the files of a store of n answers with long bodies, 25 a commit.
func bigStore(t *testing.T, n int, close bool) map[string][]byte {
	t.Helper()
	disk := vfs.NewCrashableMem()
	s := start(t, disk)
	for i := 0; i < n; i += 25 {
		s.put(i, i+25, 0)
	}
	if !close {
		defer s.close()
		return contents(t, crash(disk, true))
	}
	s.close()
	return contents(t, disk)
}

func logFiles(files map[string][]byte) []string {
	var names []string
	for name := range files {
		if strings.HasSuffix(name, ".log") && !strings.Contains(name, "index") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func with(files map[string][]byte, name string, text []byte) map[string][]byte {
	files = maps.Clone(files)
	files[name] = text
	return files
}

func without(files map[string][]byte, doomed func(name string) bool) map[string][]byte {
	files = maps.Clone(files)
	maps.DeleteFunc(files, func(name string, _ []byte) bool { return doomed(name) })
	return files
}

func inIndex(name string) bool { return strings.Contains(name, "index/") }

func flip(b []byte, i int) []byte {
	b = bytes.Clone(b)
	b[i] ^= 0x10
	return b
}

// TestDamageGivesNoWrongAnswer flips and cuts each file of a store in many places. An answer is
// right or not there; if the store cannot be opened, the error says what to do.
func TestDamageGivesNoWrongAnswer(t *testing.T) {
	t.Parallel()
	const n = 300
	for name, closed := range map[string]bool{"closed": true, "killed": false} {
		files := bigStore(t, n, closed)
		for _, path := range slices.Sorted(maps.Keys(files)) {
			text := files[path]
			for at := 0; at < len(text); at += 1 + len(text)/12 {
				for kind, bad := range map[string][]byte{"flipped": flip(text, at), "cut": text[:at]} {
					for _, readOnly := range []bool{true, false} {
						lost := probe(t, with(files, path, bad), n, readOnly)
						if inIndex(path) && lost > 0 {
							t.Errorf("%s, %s %s at %d, read only %t: %d answers are lost, though the log is whole", name, path, kind, at, readOnly, lost)
						}
					}
				}
			}
		}
	}
}

// probe opens damaged files and looks all answers up. It returns how many are lost. A store that is
// only read is as before.
func probe(t *testing.T, files map[string][]byte, n int, readOnly bool) (lost int) {
	t.Helper()
	disk := lay(t, files)
	lost, err := tryProbe(t, disk, n, readOnly)
	damage, damaged := errors.AsType[*DamageError](err)
	if _, version := errors.AsType[*VersionError](err); err != nil && !version && (!damaged || damage.Index) {
		t.Fatalf("%T %v", err, err)
	}
	if readOnly {
		wantSame(t, disk, files)
	}
	return lost
}

// wantSame wants the same files on a disk as before.
func wantSame(t *testing.T, disk vfs.FS, before map[string][]byte) {
	t.Helper()
	if !maps.EqualFunc(contents(t, disk), before, bytes.Equal) {
		t.Errorf("a store that was only read has changed")
	}
}

func tryProbe(t *testing.T, disk vfs.FS, n int, readOnly bool) (lost int, err error) {
	t.Helper()
	s := &suite{T: t, options: Options{Dir: dir, Source: source, FS: disk, ReadOnly: readOnly}}
	if s.Store, err = Open(s.options); err != nil {
		return 0, err
	}
	defer s.Store.Close()
	for i, q := range s.lookUp(n) {
		if _, o := numbered(i); !q.Found {
			lost++
		} else if q.Outcome.Answer.Entries[0] != o.Answer.Entries[0] {
			t.Fatalf("answer %d is %+v", i, q.Outcome)
		}
	}
	return lost, nil
}

// lookUp looks the first n answers up as a run does: in batches of 256, in several goroutines, in any order.
func (s *suite) lookUp(n int) []Query {
	s.Helper()
	order := rand.New(rand.NewPCG(uint64(n), 1)).Perm(n)
	answered := make([]Query, n)
	var all errgroup.Group
	all.SetLimit(4)
	for batch := range slices.Chunk(order, 256) {
		all.Go(func() error {
			queries := make([]Query, len(batch))
			for i, k := range batch {
				queries[i].Request, _ = numbered(k)
			}
			err := s.LookupAll(queries)
			for i, k := range batch {
				answered[k] = queries[i]
			}
			return err
		})
	}
	s.must(all.Wait())
	return answered
}

// TestDamagedPackLosesItsAnswersOnly damages a commit in the middle of a store, whether the index
// describes it or not. The loss is told, and the answers can be stored again.
func TestDamagedPackLosesItsAnswersOnly(t *testing.T) {
	t.Parallel()
	const n = 500
	for name, files := range map[string]map[string][]byte{
		"indexed":       bigStore(t, n, true),
		"not indexed":   bigStore(t, n, false),
		"without index": without(bigStore(t, n, true), inIndex),
	} {
		t.Run(name, func(t *testing.T) {
			path := logFiles(files)[0]
			for at := 2000; at < len(files[path])-2000; at += 997 {
				disk := lay(t, with(files, path, flip(files[path], at)))
				var log bytes.Buffer
				s := &suite{T: t, options: Options{Dir: dir, Source: source, FS: disk, Log: slog.New(slog.NewTextHandler(&log, nil))}}
				s.open()
				inputs, _ := s.scan()
				lost := n - len(inputs)
				if lost < 1 || lost > 25 || s.Damaged() != 1 || !strings.Contains(log.String(), "damaged") {
					t.Fatalf("byte %d: %d answers are lost, %d damaged, log:\n%s", at, lost, s.Damaged(), &log)
				}
				for i := range n {
					r, _ := numbered(i)
					if v := wantVersion(s, i, -1, 0); (v == 0) != (inputs[r.Input] == 1) {
						t.Fatalf("byte %d: answer %d is found in version %d, and stored %d times", at, i, v, inputs[r.Input])
					}
				}
				s.put(0, n, 1)
				s.want(0, n, 1)
				s.must(s.Compact(t.Context()))
				s.reopen(func(*Options) {})
				s.wantAll(n, 1)
				s.close()
			}
		})
	}
}

// TestTornTailIsCutOff cuts a killed store's log anywhere in its last commit, which is then not
// there, or leaves other bytes there. What comes next is stored behind the commit before.
func TestTornTailIsCutOff(t *testing.T) {
	t.Parallel()
	disk := vfs.NewCrashableMem()
	s := start(t, disk)
	s.put(0, 10, 0)
	before := contents(t, disk)
	path := logFiles(before)[0]
	s.put(10, 11, 0)
	files := contents(t, crash(disk, true))
	s.close()
	for at := len(before[path]); at < len(files[path]); at++ {
		for _, rest := range []string{"", "\x00\x00\x00", strings.Repeat("x", 40)} {
			s := start(t, lay(t, with(files, path, slices.Concat(files[path][:at], []byte(rest)))))
			s.wantAll(10, 0)
			s.put(10, 12, 0)
			s.wantAll(12, 0)
			s.reopen(func(*Options) {})
			s.wantAll(12, 0)
			s.reopen(func(o *Options) { o.ReadOnly = true })
			s.wantAll(12, 0)
			s.close()
		}
	}
}

// TestIndexIsMadeAnew deletes the index, all of it or each file.
func TestIndexIsMadeAnew(t *testing.T) {
	t.Parallel()
	const n = 200
	disk := vfs.NewMem()
	s := start(t, disk)
	s.put(0, n, 0)
	s.put(0, n, 1)
	s.close()
	files := contents(t, disk)
	cases := map[string]map[string][]byte{"all": without(files, inIndex)}
	for path := range files {
		if inIndex(path) {
			cases[path] = without(files, func(name string) bool { return name == path })
		}
	}
	for name, files := range cases {
		t.Run(name, func(t *testing.T) {
			s := &suite{T: t, options: Options{Dir: dir, Source: source, FS: lay(t, files), ReadOnly: true}}
			s.open().wantAll(n, 1)
			s.reopen(func(o *Options) { o.ReadOnly = false })
			s.wantAll(n, 1)
			s.put(n, n+1, 1)
			s.reopen(func(*Options) {})
			s.wantAll(n+1, 1)
			s.close()
		})
	}
}

// TestMissingLogFile removes each log file of a store of several: the store is refused, and a
// reader gets what is left, and is told.
func TestMissingLogFile(t *testing.T) {
	t.Parallel()
	const n, parts = 40, 2
	disk := vfs.NewMem()
	s := start(t, disk)
	putLong(s, 0, n, 0)
	s.close()
	logs := logFiles(contents(t, disk))
	if len(logs) < parts {
		t.Fatalf("the log has only %d files", len(logs))
	}
	for _, path := range logs {
		s.must(disk.Rename(path, "away"))
		s.options.ReadOnly = false
		_, err := Open(s.options)
		damage, ok := errors.AsType[*DamageError](err)
		if !ok || damage.File != path || !strings.Contains(err.Error(), "store export") {
			t.Errorf("without %s: got %v", path, err)
		}
		s.options.ReadOnly = true
		s.open()
		left := int64(0)
		err = s.Scan(func(Stored) error { left++; return nil })
		if damage, ok := errors.AsType[*DamageError](err); !ok || damage.File != path || left == 0 || left >= n {
			t.Errorf("without %s: %d answers are left, %v", path, left, err)
		}
		missing := int64(0)
		for i := range n {
			r, _ := numbered(i)
			if _, found, err := s.Lookup(r); err != nil || !found {
				missing++
			}
		}
		if missing != n-left {
			t.Errorf("without %s: %d answers are left, and %d are missing", path, left, missing)
		}
		s.close()
		s.must(disk.Rename("away", path))
	}
	s.options.ReadOnly = false
	s.open().wantAll(n, 0)
	s.close()
	owner := without(contents(t, disk), func(name string) bool { return !strings.HasSuffix(name, "OWNER") })
	_, err := Open(Options{Dir: dir, FS: lay(t, owner)})
	if _, ok := errors.AsType[*DamageError](err); !ok {
		t.Errorf("without log and index: got %v", err)
	}
}

// noise is text that cannot be compressed by much.
var noise = sync.OnceValue(func() string {
	b := make([]byte, 768<<10)
	rng := rand.NewChaCha8([32]byte{})
	rng.Read(b)
	return base64.StdEncoding.EncodeToString(b)
})

func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// putLong commits versions of answers of 1 MiB that cannot be compressed.
func putLong(s *suite, from, to, v int) {
	s.Helper()
	b := s.NewBatch()
	for i := from; i < to; i++ {
		r, o := version(i, v)
		o.Answer.Body = fmt.Appendf(nil, `{"taxonomy_v3":[{"value":"A > %d > %d","confidence":0.5}],"noise":"%s"}`, i, v, noise())
		b.Add(r, o)
		s.must(b.Commit())
	}
}

// TestLogFilesAreClosedForGood fills several log files: a file that is not the last one never
// changes. When most of the log has been replaced, its oldest files are removed.
func TestLogFilesAreClosedForGood(t *testing.T) {
	t.Parallel()
	const n = 40
	disk := vfs.NewMem()
	s := start(t, disk)
	closed, removed := make(map[string]string), false
	for v := range 3 {
		putLong(s, 0, n, v)
		files := contents(t, disk)
		logs := logFiles(files)
		for _, path := range logs[:len(logs)-1] {
			if sum := checksum(files[path]); closed[path] != "" && closed[path] != sum {
				t.Errorf("%s has changed", path)
			} else {
				closed[path] = sum
			}
		}
		removed = removed || !slices.Contains(logs, dir+"/00000001.log")
		if len(logs) > 6 {
			t.Errorf("version %d: the log has %d files", v, len(logs))
		}
		s.want(0, n, v)
	}
	if !removed {
		t.Error("no file was removed")
	}
	s.reopen(func(*Options) {})
	s.wantAll(n, 2)
	s.close()
	s.must(disk.RemoveAll(dir + "/index"))
	s.open().wantAll(n, 2)
	s.close()
}

// TestDamagedAnswersAreToldOnce logs each damage once, and no more than ten.
func TestDamagedAnswersAreToldOnce(t *testing.T) {
	const n = 40
	disk := vfs.NewMem()
	s := start(t, disk)
	for i := range n {
		s.put(i, i+1, 0)
	}
	end := s.LogFiles()[0].Size
	s.put(n, n+1, 0)
	s.close()
	files := contents(t, disk)
	path := logFiles(files)[0]
	text := bytes.Clone(files[path])
	for i := len("bulkcat answers, format 5\n"); i < int(end); i += 20 {
		text[i] ^= 1
	}
	var log bytes.Buffer
	s.options.FS, s.options.Log = lay(t, with(files, path, text)), slog.New(slog.NewTextHandler(&log, nil))
	s.open()
	for range 2 {
		s.want2(n)
	}
	if told := strings.Count(log.String(), "is ignored"); told != 10 || !strings.Contains(log.String(), "only counted") {
		t.Errorf("%d are told:\n%s", told, &log)
	}
	if !strings.Contains(log.String(), "input=https://site-") || s.Damaged() < n {
		t.Errorf("%d damaged, log:\n%s", s.Damaged(), &log)
	}
	s.close()
}

// want2 wants none of the first n answers, though all are stored.
func (s *suite) want2(n int) {
	s.Helper()
	for i := range n {
		r, _ := numbered(i)
		queries := []Query{{Request: r}}
		s.must(s.LookupAll(queries))
		if queries[0].Found || !queries[0].Stored {
			s.Fatalf("answer %d: %+v", i, queries[0])
		}
	}
}

// TestLogIsCutUnderAnOpenStore cuts the log in a pack: the answers behind count as none, and
// nothing waits for them.
func TestLogIsCutUnderAnOpenStore(t *testing.T) {
	t.Chdir(t.TempDir())
	s := start(t, vfs.Default)
	s.put(0, 10, 0)
	before := contents(t, vfs.Default)
	path := logFiles(before)[0]
	s.put(10, 20, 0)
	s.must(os.Truncate(path, int64(len(before[path])+30)))
	if inputs, _ := s.scan(); len(inputs) != 10 || s.Damaged() != 1 {
		t.Errorf("%d answers are left, %d damaged", len(inputs), s.Damaged())
	}
	s.want(0, 10, 0)
	s.close()
}

// TestCompactTellsDamage compacts a store with a damaged pack.
func TestCompactTellsDamage(t *testing.T) {
	disk := vfs.NewMem()
	s := start(t, disk)
	s.put(0, 10, 0)
	s.put(10, 20, 0)
	s.close()
	files := contents(t, disk)
	path := logFiles(files)[0]
	var log bytes.Buffer
	s.options.FS, s.options.Log = lay(t, with(files, path, flip(files[path], 100))), slog.New(slog.NewTextHandler(&log, nil))
	s.open()
	s.must(s.Compact(t.Context()))
	if s.Damaged() != 1 || !strings.Contains(log.String(), "damaged") {
		t.Errorf("%d damaged, log:\n%s", s.Damaged(), &log)
	}
	s.want(10, 20, 0)
	s.close()
}

// TestKilledStoreIsNotSaidToBeDamaged opens a store that was killed after its first commits.
func TestKilledStoreIsNotSaidToBeDamaged(t *testing.T) {
	disk := vfs.NewCrashableMem()
	s := start(t, disk)
	s.put(0, 10, 0)
	for _, kill := range []bool{true, false} {
		for _, readOnly := range []bool{true, false} {
			var log bytes.Buffer
			again := &suite{T: t, options: Options{Dir: dir, Source: source, FS: crash(disk, kill), ReadOnly: readOnly,
				Log: slog.New(slog.NewTextHandler(&log, nil))}}
			again.open().wantAll(10, 0)
			again.close()
			if log.Len() > 0 {
				t.Errorf("kill %t, read only %t: log:\n%s", kill, readOnly, &log)
			}
		}
	}
	s.close()
}

// FuzzLog opens a store whose log is any bytes.
func FuzzLog(f *testing.F) {
	files := map[string][]byte{}
	f.Add([]byte("bulkcat answers, format 5\n"))
	disk := vfs.NewMem()
	s, err := Open(Options{Dir: dir, Source: source, FS: disk})
	if err != nil {
		f.Fatal(err)
	}
	b := s.NewBatch()
	for i := range 3 {
		b.Add(numbered(i))
	}
	b.Add(client.Request{Kind: client.Product, Input: "hat", Classification: client.ProductTaxonomy}, Outcome{Rejection: &client.Error{Status: 404}})
	if err := errors.Join(b.Commit(), s.KeepLearned(Learned{Rate: 3}), s.Close()); err != nil {
		f.Fatal(err)
	}
	file, err := disk.Open(dir + "/00000001.log")
	if err != nil {
		f.Fatal(err)
	}
	text := make([]byte, 1<<20)
	size, _ := file.Read(text)
	f.Add(text[:size])
	f.Fuzz(func(t *testing.T, text []byte) {
		files[dir+"/00000001.log"] = text
		s, err := Open(Options{Dir: dir, Source: source, FS: lay(t, files)})
		if _, version := errors.AsType[*VersionError](err); version {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Scan(func(Stored) error { return nil }); err != nil {
			t.Fatal(err)
		}
		b := s.NewBatch()
		b.Add(numbered(7))
		r, _ := numbered(7)
		err = b.Commit()
		_, found, lookup := s.Lookup(r)
		if err := errors.Join(err, lookup, s.Compact(t.Context()), s.Close()); err != nil || !found {
			t.Fatal(found, err)
		}
	})
}
