package answers

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const damageAnswers = 40 // enough for tables of several blocks

// smallStore makes a closed store, half of it in tables and half in the log, and gives
// its files.
func smallStore(t *testing.T) map[string][]byte {
	t.Helper()
	files := vfs.NewMem()
	s := open(t, Options{FS: files})
	for i := range damageAnswers {
		if err := tryCommit(s, i); err != nil {
			t.Fatal(err)
		}
		if i == damageAnswers/2 {
			if err := s.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	closed(t, s)
	return readStore(t, files)
}

func readStore(t *testing.T, files vfs.FS) map[string][]byte {
	t.Helper()
	names, err := files.List("store")
	if err != nil {
		t.Fatal(err)
	}
	contents := make(map[string][]byte)
	for _, name := range names {
		f, err := files.Open("store/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if contents[name], err = io.ReadAll(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	return contents
}

// lay puts files on a disk of their own.
func lay(t *testing.T, contents map[string][]byte) vfs.FS {
	t.Helper()
	files := vfs.NewMem()
	if err := files.MkdirAll("store", 0o777); err != nil {
		t.Fatal(err)
	}
	for name, content := range contents {
		f, err := files.Create("store/"+name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(bytes.Clone(content)); err != nil { // MemFS may write in place
			t.Fatal(err)
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// damages gives places to truncate or flip a file of a size at: all of a small file, and
// about 4 of a large one.
func damages(size int) []int {
	step := max(1, size/4)
	var places []int
	for i := 0; i < size; i += step {
		places = append(places, i)
	}
	if size > 0 {
		places = append(places, size-1)
	}
	return places
}

func TestDamagedFilesGiveNoWrongAnswers(t *testing.T) {
	whole := smallStore(t)
	refused := 0
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		content := whole[name]
		for _, at := range damages(len(content)) {
			for _, bad := range [][]byte{content[:at], flip(content, at)} {
				damaged := maps.Clone(whole)
				damaged[name] = bad
				if !probeDamaged(t, name, lay(t, damaged)) {
					refused++
				}
			}
		}
	}
	if refused == 0 {
		t.Error("no damage was noticed")
	}
}

// probeDamaged wants right answers, none, or a typed error, and says whether all went well.
func probeDamaged(t *testing.T, name string, files vfs.FS) bool {
	t.Helper()
	s, err := Open(Options{Dir: "store", Source: "https://api.example.com", FS: files})
	if err != nil {
		wantDamageError(t, name, err)
		return false
	}
	defer s.Close() // a failed one says so again
	fine := true
	for i := range damageAnswers {
		r, o := numbered(i)
		got, found, err := s.Lookup(r)
		if err != nil {
			wantDamageError(t, name, err)
			fine = false
			continue
		}
		if found && got.Answer.Entries[0] != o.Answer.Entries[0] {
			t.Fatalf("%s: answer %d is %+v", name, i, got)
		}
		fine = fine && found
	}
	return fine
}

func wantDamageError(t *testing.T, name string, err error) {
	t.Helper()
	var (
		damage  *DamageError
		failed  *FailedError
		version *VersionError
	)
	if !errors.As(err, &damage) && !errors.As(err, &failed) && !errors.As(err, &version) {
		t.Fatalf("%s: %T %v", name, err, err)
	}
	if damage != nil && (damage.File == "" || !strings.Contains(err.Error(), "bulkcat store export store")) {
		t.Fatalf("%s: file %q, %v", name, damage.File, err)
	}
}

func TestLostManifestIsNoNewStore(t *testing.T) {
	files := smallStore(t)
	maps.DeleteFunc(files, func(name string, _ []byte) bool { return strings.HasPrefix(name, "marker.manifest") })
	_, err := Open(Options{Dir: "store", FS: lay(t, files)})
	var damage *DamageError
	if !errors.As(err, &damage) {
		t.Errorf("got %v", err)
	}
}

func TestExportLeavesOutDamagedBlocksOnly(t *testing.T) {
	const n = 20_000
	disk := vfs.NewMem()
	s := open(t, Options{FS: disk})
	b := s.NewBatch()
	for i := range n {
		if err := addNumbered(b, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(b.Commit(), b.Close(), s.Compact(t.Context()), s.Close()); err != nil {
		t.Fatal(err)
	}
	for name, places := range map[string][]int{"the first block": {20}, "in between": {40_000}, "two": {20_000, 60_000}} {
		t.Run(name, func(t *testing.T) {
			files := readStore(t, disk)
			for name, content := range files {
				for _, at := range places {
					if strings.HasSuffix(name, ".sst") {
						content = flip(content, at)
					}
				}
				files[name] = content
			}
			s, err := Open(Options{Dir: "store", ReadOnly: true, FS: lay(t, files)})
			if err != nil {
				t.Fatal(err)
			}
			defer closed(t, s)
			var out bytes.Buffer
			written, err := s.Export(&out)
			var damage *DamageError
			if !errors.As(err, &damage) || !strings.HasSuffix(damage.File, ".sst") {
				t.Errorf("got %v", err)
			}
			lines := strings.Count(out.String(), "\n")
			t.Logf("%d of %d answers are readable", lines, n)
			if int64(lines) != written || lines == n || lines < n/3 {
				t.Errorf("%d lines of %d, told of %d", lines, n, written)
			}
		})
	}
}

// A file that is gone or too short is no reason to give up the others.
func TestExportWithoutAFile(t *testing.T) {
	const n = 16_000 // fewer than those whose keys have tables of their own
	disk := vfs.NewMem()
	s := open(t, Options{FS: disk})
	b := s.NewBatch()
	for i := range n {
		if err := addNumbered(b, i); err != nil {
			t.Fatal(err)
		}
		if i%4000 == 3999 {
			if err := errors.Join(b.Commit(), s.db.Flush()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(b.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func(files map[string][]byte, name string){
		"gone":  func(files map[string][]byte, name string) { delete(files, name) },
		"short": func(files map[string][]byte, name string) { files[name] = files[name][:len(files[name])/2] },
	} {
		t.Run(name, func(t *testing.T) {
			files := readStore(t, disk)
			damage(files, largestTable(files))
			s, err := Open(Options{Dir: "store", ReadOnly: true, FS: lay(t, files)})
			if err != nil {
				t.Fatal(err)
			}
			defer closed(t, s)
			var out bytes.Buffer
			written, err := s.Export(&out)
			var damaged *DamageError
			if !errors.As(err, &damaged) {
				t.Errorf("got %v", err)
			}
			t.Logf("%d of %d answers are readable", written, n)
			if lines := strings.Count(out.String(), "\n"); int64(lines) != written || lines == n || lines < n/2 {
				t.Errorf("%d lines of %d, told of %d", lines, n, written)
			}
		})
	}
}

func largestTable(files map[string][]byte) string {
	tables := slices.DeleteFunc(slices.Sorted(maps.Keys(files)), func(name string) bool { return !strings.HasSuffix(name, ".sst") })
	return slices.MaxFunc(tables, func(a, b string) int { return cmp.Compare(len(files[a]), len(files[b])) })
}

func TestDamagedValuesAreToldOnce(t *testing.T) {
	var log bytes.Buffer
	s := open(t, Options{FS: vfs.NewMem(), Log: slog.New(slog.NewTextHandler(&log, nil))})
	defer closed(t, s)
	for i := range damageTold + 5 {
		r, o := numbered(i)
		commit(t, s, r, o)
		value := appendValue(nil, appendKey(nil, s.options.Source, r), o)
		set(t, s, appendPositionKey(nil, Position(i+1)), flip(value, len(value)-1))
		for range 2 {
			if _, found, err := s.Lookup(r); found || err != nil {
				t.Fatalf("found %t, %v", found, err)
			}
		}
	}
	if got := s.Damaged(); got != damageTold+5 {
		t.Errorf("%d damaged", got)
	}
	if got := strings.Count(log.String(), "level=WARN"); got != damageTold+1 {
		t.Errorf("%d warnings:\n%s", got, log.String())
	}
	if !strings.Contains(log.String(), "input=https://site-0.example") {
		t.Error(log.String())
	}
	r, _ := numbered(0)
	commit(t, s, r, sound(noon))
	if _, found, err := s.Lookup(r); !found || err != nil {
		t.Errorf("asked again: found %t, %v", found, err)
	}
}
