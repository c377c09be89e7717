package answers

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const damageAnswers = 40

// smallStore makes a closed store, half of it in a segment and half in the journal, and
// gives its files.
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
	killed(t, s)
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
// about as many as wanted of a large one.
func damages(size, wanted int) []int {
	step := max(1, size/wanted)
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
		for _, at := range damages(len(content), 4) {
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

// theSegment is the name of the only segment among files.
func theSegment(t *testing.T, files map[string][]byte) string {
	t.Helper()
	return only(t, files, segmentExt)
}

func only(t *testing.T, files map[string][]byte, ext string) string {
	t.Helper()
	names := slices.DeleteFunc(slices.Collect(maps.Keys(files)), func(name string) bool { return filepath.Ext(name) != ext })
	if len(names) != 1 {
		t.Fatalf("there are %q", names)
	}
	return names[0]
}

// storeParts makes a closed store of four segments and a journal, with the same number of
// answers in each.
func storeParts(t *testing.T, each int) map[string][]byte {
	t.Helper()
	disk := vfs.NewMem()
	s := open(t, Options{FS: disk})
	for part := range 5 {
		b := s.NewBatch()
		for i := range each {
			if err := addNumbered(b, part*each+i); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.Commit(); err != nil {
			t.Fatal(err)
		}
		if part == 4 {
			break
		}
		if _, err := s.segments.begin(); err != nil {
			t.Fatal(err)
		}
		if err := s.move(); err != nil {
			t.Fatal(err)
		}
	}
	killed(t, s)
	return readStore(t, disk)
}

func TestExportLeavesOutDamagedPacksOnly(t *testing.T) {
	const n = 5000
	disk := vfs.NewMem()
	s := open(t, Options{FS: disk})
	b := s.NewBatch()
	for i := range n {
		if err := addNumbered(b, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(b.Commit(), s.move(), s.Close()); err != nil {
		t.Fatal(err)
	}
	whole := readStore(t, disk)
	name := theSegment(t, whole)
	for title, tt := range map[string]struct {
		places  []int
		damaged int64
	}{
		"the first head": {[]int{2}, 1},
		"in between":     {[]int{len(whole[name]) / 2}, 1},
		"two":            {[]int{len(whole[name]) / 3, len(whole[name]) / 2}, 2},
		"the last byte":  {[]int{len(whole[name]) - 1}, 1},
	} {
		t.Run(title, func(t *testing.T) {
			files := maps.Clone(whole)
			for _, at := range tt.places {
				files[name] = flip(files[name], at)
			}
			s := open(t, Options{ReadOnly: true, FS: lay(t, files)})
			defer closed(t, s)
			lines := int64(strings.Count(export(t, s), "\n"))
			if lost := n - lines; lost == 0 || lost > tt.damaged*packAnswers || s.Damaged() != tt.damaged {
				t.Errorf("%d of %d are lost, %d damaged", lost, n, s.Damaged())
			}
		})
	}
}

// A file that is gone or too short is no reason to give up the others.
func TestExportWithoutAFile(t *testing.T) {
	const each = 300
	whole := storeParts(t, each)
	names := slices.Sorted(maps.Keys(whole))
	for _, name := range names {
		ext := filepath.Ext(name)
		if ext != segmentExt && ext != journalExt {
			continue
		}
		for title, short := range map[string]bool{"gone": false, "short": true} {
			t.Run(name+" "+title, func(t *testing.T) {
				files := maps.Clone(whole)
				delete(files, name)
				if short {
					files[name] = whole[name][:len(whole[name])/2]
				}
				disk := lay(t, files)
				if !short {
					_, err := Open(Options{Dir: "store", FS: disk})
					wantDamageOf(t, name, err)
				}
				s := open(t, Options{ReadOnly: true, FS: disk})
				defer closed(t, s)
				var out bytes.Buffer
				written, err := s.Export(&out)
				if !short {
					wantDamageOf(t, name, err)
				} else if err != nil || s.Damaged() == 0 && ext == segmentExt {
					t.Errorf("%d damaged, %v", s.Damaged(), err)
				}
				lines := strings.Count(out.String(), "\n")
				if lost := 5*each - lines; int64(lines) != written || lost == 0 || lost > each || !short && lost != each {
					t.Errorf("%d lines of %d, told of %d", lines, 5*each, written)
				}
			})
		}
	}
}

func wantDamageOf(t *testing.T, name string, err error) {
	t.Helper()
	damage, ok := errors.AsType[*DamageError](err)
	if !ok || filepath.Base(damage.File) != name {
		t.Errorf("got %v, want damage of %s", err, name)
	}
}

// TestUnreadableKeys damages the table of keys: what is there must not look as if it had
// never been there, and be exported in whole.
func TestUnreadableKeys(t *testing.T) {
	const n = 8000
	files := vfs.NewMem()
	s := storeSpread(t, files, n)
	if err := errors.Join(s.Compact(t.Context()), s.Close()); err != nil {
		t.Fatal(err)
	}
	contents := readStore(t, files)
	table := largestTable(contents)
	const damaged, probes = 20, 200
	for i := range damaged {
		contents[table] = flip(contents[table], len(contents[table])/(damaged+1)*(i+1))
	}
	s = open(t, Options{FS: lay(t, contents)})
	defer s.Close()
	readable := 0
	for i := range probes {
		_, found, err := s.Lookup(spread(i * (n / probes)))
		s.ahead.drop(len(s.ahead.chunks)) // so that the next key is sought, too
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
	if got := strings.Count(export(t, s), "\n"); got != n {
		t.Errorf("%d answers of %d are exported", got, n)
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
		set(t, s, appendKey(nil, s.options.Source, r), []byte("damaged"))
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
