package answers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/bulkcat/bulkcat/client"
	. "github.com/bulkcat/bulkcat/client/answers"
)

const (
	dir    = "store"
	source = "https://api.example.com"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)

// numbered is the i-th of many requests and its first answer.
func numbered(i int) (client.Request, Outcome) { return version(i, 0) }

// version is the i-th request and one of its answers, each newer than the one before.
func version(i, v int) (client.Request, Outcome) {
	r := client.Request{Kind: client.Website, Input: fmt.Sprintf("https://site-%d.example", i*104729%10_000_019), Classification: client.TaxonomyV3}
	value := fmt.Sprintf("A > %d > %d", i, v)
	return r, Outcome{Answer: client.Answer{
		Entries:    []client.Entry{{Value: value, Confidence: 0.5}},
		Body:       fmt.Appendf(nil, `{"taxonomy_v3":[{"value":"%s","confidence":0.5}]}`, value),
		AnsweredAt: noon.Add(time.Duration(v) * time.Minute),
	}}
}

// suite is a store under test, and its disk.
type suite struct {
	*testing.T
	options Options
	*Store
}

// start opens a store on a disk.
func start(t *testing.T, disk vfs.FS) *suite {
	return (&suite{T: t, options: Options{Dir: dir, Source: source, FS: disk}}).open()
}

func (s *suite) open() *suite {
	s.Helper()
	store, err := Open(s.options)
	s.must(err)
	s.Store = store
	return s
}

func (s *suite) close() {
	s.Helper()
	s.must(s.Store.Close())
}

// reopen closes the store, changes its options, and opens the store.
func (s *suite) reopen(change func(*Options)) {
	s.Helper()
	s.close()
	change(&s.options)
	s.open()
}

func (s *suite) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// put commits a version of the answers from one number to another.
func (s *suite) put(from, to, v int) {
	s.Helper()
	s.must(s.tryPut(from, to, v))
}

func (s *suite) tryPut(from, to, v int) error {
	b := s.NewBatch()
	for i := from; i < to; i++ {
		b.Add(version(i, v))
	}
	return b.Commit()
}

// want looks up the answers from one number to another, in batches, and wants a version of each;
// -1 for none.
func (s *suite) want(from, to, v int) {
	s.Helper()
	for ; from < to; from += 100 {
		var queries []Query
		for i := from; i < min(from+100, to); i++ {
			r, _ := numbered(i)
			queries = append(queries, Query{Request: r})
		}
		s.must(s.LookupAll(queries))
		for i, q := range queries {
			_, o := version(from+i, v)
			if o.Answer.Body = nil; v < 0 && (q.Found || q.Stored) || v >= 0 && (!q.Found || !reflect.DeepEqual(q.Outcome, o)) {
				s.Fatalf("answer %d: got %+v, want version %d", from+i, q, v)
			}
		}
	}
}

// scan returns how often each input is stored, and the bodies of the answers that are short.
func (s *suite) scan() (inputs map[string]int, bodies string) {
	s.Helper()
	inputs = make(map[string]int)
	var all strings.Builder
	s.must(s.Scan(func(a Stored) error {
		inputs[a.Request.Input]++
		if len(a.Outcome.Answer.Body) < 1<<10 {
			all.Write(a.Outcome.Answer.Body)
			all.WriteByte('\n')
		}
		return nil
	}))
	return inputs, all.String()
}

// wantAll wants a version of the first n answers, and nothing else, from lookups and scans, and no damage.
func (s *suite) wantAll(n, v int) {
	s.Helper()
	s.wantStored(n, v)
	if s.Damaged() != 0 {
		s.Errorf("%d damaged", s.Damaged())
	}
}

// wantStored is wantAll for a store in which damage was met.
func (s *suite) wantStored(n, v int) {
	s.Helper()
	s.want(0, n, v)
	inputs, _ := s.scan()
	for i := range n {
		r, _ := numbered(i)
		if inputs[r.Input] != 1 {
			s.Errorf("answer %d is stored %d times", i, inputs[r.Input])
		}
	}
	if len(inputs) != n {
		s.Errorf("%d answers are stored, want %d", len(inputs), n)
	}
}

// contents reads all files of a store, folders inside included.
func contents(t *testing.T, disk vfs.FS) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	var read func(name string)
	read = func(name string) {
		names, err := disk.List(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			path := disk.PathJoin(name, n)
			info, err := disk.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if info.IsDir() {
				read(path)
				continue
			}
			f, err := disk.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			text := make([]byte, info.Size())
			_, err = io.ReadFull(f, text)
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			files[path] = text
		}
	}
	read(dir)
	return files
}

// lay puts files on a new disk.
func lay(t *testing.T, files map[string][]byte) vfs.FS {
	t.Helper()
	disk := vfs.NewCrashableMem()
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if err := disk.MkdirAll(disk.PathDir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		f, err := disk.Create(path, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Write(slices.Clone(files[path])) // the file system may write to the slice
		if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	return disk
}

func TestAnswersOutlastTheStore(t *testing.T) {
	s := start(t, vfs.NewMem())
	s.put(0, 1000, 0)
	s.wantAll(1000, 0)
	s.reopen(func(*Options) {})
	s.wantAll(1000, 0)
	s.want(1000, 2000, -1)
	r, _ := numbered(1)
	for name, other := range map[string]client.Request{
		"input":          {Kind: r.Kind, Input: r.Input + "/", Classification: r.Classification},
		"classification": {Kind: r.Kind, Input: r.Input, Classification: client.NAICS},
		"kind":           {Kind: client.Product, Input: r.Input, Classification: r.Classification},
	} {
		if _, found, err := s.Lookup(other); found || err != nil {
			t.Errorf("another %s: found %t, %v", name, found, err)
		}
	}
	s.reopen(func(o *Options) { o.Source = "https://other.example.com" })
	s.want(0, 1000, -1)
	s.close()
}

func TestNewestAnswerCounts(t *testing.T) {
	s := start(t, vfs.NewMem())
	s.put(0, 600, 0)
	s.put(200, 400, 1)
	s.put(300, 310, 2)
	check := func(t *testing.T) {
		s.T = t
		s.want(0, 200, 0)
		s.want(200, 300, 1)
		s.want(300, 310, 2)
		s.want(310, 400, 1)
		s.want(400, 600, 0)
		if inputs, _ := s.scan(); len(inputs) != 600 {
			t.Errorf("%d answers are stored", len(inputs))
		}
	}
	t.Run("at once", check)
	s.reopen(func(*Options) {})
	t.Run("opened again", check)
	s.reopen(func(o *Options) { o.ReadOnly = true })
	t.Run("only read", check)
	s.reopen(func(o *Options) { o.ReadOnly = false })
	s.must(s.Compact(t.Context()))
	t.Run("compacted", check)
	s.T = t
	s.close()
}

func TestRejections(t *testing.T) {
	s := start(t, vfs.NewMem())
	r, _ := numbered(0)
	rejection := &client.Error{Class: client.Rejected, Status: 404, Detail: "no such site"}
	put := func(at time.Time) {
		b := s.NewBatch()
		b.Add(r, Outcome{Rejection: rejection, Answer: client.Answer{AnsweredAt: at}})
		s.must(b.Commit())
	}
	put(noon)
	got, found, err := s.Lookup(r)
	if err != nil || !found || !reflect.DeepEqual(got.Rejection, rejection) || !got.Answer.AnsweredAt.Equal(noon) {
		t.Errorf("got %+v, %t, %v", got, found, err)
	}
	s.reopen(func(o *Options) { o.RetryRejected = true })
	if _, found, err := s.Lookup(r); found || err != nil {
		t.Errorf("to be asked again, but found %t, %v", found, err)
	}
	put(time.Now().UTC().Truncate(time.Microsecond))
	if _, found, err := s.Lookup(r); !found || err != nil {
		t.Errorf("asked again already, but found %t, %v", found, err)
	}
	s.close()
}

func TestMaxAge(t *testing.T) {
	for _, tt := range []struct {
		name     string
		age, max time.Duration
		found    bool
	}{
		{"any age", time.Hour, 0, true},
		{"young enough", time.Hour, 2 * time.Hour, true},
		{"too old", 3 * time.Hour, 2 * time.Hour, false},
		{"too old now, but not when the store was opened", 0, time.Nanosecond, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := (&suite{T: t, options: Options{Dir: dir, Source: source, FS: vfs.NewMem(), MaxAge: tt.max}}).open()
			r, o := numbered(0)
			o.Answer.AnsweredAt = time.Now().Add(-tt.age)
			b := s.NewBatch()
			b.Add(r, o)
			s.must(b.Commit())
			queries := []Query{{Request: r}}
			if err := s.LookupAll(queries); queries[0].Found != tt.found || !queries[0].Stored || err != nil {
				t.Errorf("got %+v, %v", queries[0], err)
			}
			s.close()
		})
	}
}

func TestSecondProcessIsRefused(t *testing.T) {
	for _, readOnly := range []bool{false, true} {
		folder := t.TempDir()
		s, err := Open(Options{Dir: folder})
		if err != nil {
			t.Fatal(err)
		}
		_, err = Open(Options{Dir: folder, ReadOnly: readOnly})
		locked, ok := errors.AsType[*LockedError](err)
		if !ok || locked.PID != os.Getpid() || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
			t.Errorf("read only %t: got %v", readOnly, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestMissingStoreIsNotMade(t *testing.T) {
	folder := t.TempDir()
	for _, o := range []Options{{MustExist: true}, {ReadOnly: true}} {
		o.Dir = folder + "/none"
		_, err := Open(o)
		if missing, ok := errors.AsType[*MissingError](err); !ok || missing.Dir != o.Dir {
			t.Errorf("got %v", err)
		}
		if _, err := os.Stat(o.Dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the folder is there: %v", err)
		}
	}
}

func TestUnusableFolder(t *testing.T) {
	path := t.TempDir() + "/file"
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(Options{Dir: path}); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}

func TestOtherFormatIsRefused(t *testing.T) {
	for name, files := range map[string]map[string][]byte{
		"6":          {dir + "/00000001.log": []byte("bulkcat answers, format 6\nand more")},
		"4 or older": {dir + "/MANIFEST-000001": []byte("x")},
	} {
		_, err := Open(Options{Dir: dir, FS: lay(t, files)})
		if version, ok := errors.AsType[*VersionError](err); !ok || version.Version != name {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestLearned(t *testing.T) {
	s := start(t, vfs.NewMem())
	want := func(want Learned) {
		t.Helper()
		if got, err := s.Learned(); got != want || err != nil {
			t.Errorf("got %v, %v; want %v", got, err, want)
		}
	}
	want(Learned{})
	s.must(s.KeepLearned(Learned{Rate: 12}))
	s.put(0, 10, 0)
	s.must(s.KeepLearned(Learned{Rate: 287.5, Background: 0.05, Number: 600, Window: time.Minute, Silence: 62 * time.Second}))
	want(Learned{Rate: 287.5, Background: 0.05, Number: 600, Window: time.Minute, Silence: 62 * time.Second})
	s.reopen(func(*Options) {})
	want(Learned{Rate: 287.5, Background: 0.05, Number: 600, Window: time.Minute, Silence: 62 * time.Second})
	s.must(s.Compact(t.Context()))
	want(Learned{Rate: 287.5, Background: 0.05, Number: 600, Window: time.Minute, Silence: 62 * time.Second})
	s.wantAll(10, 0)
	s.reopen(func(o *Options) { o.Source = "https://other.example.com" })
	want(Learned{})
	s.close()
}

// TestStoreIsRemoved takes the folder of an open store away: the next commit is refused, and the
// error promises nothing about the answers.
func TestStoreIsRemoved(t *testing.T) {
	folder := t.TempDir() + "/store"
	s, err := Open(Options{Dir: folder, Source: source})
	if err != nil {
		t.Fatal(err)
	}
	b := s.NewBatch()
	b.Add(numbered(0))
	if err := errors.Join(b.Commit(), os.RemoveAll(folder)); err != nil {
		t.Fatal(err)
	}
	b.Add(numbered(1))
	err = b.Commit()
	if gone, ok := errors.AsType[*FailedError](err); !ok || gone.Dir != folder || !strings.Contains(err.Error(), "put the folder back") {
		t.Errorf("got %v", err)
	}
	if again := s.Close(); again != err {
		t.Errorf("close: got %v", again)
	}
}

func TestCompactingIsInterrupted(t *testing.T) {
	s := start(t, vfs.NewMem())
	s.put(0, 100, 0)
	reason := errors.New("received interrupt")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if err := s.Compact(ctx); err != reason {
		t.Errorf("got %v", err)
	}
	s.wantAll(100, 0)
	s.must(s.Compact(t.Context()))
	s.wantAll(100, 0)
	s.close()
}

// TestCompactGivesSpaceBack replaces all answers several times.
func TestCompactGivesSpaceBack(t *testing.T) {
	t.Parallel()
	s := start(t, vfs.NewMem())
	s.put(0, 3000, 0)
	s.must(s.Compact(t.Context()))
	s.reopen(func(*Options) {}) // the index removes its old tables later
	once, err := s.Size()
	s.must(err)
	for v := range 4 {
		s.put(0, 3000, v+1)
	}
	s.must(s.Compact(t.Context()))
	s.reopen(func(*Options) {})
	again, err := s.Size()
	s.must(err)
	if again > once*11/10 {
		t.Errorf("%d bytes, and after the replacements %d", once, again)
	}
	s.wantAll(3000, 4)
	s.close()
}

// TestConfirmedAnswer has the times of the first and the last of two equal answers, also after compaction.
func TestConfirmedAnswer(t *testing.T) {
	dir := t.TempDir()
	first := time.Now().UTC().Truncate(time.Microsecond).Add(-48 * time.Hour)
	request := client.Request{Kind: client.Website, Classification: client.TaxonomyV3, Input: "https://a.example"}
	body := []byte(`{"taxonomy_v3":[{"value":"A > B","confidence":0.5}]}`)
	want := Outcome{Answer: client.Answer{AnsweredAt: first, Body: body}, ConfirmedAt: first.Add(47 * time.Hour)}
	s, err := Open(Options{Dir: dir, Source: "s", MaxAge: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	b := s.NewBatch()
	b.Add(request, want)
	b.AddNote("n", []byte("kept"))
	if err := errors.Join(b.Commit(), s.Compact(t.Context())); err != nil {
		t.Fatal(err)
	}
	got, found, err := s.Lookup(request) // the answer was given again within MaxAge
	if !found || err != nil || !got.AskedAt().Equal(want.ConfirmedAt) || !got.Answer.AnsweredAt.Equal(first) || len(got.Answer.Entries) != 1 {
		t.Errorf("got %+v, %v, %v", got, found, err)
	}
	scanned := 0
	err = s.Scan(func(a Stored) error {
		scanned++
		if string(a.Outcome.Answer.Body) != string(body) || !a.Outcome.ConfirmedAt.Equal(want.ConfirmedAt) {
			t.Errorf("scanned %+v", a)
		}
		return nil
	})
	if scanned != 1 || err != nil {
		t.Errorf("%d answers, %v", scanned, err)
	}
	for source, want := range map[string]string{"s": "kept", "t": ""} {
		if text, err := s.NoteOf(source, "n"); string(text) != want || err != nil {
			t.Errorf("the note of %s is %q, %v", source, text, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
