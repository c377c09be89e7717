package answers

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/bulkcat/bulkcat/client"
)

var (
	request = client.Request{Kind: client.Website, Input: "https://example.com", Classification: client.TaxonomyV3}
	noon    = time.Date(2026, 3, 1, 12, 0, 0, 123456000, time.UTC)
)

func sound(at time.Time) Outcome {
	return Outcome{Answer: client.Answer{
		Entries:    []client.Entry{{Value: "A > B", Confidence: 0.5}},
		Body:       []byte(`{"taxonomy_v3":[{"value":"A > B","confidence":0.5}]}`),
		AnsweredAt: at,
	}}
}

func open(t *testing.T, options Options) *Store {
	t.Helper()
	if options.Dir == "" {
		options.Dir = "store"
	}
	if options.Source == "" {
		options.Source = "https://api.example.com"
	}
	s, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func commit(t *testing.T, s *Store, r client.Request, o Outcome) {
	t.Helper()
	b := s.NewBatch()
	queries := []Query{{Request: r}}
	if err := s.LookupAll(queries); err != nil {
		t.Fatal(err)
	}
	if err := b.Add(r, o, queries[0].Stored); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
}

func closed(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// killed closes a store as a kill would: nothing moves.
func killed(t *testing.T, s *Store) {
	t.Helper()
	s.writing = false
	closed(t, s)
}

func TestAnswersOutlastTheStore(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, Options{FS: files})
	commit(t, s, request, sound(noon))
	closed(t, s)

	s = open(t, Options{FS: files})
	defer closed(t, s)
	got, found, err := s.Lookup(request)
	want := sound(noon)
	want.Answer.Body = nil // the entries are what a run needs
	if err != nil || !found || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %t, %v; want %+v", got, found, err, want)
	}
	for name, other := range map[string]client.Request{
		"input":          {Kind: request.Kind, Input: "https://example.org", Classification: request.Classification},
		"classification": {Kind: request.Kind, Input: request.Input, Classification: client.NAICS},
		"kind":           {Kind: client.Product, Input: request.Input, Classification: request.Classification},
	} {
		if _, found, err := s.Lookup(other); found || err != nil {
			t.Errorf("another %s: found %t, %v", name, found, err)
		}
	}
}

func TestAnotherSourceHasItsOwnAnswers(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, Options{FS: files})
	commit(t, s, request, sound(noon))
	closed(t, s)
	s = open(t, Options{FS: files, Source: "https://other.example.com"})
	defer closed(t, s)
	if _, found, err := s.Lookup(request); found || err != nil {
		t.Errorf("found %t, %v", found, err)
	}
}

func TestCommittedAnswersSurvivePowerLoss(t *testing.T) {
	files := vfs.NewCrashableMem()
	s := open(t, Options{FS: files})
	commit(t, s, request, sound(noon))
	lost := files.CrashClone(vfs.CrashCloneCfg{}) // nothing that was not synced
	closed(t, s)
	s = open(t, Options{FS: lost})
	defer closed(t, s)
	if _, found, err := s.Lookup(request); !found || err != nil {
		t.Errorf("found %t, %v", found, err)
	}
}

func TestRejections(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, Options{FS: files})
	rejection := &client.Error{Class: client.Rejected, Status: 404, Detail: "no such site"}
	commit(t, s, request, Outcome{Rejection: rejection, Answer: client.Answer{AnsweredAt: noon}})
	got, found, err := s.Lookup(request)
	if err != nil || !found || !reflect.DeepEqual(got.Rejection, rejection) || !got.Answer.AnsweredAt.Equal(noon) {
		t.Errorf("got %+v, %t, %v", got, found, err)
	}
	closed(t, s)
	s = open(t, Options{FS: files, RetryRejected: true})
	defer closed(t, s)
	if _, found, err := s.Lookup(request); found || err != nil {
		t.Errorf("to be asked again, but found %t, %v", found, err)
	}
	commit(t, s, request, Outcome{Rejection: rejection, Answer: client.Answer{AnsweredAt: time.Now().UTC().Truncate(time.Microsecond)}})
	if _, found, err := s.Lookup(request); !found || err != nil {
		t.Errorf("asked again already, but found %t, %v", found, err)
	}
}

func TestMaxAge(t *testing.T) {
	for _, tt := range []struct {
		age, max time.Duration
		found    bool
	}{
		{time.Hour, 0, true}, {time.Hour, 2 * time.Hour, true}, {3 * time.Hour, 2 * time.Hour, false},
		{0, time.Nanosecond, true}, // older than that now, but not when the store was opened
	} {
		s := open(t, Options{FS: vfs.NewMem(), MaxAge: tt.max})
		commit(t, s, request, sound(time.Now().Add(-tt.age)))
		if _, found, err := s.Lookup(request); found != tt.found || err != nil {
			t.Errorf("%v old, at most %v: found %t, %v", tt.age, tt.max, found, err)
		}
		closed(t, s)
	}
}

func TestDamagedAnswersCountAsNone(t *testing.T) {
	s := open(t, Options{FS: vfs.NewMem()})
	defer closed(t, s)
	commit(t, s, request, sound(noon))
	key := appendKey(nil, s.options.Source, request)
	good := appendPosition(nil, firstPosition)
	for i := range good {
		for _, bad := range [][]byte{flip(good, i), good[:i]} {
			set(t, s, key, bad)
			if _, found, err := s.Lookup(request); found || err != nil {
				t.Fatalf("byte %d: found %t, %v", i, found, err)
			}
		}
	}
	set(t, s, key, good)
	if _, found, err := s.Lookup(request); !found || err != nil {
		t.Fatalf("found %t, %v", found, err)
	}
	other := request
	other.Input += "/moved"
	set(t, s, appendKey(nil, s.options.Source, other), good)
	if _, found, err := s.Lookup(other); found || err != nil {
		t.Errorf("under another key: found %t, %v", found, err)
	}
}

func set(t *testing.T, s *Store, key, value []byte) {
	t.Helper()
	if err := errors.Join(s.move(), s.db.Set(key, value, pebble.NoSync)); err != nil {
		t.Fatal(err)
	}
	s.ahead.drop(len(s.ahead.chunks)) // as if it had been there for long
	s.hints = hints{}
}

func flip(b []byte, i int) []byte {
	b = append([]byte(nil), b...)
	b[i] ^= 0x10
	return b
}

func TestSecondProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir})
	defer closed(t, s)
	_, err := Open(Options{Dir: dir})
	var locked *LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("got %v", err)
	}
}

func TestAnotherFormatIsRefused(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, Options{FS: files})
	if err := s.db.Set(formatKey, []byte("5"), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	_, err := Open(Options{Dir: "store", FS: files})
	var version *VersionError
	if !errors.As(err, &version) || version.Version != "5" {
		t.Errorf("got %v", err)
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

func FuzzParseValue(f *testing.F) {
	key := appendKey(nil, "https://api.example.com", request)
	f.Add(key, appendValue(nil, key, sound(noon)))
	f.Add(key, appendValue(nil, key, Outcome{Rejection: &client.Error{Status: 410}}))
	f.Fuzz(func(t *testing.T, key, value []byte) {
		o, err := parseValue(key, value, client.TaxonomyV3)
		if err == nil && o.Rejection == nil && o.Answer.Entries == nil {
			t.Fatal("neither an answer nor a rejection nor an error")
		}
	})
}

// BenchmarkLookup looks up stored answers whose keys have no order: as they arrived, as
// most inputs that come again have them, and far from it.
func BenchmarkLookup(b *testing.B) {
	s, err := Open(Options{Dir: b.TempDir(), Source: "https://api.example.com"})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	const n = 1_000_000
	fillTypical(b, s, n)
	requests := make([]client.Request, n)
	for i := range requests {
		requests[i] = typical(i)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, order := range []struct {
		name string
		next func(i int) int
	}{
		{"as they arrived", func(i int) int { return i % n }},
		{"half come again", func(i int) int {
			if i%2 == 0 {
				return i / 2 % n
			}
			return random.IntN(min(i/2+1, n))
		}},
		{"scattered", func(i int) int { return i * 7919 * 31 % n }},
	} {
		for _, size := range []int{1, 256} {
			b.Run(fmt.Sprintf("%s/%d", order.name, size), func(b *testing.B) {
				b.ReportAllocs()
				queries := make([]Query, size)
				at := 0
				for b.Loop() {
					for i := range queries {
						queries[i] = Query{Request: requests[order.next(at)]}
						at++
					}
					if err := s.LookupAll(queries); err != nil || !queries[0].Found {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.N)*float64(size)/b.Elapsed().Seconds(), "lookups/s")
			})
		}
	}
}

func typical(i int) client.Request {
	return client.Request{Kind: client.Website, Input: fmt.Sprintf("https://site-%07d.example/", i*104729%1_000_000), Classification: client.TaxonomyV3}
}

// fillTypical stores n answers of three entries.
func fillTypical(b *testing.B, s *Store, n int) {
	b.Helper()
	batch := s.NewBatch()
	for i := range n {
		body := fmt.Appendf(nil, `{"taxonomy_v3":[{"value":"Category %d > Subcategory %d > Something Specific %d","confidence":0.%04d},{"value":"Category %d > Other %d","confidence":0.5},{"value":"Category %d","confidence":0.25}]}`,
			i%30, i%200, i%700, i%9973, i%31, i%211, i%29)
		if err := batch.Add(typical(i), Outcome{Answer: client.Answer{Body: body, AnsweredAt: noon}}, false); err != nil {
			b.Fatal(err)
		}
		if i%1024 == 1023 || i == n-1 {
			if err := batch.Commit(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func BenchmarkCommit(b *testing.B) {
	for _, group := range []int{1, 32, 1024} {
		b.Run(fmt.Sprint(group), func(b *testing.B) {
			s, err := Open(Options{Dir: b.TempDir(), Source: "https://api.example.com"})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			batch := s.NewBatch()
			n := 0
			for b.Loop() {
				for range group {
					if err := addNumbered(batch, n); err != nil {
						b.Fatal(err)
					}
					n++
				}
				if err := batch.Commit(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "answers/s")
		})
	}
}

func TestLearnedRate(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, Options{FS: files})
	if got, err := s.LearnedRate(); got != 0 || err != nil {
		t.Errorf("a new store knows %v, %v", got, err)
	}
	if err := s.KeepLearnedRate(287.5); err != nil {
		t.Fatal(err)
	}
	closed(t, s)
	s = open(t, Options{FS: files})
	if got, err := s.LearnedRate(); got != 287.5 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	closed(t, s)
	s = open(t, Options{FS: files, Source: "https://other.example.com"})
	if got, err := s.LearnedRate(); got != 0 || err != nil {
		t.Errorf("of another service: got %v, %v", got, err)
	}
	closed(t, s)
	s = open(t, Options{FS: files})
	defer closed(t, s)
	if err := s.db.Set([]byte(ratePrefix+s.options.Source), []byte("fast"), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if got, err := s.LearnedRate(); got != 0 || err != nil {
		t.Errorf("of nonsense: got %v, %v", got, err)
	}
}
