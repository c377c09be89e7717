package answers

import (
	"bytes"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// journaled makes a closed store of n commits, all in the journal, and gives its files and
// where the packs of the journal end.
func journaled(t *testing.T, n int) (files map[string][]byte, journal string, ends []int) {
	t.Helper()
	disk := vfs.NewMem()
	s := open(t, Options{FS: disk})
	for i := range n {
		if err := tryCommitSpread(s, i, false); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, int(s.journal.files.end()-firstPosition))
	}
	killed(t, s)
	files = readStore(t, disk)
	return files, only(t, files, journalExt), ends
}

// TestTornJournal cuts the journal off anywhere in its last pack: that was never
// acknowledged, and those before are there. What comes next takes its place.
func TestTornJournal(t *testing.T) {
	const n = 3
	whole, journal, ends := journaled(t, n)
	for at := ends[n-2]; at < ends[n-1]; at += 7 {
		for name, torn := range map[string][]byte{
			"cut":     whole[journal][:at],
			"zeros":   append(bytes.Clone(whole[journal][:at]), make([]byte, ends[n-1]-at)...),
			"garbage": append(bytes.Clone(whole[journal][:at]), bytes.Repeat([]byte{packVersion}, 100)...),
		} {
			files := maps.Clone(whole)
			files[journal] = torn
			disk := lay(t, files)
			s := open(t, Options{FS: disk})
			lookUpSpread(t, s, []int{0, 1})
			if _, found, err := s.Lookup(spread(n - 1)); found || err != nil || s.Damaged() != 0 {
				t.Fatalf("%s at %d: found %t, %d damaged, %v", name, at, found, s.Damaged(), err)
			}
			if err := tryCommitSpread(s, 7, false); err != nil {
				t.Fatal(err)
			}
			killed(t, s)
			s = open(t, Options{FS: disk})
			lookUpSpread(t, s, []int{0, 1, 7})
			if got := strings.Count(export(t, s), "\n"); got != n || s.Damaged() != 0 {
				t.Fatalf("%s at %d: %d answers, %d damaged", name, at, got, s.Damaged())
			}
			killed(t, s)
		}
	}
}

// TestDamagedJournal damages any byte but those of the last pack: one answer is lost, and told of.
func TestDamagedJournal(t *testing.T) {
	const n = 3
	whole, journal, ends := journaled(t, n)
	for at := 0; at < ends[n-2]; at += 3 {
		if packHeaderSize == at || packHeaderSize == at-ends[0] {
			continue // a mark, whose other bits say nothing
		}
		files := maps.Clone(whole)
		files[journal] = flip(whole[journal], at)
		lost, _ := slices.BinarySearch(ends, at+1)
		s := open(t, Options{FS: lay(t, files)})
		if got := s.Damaged(); got != 1 {
			t.Errorf("byte %d: %d damaged", at, got)
		}
		for i := range n {
			if _, found, err := s.Lookup(spread(i)); found == (i == lost) || err != nil {
				t.Errorf("byte %d: answer %d: found %t, %v", at, i, found, err)
			}
		}
		closed(t, s)
	}
}

// TestJournalIsUsedAgain wants nothing of an older journal in the one that took its file.
func TestJournalIsUsedAgain(t *testing.T) {
	disk := vfs.NewMem()
	s := open(t, Options{FS: disk})
	if err := addMany(s, 0, 1000); err != nil {
		t.Fatal(err)
	}
	if err := s.move(); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := tryCommitSpread(s, 1000+i, false); err != nil {
			t.Fatal(err)
		}
		killed(t, s)
		s = open(t, Options{FS: disk})
		if got := len(s.recent.values); got != i+1 {
			t.Errorf("%d answers are recent, want %d", got, i+1)
		}
	}
	lookUpMany(t, s, 1003)
	if got := strings.Count(export(t, s), "\n"); got != 1003 || s.Damaged() != 0 {
		t.Errorf("%d answers, %d damaged", got, s.Damaged())
	}
	closed(t, s)
}

// TestKilledBeforeTheNewJournal ends the process when answers have moved, and the journal
// still has the old name.
func TestKilledBeforeTheNewJournal(t *testing.T) {
	const n = 100
	disk := vfs.NewCrashableMem()
	s := open(t, Options{FS: errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpRename && strings.HasSuffix(op.Path, journalExt) {
			return syscall.EIO
		}
		return nil
	}))})
	if err := addMany(s, 0, n); err != nil {
		t.Fatal(err)
	}
	if err := s.mustWrite(s.move()); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	killed := disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
	for _, readOnly := range []bool{true, false} {
		s = open(t, Options{FS: killed, ReadOnly: readOnly})
		if got := len(s.recent.values); got != 0 {
			t.Errorf("%d answers are recent", got)
		}
		lookUpMany(t, s, n)
		if got := strings.Count(export(t, s), "\n"); got != n {
			t.Errorf("%d answers are exported", got)
		}
		if !readOnly {
			if err := addMany(s, n, n+10); err != nil {
				t.Fatal(err)
			}
		}
		closed(t, s)
	}
	s = open(t, Options{FS: killed})
	lookUpMany(t, s, n+10)
	closed(t, s)
}

// TestReplacedBeforeAMark takes the power between a commit that replaces answers and what
// makes their marks durable.
func TestReplacedBeforeAMark(t *testing.T) {
	const n, replaced = 300, 20
	disk := vfs.NewCrashableMem()
	s := storeSpread(t, disk, n)
	b := s.NewBatch()
	for i := range replaced {
		if err := b.Add(spread(i*7), spreadAnswer(n+i), true); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	lost := disk.CrashClone(vfs.CrashCloneCfg{})
	closed(t, s)
	for _, readOnly := range []bool{true, false} {
		s = open(t, Options{FS: lost, ReadOnly: readOnly})
		for i := range n {
			got, found, err := s.Lookup(spread(i))
			want := i
			if i%7 == 0 && i < 7*replaced {
				want = n + i/7
			}
			if err != nil || !found || got.Answer.Entries[0] != spreadAnswer(want).Answer.Entries[0] {
				t.Fatalf("read only %t: answer %d: got %+v, %t, %v", readOnly, i, got, found, err)
			}
		}
		if got := strings.Count(export(t, s), "\n"); got != n {
			t.Errorf("read only %t: %d answers are exported", readOnly, got)
		}
		if _, answers := packsOf(t, s); !readOnly && answers != n-replaced {
			t.Errorf("%d answers are left in segments", answers)
		}
		closed(t, s)
	}
}

// TestLargeBatch commits more answers than one pack of the journal has.
func TestLargeBatch(t *testing.T) {
	const n = journalAnswers + 10
	disk := vfs.NewMem()
	s := open(t, Options{FS: disk})
	b := s.NewBatch()
	for i := range n {
		if err := addNumbered(b, i); err != nil {
			t.Fatal(err)
		}
	}
	b.pack(firstPosition)
	if err := disk.MkdirAll("other", 0o777); err != nil {
		t.Fatal(err)
	}
	j := journal{segments{fs: disk, dir: "other"}}
	if err := errors.Join(j.begin(firstPosition), j.append(b.packs)); err != nil {
		t.Fatal(err)
	}
	packs, answers := 0, 0
	err := j.gather(func(p *pack) error {
		packs++
		answers += len(p.values)
		return nil
	}, func(position) { t.Error("damaged") })
	if err != nil || packs != 2 || answers != n {
		t.Errorf("%d answers in %d packs, %v", answers, packs, err)
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	wantAnswers(t, s, 10, 10)
	if got := strings.Count(export(t, s), "\n"); got != n {
		t.Errorf("%d answers are exported", got)
	}
	closed(t, s)
}

// TestNothingIsLeftInTheJournal closes a store, and opens it: all has moved.
func TestNothingIsLeftInTheJournal(t *testing.T) {
	const n = 100
	disk := vfs.NewMem()
	s := open(t, Options{FS: disk})
	must(t, addMany(s, 0, n))
	for range 2 { // the second time without anything new
		closed(t, s)
		files := readStore(t, disk)
		if size := len(files[only(t, files, journalExt)]); size != 0 {
			t.Errorf("%d bytes are left in the journal", size)
		}
		s = open(t, Options{FS: disk})
		if got := len(s.recent.values); got != 0 {
			t.Errorf("%d answers are recent", got)
		}
		lookUpMany(t, s, n)
	}
	closed(t, s)
}

// FuzzJournal opens a journal of any bytes behind a sound pack.
func FuzzJournal(f *testing.F) {
	sound := appendPack(nil, firstPosition, packPlain, []byte{0}, appendSized(nil, []byte("x")))
	next := appendPack(nil, firstPosition+position(len(sound)), packPlain, []byte{newerMark}, appendSized(nil, []byte("y")))
	f.Add([]byte(nil))
	f.Add(next)
	f.Add(next[:len(next)-1])
	f.Add(bytes.Repeat([]byte{packVersion}, 200))
	f.Fuzz(func(t *testing.T, rest []byte) {
		j := journal{segments{fs: vfs.NewMem()}}
		if err := errors.Join(j.begin(firstPosition), j.append(append(bytes.Clone(sound), rest...))); err != nil {
			t.Fatal(err)
		}
		var values [][]byte
		err := j.gather(func(p *pack) error { values = append(values, p.values...); return nil }, func(position) {})
		if err != nil || len(values) == 0 || string(values[0]) != "x" {
			t.Fatalf("%q, %v", values, err)
		}
		if end := j.files.end(); end > firstPosition+position(len(sound)+len(rest)) {
			t.Fatalf("ends at %d", end)
		}
	})
}
