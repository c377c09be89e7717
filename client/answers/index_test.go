package answers_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"golang.org/x/sync/errgroup"

	. "github.com/bulkcat/bulkcat/client/answers"
)

// replacedStore returns the files of a store of n answers, ten of which were replaced by equal answers.
func replacedStore(t *testing.T, n int) map[string][]byte {
	t.Helper()
	disk := vfs.NewMem()
	s := start(t, disk)
	for i := 0; i < n; i += 250 {
		s.put(i, min(i+250, n), 0)
	}
	s.put(n/2, n/2+10, 0)
	s.close()
	return contents(t, disk)
}

// wantKept wants the first n answers of the store, and nothing else, from lookups as a run makes them, from a scan, and
// from both after compaction.
func (s *suite) wantKept(n int) {
	s.Helper()
	for i, q := range s.lookUp(n) {
		if _, o := numbered(i); !q.Found || q.Outcome.Answer.Entries[0] != o.Answer.Entries[0] {
			s.Fatalf("answer %d is asked again: %+v", i, q)
		}
	}
	s.wantStored(n, 0)
	if s.options.ReadOnly {
		return
	}
	s.must(s.Compact(s.Context()))
	s.wantStored(n, 0)
	s.reopen(func(*Options) {})
	s.wantStored(n, 0)
}

// TestDamagedIndexLosesNothing flips a bit of the index in many places: each call gives what the log has, and a store that
// is only read does not change.
func TestDamagedIndexLosesNothing(t *testing.T) {
	t.Parallel()
	const n = 1000
	files := replacedStore(t, n)
	for path, text := range files {
		if !strings.HasSuffix(path, ".sst") {
			continue
		}
		for at := 1000; at < len(text); at += 1 + len(text)/3 {
			for _, first := range []string{"read only", "lookup", "scan", "compact", "commit"} {
				damaged := with(files, path, flip(text, at))
				disk := lay(t, damaged)
				s := &suite{T: t, options: Options{Dir: dir, Source: source, FS: disk, ReadOnly: first == "read only"}}
				s.open()
				switch first {
				case "scan":
					s.wantAll(n, 0)
				case "compact":
					s.must(s.Compact(t.Context()))
				case "commit":
					s.put(0, n, 0)
				}
				s.wantKept(n)
				s.close()
				if s.options.ReadOnly {
					wantSame(t, disk, damaged)
				}
			}
		}
	}
}

// TestIndexIsMadeAnewOnce looks answers up in several goroutines that meet the damage at the same time: the index is
// made anew once, and the next start has a sound index.
func TestIndexIsMadeAnewOnce(t *testing.T) {
	t.Parallel()
	const n = 5000
	files := replacedStore(t, n)
	for path, text := range files {
		if strings.HasSuffix(path, ".sst") {
			for at := 1000; at < len(text)-1000; at += 4000 {
				text = flip(text, at)
			}
			files[path] = text
		}
	}
	var log bytes.Buffer
	s := &suite{T: t, options: Options{Dir: dir, Source: source, FS: lay(t, files), Log: slog.New(slog.NewTextHandler(&log, nil))}}
	s.open()
	s.wantKept(n)
	s.close()
	if strings.Count(log.String(), "made anew") != 1 || !strings.Contains(log.String(), "index") {
		t.Errorf("log:\n%s", &log)
	}
}

// TestIndexOfAnotherLog puts an index beside a log that it does not belong to. No error of the database tells that.
func TestIndexOfAnotherLog(t *testing.T) {
	t.Parallel()
	const n = 1000
	files := replacedStore(t, n)
	log := without(files, inIndex)
	disk := lay(t, log)
	s := start(t, disk)
	s.put(n, n+100, 0)
	s.close()
	longer := contents(t, disk) // another continuation of the log, of the same length
	disk = lay(t, files)
	s = start(t, disk)
	s.put(n+100, n+200, 0)
	s.close()
	forked := contents(t, disk)

	other := vfs.NewMem()
	s = start(t, other)
	s.put(2*n, 2*n+50, 0)
	foreign := contents(t, other)
	for range 3 {
		s.must(s.Compact(t.Context()))
	}
	s.close()
	compacted := contents(t, other) // its log begins with a later file
	moved := renamed(longer, 4)

	for name, c := range map[string]struct {
		index, log map[string][]byte
		n          int
	}{
		"older":                       {files, longer, n + 100},
		"of a fork":                   {forked, longer, n + 100},
		"of another store":            {foreign, longer, n + 100},
		"of another, compacted store": {compacted, moved, n + 100},
	} {
		t.Run(name, func(t *testing.T) {
			mixed := without(c.log, inIndex)
			for path, text := range c.index {
				if inIndex(path) {
					mixed[path] = text
				}
			}
			for _, readOnly := range []bool{true, false} {
				disk := lay(t, mixed)
				s := &suite{T: t, options: Options{Dir: dir, Source: source, FS: disk, ReadOnly: readOnly}}
				s.open().wantKept(c.n)
				s.close()
				if readOnly {
					wantSame(t, disk, mixed)
				}
			}
		})
	}
}

// renamed gives a log a second file, and more, that have no pack.
func renamed(files map[string][]byte, last int) map[string][]byte {
	files = maps.Clone(files)
	for number := 2; number <= last; number++ {
		files[fmt.Sprintf("%s/%08d.log", dir, number)] = []byte("bulkcat answers, format 5\n")
	}
	return files
}

// TestIndexLacksAnswers takes answers out of a sound index, or lets it lead to older ones: nothing is left out of an
// export, and compaction removes none.
func TestIndexLacksAnswers(t *testing.T) {
	t.Parallel()
	const n = 2000
	files := replacedStore(t, n)
	for name, change := range map[string]func(*pebble.Batch, []byte) error{
		"no entry":    func(b *pebble.Batch, key []byte) error { return b.Delete(key, nil) },
		"older entry": func(b *pebble.Batch, key []byte) error { return b.Set(key, []byte{0, 0, 0, 1, 0, 0, 0, 26}, nil) },
		"short entry": func(b *pebble.Batch, key []byte) error { return b.Set(key, []byte{1}, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, compact := range []bool{false, true} {
				disk := lay(t, files)
				changeIndex(t, disk, func(b *pebble.Batch) error {
					for i := n / 2; i < n; i += 5 {
						r, _ := numbered(i)
						key := strings.Join([]string{source, string(r.Kind), r.Classification, r.Input}, "\x00")
						if err := change(b, []byte(key)); err != nil {
							return err
						}
					}
					return nil
				})
				s := start(t, disk)
				if compact {
					s.must(s.Compact(t.Context()))
				} else if inputs, _ := s.scan(); len(inputs) != n {
					t.Errorf("%d answers are exported", len(inputs))
				}
				s.wantKept(n)
				s.close()
			}
		})
	}
}

// changeIndex changes entries of the index of a closed store.
func changeIndex(t *testing.T, disk vfs.FS, change func(*pebble.Batch) error) {
	t.Helper()
	db, err := pebble.Open(dir+"/index", &pebble.Options{FS: disk, DisableWAL: true, FormatMajorVersion: pebble.FormatValueSeparation, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	b := db.NewBatch()
	for _, err := range []error{change(b), b.Commit(pebble.NoSync), db.Flush(), db.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

type quiet struct{}

func (quiet) Infof(string, ...any)           {}
func (quiet) Errorf(string, ...any)          {}
func (quiet) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

// TestOlderAnswerCountsAgain damages the pack of newer answers: the older answers, which are sound, count, and
// compaction keeps them.
func TestOlderAnswerCountsAgain(t *testing.T) {
	t.Parallel()
	const n = 300
	disk := vfs.NewMem()
	s := start(t, disk)
	s.put(0, n, 0)
	s.put(0, n, 1)
	end := s.LogFiles()[0].Size
	s.put(0, 10, 2)
	s.put(n, n+1, 1)
	s.close()
	files := contents(t, disk)
	path := logFiles(files)[0]
	files = with(files, path, flip(files[path], int(end)+40))
	for name, first := range map[string]func(s *suite){
		"lookup":  func(s *suite) { s.want(0, n+1, 1) },
		"scan":    func(s *suite) { s.wantStored(n+1, 1) },
		"compact": func(s *suite) { s.must(s.Compact(t.Context())) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, readOnly := range []bool{true, false} {
				disk := lay(t, files)
				s := &suite{T: t, options: Options{Dir: dir, Source: source, FS: disk, ReadOnly: readOnly}}
				s.open()
				if readOnly {
					s.wantStored(n+1, 1)
					s.close()
					wantSame(t, disk, files)
					continue
				}
				first(s)
				if s.Damaged() != 1 {
					t.Errorf("%d damaged packs are told", s.Damaged())
				}
				s.wantStored(n+1, 1)
				s.must(s.Compact(t.Context()))
				s.reopen(func(*Options) {})
				s.wantAll(n+1, 1)
				s.close()
			}
		})
	}
}

// TestLastPackIsDamaged damages the pack by which an index is recognized: its answers are lost and told, and no other.
func TestLastPackIsDamaged(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem()
	s := start(t, disk)
	s.put(0, 500, 0)
	end := s.LogFiles()[0].Size
	s.put(500, 510, 0)
	s.close()
	files := contents(t, disk)
	path := logFiles(files)[0]
	for at := int(end); at < len(files[path]); at += 5 {
		for name, text := range map[string][]byte{"flipped": flip(files[path], at), "cut": files[path][:at]} {
			s := start(t, lay(t, with(files, path, text)))
			s.want(0, 500, 0)
			found := slices.IndexFunc(s.lookUp(510), func(q Query) bool { return !q.Found })
			if _, err := tryScan(s); err != nil || found != 500 || s.Damaged() == 0 {
				t.Fatalf("%s at %d: answer %d is the first that is lost, %d damaged, %v", name, at, found, s.Damaged(), err)
			}
			s.close()
		}
	}
}

func tryScan(s *suite) (n int, err error) {
	err = s.Scan(func(Stored) error { n++; return nil })
	return n, err
}

// TestIndexOfTheVersionBefore opens a store whose index has no checksum of the log yet. A store that is only read uses
// that index: a new index of a large store would take much memory. Else the index is made anew.
func TestIndexOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	const n = 1000
	disk := lay(t, replacedStore(t, n))
	changeIndex(t, disk, func(b *pebble.Batch) error {
		state := []byte{2, 0, 0, 0, 1}
		state = binary.BigEndian.AppendUint32(state, uint32(len(contents(t, disk)[dir+"/00000001.log"])))
		state = append(state, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 3, 242, 0, 0, 0, 0, 0, 0, 0, 10)
		return b.Set([]byte("\x00state"), state, nil)
	})
	files := contents(t, disk)
	for _, readOnly := range []bool{true, false} {
		var log bytes.Buffer
		disk := lay(t, files)
		s := &suite{T: t, options: Options{Dir: dir, Source: source, FS: disk, ReadOnly: readOnly, Log: slog.New(slog.NewTextHandler(&log, nil))}}
		s.open().wantKept(n)
		s.close()
		if strings.Contains(log.String(), "made anew") == readOnly {
			t.Errorf("read only %t: log\n%s", readOnly, &log)
		}
		if readOnly {
			wantSame(t, disk, files)
		}
	}
}

// TestDamageIsMetAgain has a lookup find a damaged answer, and wait until another lookup is making the index anew for it:
// both get the older answer.
func TestDamageIsMetAgain(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem()
	s := start(t, disk)
	s.put(0, 100, 0)
	end := s.LogFiles()[0].Size
	s.put(0, 1, 1)
	s.put(100, 101, 0)
	s.close()
	files := contents(t, disk)
	path := logFiles(files)[0]

	var reads atomic.Int64
	var once sync.Once
	made := 0
	waiting, proceed := make(chan struct{}), make(chan struct{})
	s.options.FS = errorfs.Wrap(lay(t, with(files, path, flip(files[path], int(end)+40))), errorfs.InjectorFunc(func(op errorfs.Op) error {
		switch {
		case op.Kind == errorfs.OpFileReadAt && op.Path == path && op.Offset == end && reads.Add(1) == 2:
			close(waiting)
			<-proceed
		case op.Kind == errorfs.OpRemoveAll:
			made++
			once.Do(func() { close(proceed) })
		}
		return nil
	}))
	s.open()
	var first errgroup.Group
	first.Go(func() error { return s.lookUpFirst() })
	<-waiting
	s.must(s.lookUpFirst())
	s.must(first.Wait())
	s.close()
	if made != 1 {
		t.Errorf("the index is made anew %d times", made)
	}
}

// lookUpFirst wants the first answer in its first version.
func (s *suite) lookUpFirst() error {
	r, want := numbered(0)
	got, found, err := s.Lookup(r)
	if err == nil && (!found || got.Answer.Entries[0] != want.Answer.Entries[0]) {
		s.Errorf("found %t, %+v", found, got)
	}
	return err
}
