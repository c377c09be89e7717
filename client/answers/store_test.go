package answers

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"golang.org/x/sync/errgroup"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
)

const source = "https://api.example.com"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func request(i int) client.Request {
	return client.Request{Kind: client.Website, Classification: client.TaxonomyV3, Input: fmt.Sprintf("https://site%d.example.com", i)}
}

func answer(value string, at time.Time) Outcome {
	return Outcome{Answer: client.Answer{Body: fmt.Appendf(nil, `{"taxonomy_v3":[{"value":%q,"confidence":0.5}]}`, value), AnsweredAt: at}}
}

func rejection(at time.Time) Outcome {
	return Outcome{Answer: client.Answer{AnsweredAt: at}, Rejection: &client.Error{Class: client.Rejected, Status: 200, Detail: "no such site"}}
}

// place is a folder with a store.
type place struct {
	*testing.T
	path string
}

func newPlace(t *testing.T) place { return place{t, filepath.Join(t.TempDir(), "state", "answers.db")} }

func (p place) must(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// addOther adds an outcome of another source.
func (p place) addOther(to *Store, other Stored) {
	p.Helper()
	_, err := to.Import(p.Context(), func(visit func(Stored) error) error { return visit(other) })
	p.must(err)
}

func (p place) options() Options { return Options{Path: p.path, Source: source} }

func (p place) open(change ...func(*Options)) *Store {
	p.Helper()
	o := p.options()
	for _, c := range change {
		c(&o)
	}
	s, err := Open(o)
	p.must(err)
	p.Cleanup(func() {
		select {
		case <-s.closed:
		default:
			p.must(s.Close())
		}
	})
	return s
}

// put stores answers to requests from one number to before another.
func (p place) put(s *Store, from, to int) {
	p.Helper()
	b := s.NewBatch()
	for i := from; i < to; i++ {
		b.Add(request(i), answer(fmt.Sprint("value ", i), noon.Add(time.Duration(i)*time.Second)))
	}
	p.must(b.Commit())
}

// wantValue checks the stored answer to a request; "" for none.
func (p place) wantValue(s *Store, i int, want string) {
	p.Helper()
	o, found, err := s.Lookup(request(i))
	p.must(err)
	got := ""
	if found && o.Rejection == nil {
		got = o.Answer.Entries[0].Value
	}
	if got != want {
		p.Errorf("request %d has %q, want %q", i, got, want)
	}
}

func exclusive(o *Options) { o.Exclusive = true }

// TestConformance reads back what was committed, in a store that processes share and in one that a process has alone.
func TestConformance(t *testing.T) {
	for name, mode := range map[string]func(*Options){"shared": func(*Options) {}, "exclusive": exclusive} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			s := p.open(mode)
			b := s.NewBatch()
			b.Add(request(1), answer("first", noon))
			b.Add(request(2), rejection(noon))
			confirmed := answer("again", noon)
			confirmed.ConfirmedAt = noon.Add(time.Hour)
			b.Add(request(3), confirmed)
			b.AddNote("note", []byte{0, 255})
			p.must(b.Commit())
			p.addOther(s, Stored{Source: "another", Request: request(1), Outcome: answer("other", noon)})
			for _, name := range Files(p.path)[:2] {
				if info, err := os.Stat(name); err == nil && runtime.GOOS != "windows" && info.Mode() != 0o600 {
					t.Errorf("%s has the mode %v", name, info.Mode())
				}
			}
			p.must(s.KeepLearned(limits.Learned{Rate: 12}))
			b.Add(request(1), answer("second", noon.Add(time.Minute)))
			p.must(b.Commit())
			for range 2 {
				queries := []Query{{Request: request(1), Body: true}, {Request: request(2)}, {Request: request(3)}, {Request: request(4)}}
				p.must(s.LookupAll(queries))
				if q := queries[0]; !q.Found || q.Outcome.Answer.Entries[0].Value != "second" || !q.Outcome.AskedAt().Equal(noon.Add(time.Minute)) || !strings.Contains(string(q.Outcome.Answer.Body), "second") {
					t.Errorf("the first is %+v", q)
				}
				if r := queries[1].Outcome.Rejection; r == nil || r.Status != 200 || r.Detail != "no such site" || r.Class != client.Rejected {
					t.Errorf("the rejection is %+v", queries[1])
				}
				if o := queries[2].Outcome; !o.AskedAt().Equal(noon.Add(time.Hour)) || !o.Answer.AnsweredAt.Equal(noon) {
					t.Errorf("the confirmed is %+v", o)
				}
				if q := queries[3]; q.Found || q.Stored {
					t.Errorf("the missing is %+v", q)
				}
				note, err := s.Note("note")
				p.must(err)
				learned, err := s.Learned()
				p.must(err)
				if string(note) != "\x00\xff" || learned.Rate != 12 {
					t.Errorf("the notes are %q, %v", note, learned)
				}
				for service, want := range map[string]bool{source: true, "another": true, "none": false} {
					if has, err := s.Has(service); has != want || err != nil {
						t.Errorf("has %s: %v, %v", service, has, err)
					}
				}
				var inputs []string
				p.must(s.Scan(func(a Stored) error {
					inputs = append(inputs, a.Source+" "+a.Request.Input)
					if a.Source == "another" && a.Outcome.Answer.Entries[0].Value != "other" {
						t.Errorf("the other's is %+v", a)
					}
					return nil
				}))
				if len(inputs) != 4 || inputs[3] != "another https://site1.example.com" {
					t.Errorf("the scan has %q", inputs)
				}
				p.must(s.Close())
				s = p.open(mode, func(o *Options) { o.MustExist = true })
			}
			p.must(s.Close())
			if left, err := os.ReadDir(filepath.Dir(p.path)); len(left) != 1 || err != nil {
				t.Errorf("there are %v, %v", left, err)
			}
		})
	}
}

// An answer that is too old, and a rejection that is to be asked again, do not count; an answer that comes meanwhile does.
func TestCounts(t *testing.T) {
	p := newPlace(t)
	s := p.open()
	b := s.NewBatch()
	b.Add(request(1), answer("old", time.Now().Add(-time.Hour)))
	b.Add(request(2), rejection(time.Now().Add(-time.Second)))
	p.must(b.Commit())
	young := p.open(func(o *Options) { o.MaxAge, o.RetryRejected = time.Minute, true })
	queries := []Query{{Request: request(1)}, {Request: request(2)}}
	p.must(young.LookupAll(queries))
	for _, q := range queries {
		if q.Found || !q.Stored {
			t.Errorf("%+v", q)
		}
	}
	b.Add(request(2), rejection(time.Now()))
	p.must(b.Commit())
	if p.must(young.LookupAll(queries)); !queries[1].Found {
		t.Error("the new rejection does not count")
	}
}

// Nothing is made or changed where there is no store.
func TestRefusals(t *testing.T) {
	p := newPlace(t)
	dir := filepath.Dir(p.path)
	for name, change := range map[string]func(*Options){
		"must exist": func(o *Options) { o.MustExist = true },
		"read only":  func(o *Options) { o.ReadOnly = true },
	} {
		o := p.options()
		change(&o)
		_, err := Open(o)
		if missing, ok := errors.AsType[*Error](err); !ok || missing.Kind != Missing || missing.Path != p.path {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the folder was made")
	}
	p.must(os.MkdirAll(filepath.Join(dir, "folder"), 0o700))
	p.must(os.WriteFile(filepath.Join(dir, "text"), []byte("a,b\n1,2\n"), 0o600))
	p.must(os.WriteFile(filepath.Join(dir, "long"), []byte(strings.Repeat("a,b\n", 100)), 0o600))
	other, err := sqlite3.Open(filepath.Join(dir, "other.db"))
	p.must(err)
	p.must(errors.Join(other.Exec("CREATE TABLE t (x)"), other.Close()))
	for _, name := range []string{"folder", "text", "long", "other.db"} {
		before, _ := os.ReadFile(filepath.Join(dir, name))
		_, err := Open(Options{Path: filepath.Join(dir, name), Source: source})
		if !errors.Is(err, Foreign) || IsStore(filepath.Join(dir, name)) {
			t.Errorf("%s: %v", name, err)
		}
		if after, _ := os.ReadFile(filepath.Join(dir, name)); string(after) != string(before) {
			t.Errorf("%s has changed", name)
		}
	}
	later := place{t, filepath.Join(dir, "later.db")}
	s := later.open()
	p.must(errors.Join(s.main.Exec("PRAGMA user_version = 2"), s.Close()))
	_, err = Open(later.options())
	if !errors.Is(err, Newer) || IsStore(later.path) || Check(later.path) == nil {
		t.Errorf("a later version: %v", err)
	}
	read := p.open()
	p.put(read, 0, 1)
	s = p.open(func(o *Options) { o.ReadOnly = true })
	p.wantValue(s, 0, "value 0")
	b := s.NewBatch()
	b.Add(request(1), answer("x", noon))
	if err := b.Commit(); err == nil {
		t.Error("a store that is only read was written")
	}
}

// A store may have any name, also one that is special in an address.
func TestNames(t *testing.T) {
	names := []string{"a b", "a+b", "a?b=c&d", "a#b", "a%20b", "%", "ü", "-x"}
	if runtime.GOOS == "windows" {
		names = slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "?") })
	}
	for _, name := range names {
		p := place{t, filepath.Join(t.TempDir(), name, name)}
		s := p.open()
		p.put(s, 0, 3)
		p.must(s.Copy(t.Context(), p.path+" copy"))
		p.must(s.Close())
		p.wantValue(p.open(), 2, "value 2")
		if left, err := os.ReadDir(filepath.Dir(p.path)); err != nil || len(left) < 2 || !strings.HasPrefix(left[0].Name(), name) {
			t.Errorf("%s: there are %v, %v", name, left, err)
		}
	}
}

// A store that processes would share on a file system of the network is refused, with two ways out.
func TestNetwork(t *testing.T) {
	p := newPlace(t)
	old := networkOf
	networkOf = func(string) string { return "nfs" }
	defer func() { networkOf = old }()
	_, err := Open(p.options())
	if !errors.Is(err, Network) || !strings.Contains(err.Error(), "(nfs)") || !strings.Contains(err.Error(), "local folder") || !strings.Contains(err.Error(), "--upstream") {
		t.Errorf("got %v", err)
	}
	s := p.open(exclusive)
	p.put(s, 0, 1)
	if names, _ := filepath.Glob(p.path + "-*"); len(names) > 0 && names[0] != p.path+"-journal" {
		t.Errorf("there are %q", names)
	}
	if got := old("/proc/none"); got != "" {
		t.Errorf("/proc is %q", got)
	}
}

// Deleted answers are in no file of the store.
func TestDelete(t *testing.T) {
	p := newPlace(t)
	s, reader := p.open(), p.open()
	p.put(s, 0, 3000)
	p.wantValue(reader, 5, "value 5")
	n, err := s.Delete(t.Context(), func(service string, r client.Request) bool {
		return service == source && (r.Input == request(5).Input || r.Input == request(2999).Input)
	})
	if n != 2 || err != nil {
		t.Fatalf("deleted %d, %v", n, err)
	}
	for _, i := range []int{5, 2999} {
		p.wantValue(s, i, "")
		p.wantValue(reader, i, "")
	}
	p.wantValue(s, 6, "value 6")
	for _, name := range Files(p.path) {
		content, _ := os.ReadFile(name)
		for _, word := range []string{"site5.example.com", "value 2999"} {
			if strings.Contains(string(content), word) {
				t.Errorf("%s has %q", name, word)
			}
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("interrupted")
	cancel(reason)
	if _, err := s.Delete(ctx, func(string, client.Request) bool { return true }); !errors.Is(err, reason) {
		t.Errorf("interrupted: %v", err)
	}
	if err := s.Compact(ctx); !errors.Is(err, reason) {
		t.Errorf("interrupted: %v", err)
	}
	p.wantValue(s, 6, "value 6")
}

// A journal that cannot be emptied, because another process reads, keeps no process from writing, and waits no longer than its
// context.
func TestEmptyWhileRead(t *testing.T) {
	p := newPlace(t)
	s, other, third := p.open(), p.open(), p.open()
	p.put(s, 0, 10)
	reads, end := make(chan struct{}), make(chan struct{})
	var calls errgroup.Group
	calls.Go(func() error {
		return other.read(func(c *conn) error {
			return c.transaction("BEGIN", func() error {
				_, err := c.any("SELECT 1 FROM answers")
				close(reads)
				<-end
				return err
			})
		})
	})
	<-reads
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("interrupted")
	calls.Go(func() error {
		if n, err := s.Delete(ctx, func(_ string, r client.Request) bool { return r == request(5) }); n != 1 || !errors.Is(err, reason) {
			return fmt.Errorf("deleted %d, %w", n, err)
		}
		return nil
	})
	for found := true; found; {
		_, found, _ = third.Lookup(request(5))
	}
	start := time.Now()
	claim(t, third, 11)
	p.put(third, 11, 12)
	if waited := time.Since(start); waited > 30*time.Second {
		t.Errorf("another process waited for %v", waited)
	}
	cancel(reason)
	for len(s.using) > 0 {
		time.Sleep(time.Millisecond)
	}
	close(end)
	p.must(calls.Wait())
	p.wantValue(s, 6, "value 6")
}

// An outcome replaces a stored outcome, but a rejection replaces no answer that another process was given later.
func TestReplace(t *testing.T) {
	earlier, later := noon, noon.Add(time.Minute)
	for _, tt := range []struct {
		name          string
		stored, added Outcome
		want          string
	}{
		{"a later answer", answer("first", earlier), answer("second", later), "second"},
		{"an answer of a clock that was set back", answer("first", later), answer("second", earlier), "second"},
		{"a later rejection", answer("first", earlier), rejection(later), ""},
		{"an earlier rejection", answer("first", later), rejection(earlier), "first"},
		{"an answer after a rejection", rejection(earlier), answer("second", later), "second"},
		{"an earlier answer", rejection(later), answer("second", earlier), "second"},
		{"an earlier rejection of a rejection", rejection(later), rejection(earlier), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPlace(t)
			first, second := p.open(), p.open()
			b := first.NewBatch()
			b.Add(request(1), tt.stored)
			p.must(b.Commit())
			b = second.NewBatch()
			b.Add(request(1), tt.added)
			p.must(b.Commit())
			p.wantValue(first, 1, tt.want)
		})
	}
}

// A store that was closed refuses all calls.
func TestClosed(t *testing.T) {
	p := newPlace(t)
	s := p.open()
	p.put(s, 0, 1)
	claim(t, s, 5)
	p.must(errors.Join(s.Close(), s.Close()))
	b := s.NewBatch()
	b.Add(request(1), answer("x", noon))
	queries := []Query{{Request: request(0)}}
	for name, err := range map[string]error{"commit": b.Commit(), "lookup": s.LookupAll(queries), "claim": s.Claim(queries)} {
		if !errors.Is(err, errClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCompact(t *testing.T) {
	p := newPlace(t)
	s := p.open()
	p.put(s, 0, 5000)
	_, err := s.Delete(t.Context(), func(_ string, r client.Request) bool { return r.Input != request(7).Input })
	p.must(err)
	before := s.Size()
	p.must(s.Compact(t.Context()))
	after := s.Size()
	if after*10 > before {
		t.Errorf("%d bytes are %d", before, after)
	}
	p.put(s, 8, 9)
	p.wantValue(s, 7, "value 7")
	p.must(s.Close())
	p.wantValue(p.open(), 8, "value 8")
}

// A store may be larger than the memory that the engine has.
func TestCompactLarge(t *testing.T) {
	p := newPlace(t)
	s := p.open()
	for i := range 70 {
		b := s.NewBatch()
		b.Add(request(i), answer(strings.Repeat("x", 4<<20), noon))
		p.must(b.Commit())
	}
	p.must(s.Compact(t.Context()))
}

// Of two answers to one request an import keeps the newer.
func TestImport(t *testing.T) {
	p, q := newPlace(t), newPlace(t)
	to, from := p.open(), q.open()
	p.put(to, 0, 10)
	q.put(from, 5, 2500)
	b := from.NewBatch()
	b.Add(request(0), answer("newer", noon.Add(time.Hour)))
	b.Add(request(1), answer("older", noon.Add(-time.Hour)))
	p.must(b.Commit())
	q.addOther(from, Stored{Source: "another", Request: request(1), Outcome: rejection(noon)})
	n, err := to.Import(t.Context(), from.Scan)
	if want := (Imported{Added: 2492, Kept: 6}); n != want || err != nil {
		t.Errorf("imported %+v, %v", n, err)
	}
	p.wantValue(to, 0, "newer")
	p.wantValue(to, 1, "value 1")
	p.wantValue(to, 2499, "value 2499")
	stats, err := to.Stats(time.Now())
	p.must(err)
	groups := stats.Groups
	if len(groups) != 2 || groups[1].Source != source || groups[1].Answers != 2500 || groups[0].Rejections != 1 || !groups[1].Oldest.Equal(noon.Add(time.Second)) {
		t.Errorf("the groups are %+v", groups)
	}
}

// A copy is the store of one moment, while others commit.
func TestCopy(t *testing.T) {
	p := newPlace(t)
	s := p.open()
	p.put(s, 0, 20000)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 20000; i < 21000; i += 10 {
			p.put(s, i, i+10)
		}
	}()
	to := filepath.Join(t.TempDir(), "copy.db")
	p.must(s.Copy(t.Context(), to))
	<-done
	if err := s.Copy(t.Context(), to); !errors.Is(err, fs.ErrExist) {
		t.Errorf("again: %v", err)
	}
	if info, err := os.Stat(to); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the copy is %v, %v", info.Mode(), err)
	}
	c := place{t, to}
	copied := c.open()
	inputs := 0
	p.must(copied.Scan(func(Stored) error { inputs++; return nil }))
	if inputs < 20000 || inputs%10 != 0 {
		t.Errorf("the copy has %d", inputs)
	}
	c.put(copied, 30000, 30001)
	c.wantValue(copied, inputs-1, fmt.Sprint("value ", inputs-1))
	p.must(copied.Close())
	if left, err := os.ReadDir(filepath.Dir(to)); len(left) != 1 || err != nil {
		t.Errorf("there are %v, %v", left, err)
	}
}

// A copy and a recovered store are whole or not there, whatever a killed process has left.
func TestNewStores(t *testing.T) {
	for name, write := range map[string]func(ctx context.Context, s *Store, to string) error{
		"copy":    func(ctx context.Context, s *Store, to string) error { return s.Copy(ctx, to) },
		"recover": func(ctx context.Context, s *Store, to string) error { _, err := Recover(ctx, s.Path(), to); return err },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			s := p.open()
			p.put(s, 0, 3000)
			to := place{t, filepath.Join(t.TempDir(), "new.db")}
			ctx, cancel := context.WithCancelCause(t.Context())
			reason := errors.New("interrupted")
			cancel(reason)
			if err := write(ctx, s, to.path); !errors.Is(err, reason) {
				t.Errorf("interrupted: %v", err)
			}
			if left, err := os.ReadDir(filepath.Dir(to.path)); len(left) > 0 || err != nil {
				t.Errorf("there are %v, %v", left, err)
			}
			p.must(os.WriteFile(to.path+".part", []byte("half a store"), 0o600))
			p.must(write(t.Context(), s, to.path))
			if left, err := os.ReadDir(filepath.Dir(to.path)); len(left) != 1 || err != nil {
				t.Errorf("there are %v, %v", left, err)
			}
			to.wantValue(to.open(), 2999, "value 2999")
			if err := write(t.Context(), s, to.path); !errors.Is(err, fs.ErrExist) {
				t.Errorf("again: %v", err)
			}
		})
	}
}

// The tables and the view are read by other programs.
func TestView(t *testing.T) {
	p := newPlace(t)
	s := p.open()
	b := s.NewBatch()
	b.Add(request(1), Outcome{Answer: client.Answer{AnsweredAt: noon, Body: []byte(`{"taxonomy_v3":[{"value":"A > B","confidence":0.75},{"value":"C","confidence":0.25}]}`)}})
	b.Add(request(2), rejection(noon))
	p.must(b.Commit())
	var rows []string
	p.must(s.read(func(c *conn) error {
		return c.query("SELECT input, rank, value, confidence, answered_at FROM categories ORDER BY input, rank", func(row *sqlite3.Stmt) error {
			rows = append(rows, fmt.Sprint(row.ColumnText(0), " ", row.ColumnInt(1), " ", row.ColumnText(2), " ", row.ColumnFloat(3), " ", row.ColumnText(4)))
			return nil
		})
	}))
	want := []string{
		"https://site1.example.com 1 A > B 0.75 2026-03-01T12:00:00.000Z",
		"https://site1.example.com 2 C 0.25 2026-03-01T12:00:00.000Z",
	}
	if !slices.Equal(rows, want) {
		t.Errorf("the view has %q", rows)
	}
}
