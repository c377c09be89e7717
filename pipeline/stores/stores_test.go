package stores

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
)

const source = "https://api.example.com"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func request(input string) client.Request {
	return client.Request{Kind: client.Website, Classification: client.TaxonomyV3, Input: "https://" + input}
}

// folder is a folder of outputs.
type folder struct {
	*testing.T
	dir string
	log bytes.Buffer
}

func newFolder(t *testing.T) *folder { return &folder{T: t, dir: t.TempDir()} }

func (f *folder) options(output string) Options {
	return Options{
		Options: answers.Options{Source: source},
		Output:  filepath.Join(f.dir, output),
		Log:     slog.New(slog.NewTextHandler(&f.log, nil)),
	}
}

func (f *folder) open(o Options) *Store {
	f.Helper()
	s, err := Open(f.Context(), o)
	if err != nil {
		f.Fatal(err)
	}
	return s
}

func (f *folder) closed(s *Store) {
	f.Helper()
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
}

// put stores an answer whose value names the store.
func (f *folder) put(s *Store, input string, at time.Time) {
	f.Helper()
	b := s.NewBatch()
	body := fmt.Appendf(nil, `{"taxonomy_v3":[{"value":"%s","confidence":1}]}`, filepath.Base(s.Dir))
	b.Add(request(input), answers.Outcome{Answer: client.Answer{Body: body, AnsweredAt: at}})
	if err := b.Commit(); err != nil {
		f.Fatal(err)
	}
}

// want checks which store the answer to an input is from; "" for no answer.
func (f *folder) want(s *Store, input, from string) {
	f.Helper()
	outcome, found, err := s.Lookup(request(input))
	got := ""
	if found {
		got = outcome.Answer.Entries[0].Value
	}
	if got != from || err != nil {
		f.Errorf("the answer to %s is of %q, want %q; %v", input, got, from, err)
	}
}

// wantThere checks that the folder has these files and folders, and no other.
func (f *folder) wantThere(names ...string) {
	f.Helper()
	entries, err := os.ReadDir(f.dir)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, names) || err != nil {
		f.Errorf("there are %v, %v; want %v", got, err, names)
	}
}

// TestTakeOver opens the shared store after three stores were open at once: the newer of two
// answers is kept, and the learned rate.
func TestTakeOver(t *testing.T) {
	f := newFolder(t)
	first, second, third := f.open(f.options("a.csv")), f.open(f.options("b.csv")), f.open(f.options("c.csv"))
	f.put(first, "old", noon)
	f.put(second, "old", noon.Add(time.Hour))
	f.put(second, "new", noon.Add(time.Hour))
	f.put(third, "new", noon)
	if err := third.KeepLearned(answers.Learned{Rate: 12}); err != nil {
		t.Fatal(err)
	}
	f.closed(first)
	f.closed(second)
	f.closed(third)
	f.wantThere(Name, Name+".2", Name+".3")

	if err := os.CopyFS(filepath.Join(f.dir, "."+Name+".removed"), os.DirFS(first.Dir)); err != nil { // as a kill leaves it
		t.Fatal(err)
	}
	s := f.open(f.options("d.csv"))
	defer f.closed(s)
	f.wantThere(Name)
	f.want(s, "old", Name+".2")
	f.want(s, "new", Name+".2")
	if learned, err := s.Learned(); learned.Rate != 12 || err != nil {
		t.Errorf("the learned.Rate is %v, %v", learned.Rate, err)
	}
}

// A store that another process holds is neither read nor removed; the log names the store.
func TestHeldStoresAreLeft(t *testing.T) {
	f := newFolder(t)
	first, second := f.open(f.options("a.csv")), f.open(f.options("b.csv"))
	f.put(second, "x", noon)
	f.closed(first)
	f.wantThere(Name + ".2") // the first was empty
	first = f.open(f.options("a.csv"))
	f.want(first, "x", "")
	if !strings.Contains(f.log.String(), `msg="another run holds this store, so its answers are not seen" store=`+second.Dir) {
		t.Errorf("the log has\n%s", &f.log)
	}
	f.closed(second)
	f.closed(first)
	s := f.open(f.options("a.csv"))
	defer f.closed(s)
	f.want(s, "x", Name+".2")
}

// A run that starts while a command reads the shared store waits and uses the shared store.
func TestRunsWaitForVisitors(t *testing.T) {
	f := newFolder(t)
	s := f.open(f.options("a.csv"))
	f.put(s, "x", noon)
	f.closed(s)
	for name, visit := range map[string]func() (*Store, error){
		"to look":   func() (*Store, error) { return OpenToRead(f.options("a.csv")) },
		"to change": func() (*Store, error) { return Visit(answers.Options{Dir: s.Dir + "/"}) },
	} {
		visitor, err := visit()
		if err != nil {
			t.Fatal(err)
		}
		o := f.options("b.csv")
		told := make(telling)
		o.Log = slog.New(slog.NewTextHandler(told, nil))
		opened := make(chan *Store)
		go func() {
			s, err := Open(t.Context(), o)
			if err != nil {
				t.Error(err)
			}
			opened <- s
		}()
		if text := <-told; !strings.Contains(text, "waiting for it") {
			t.Errorf("%s: the log has %s", name, text)
		}
		f.closed(visitor)
		if s := <-opened; s != nil {
			f.want(s, "x", Name)
			f.closed(s)
		}
		f.wantThere(Name)
	}
}

// telling sends everything that is written to it.
type telling chan string

func (c telling) Write(p []byte) (int, error) {
	c <- string(p)
	return len(p), nil
}

// Only a run of OUTPUT takes over OUTPUT.answers, also if the run uses a numbered store or no
// service.
func TestOwnStoreOfVersionsBefore(t *testing.T) {
	f := newFolder(t)
	o := f.options("a.csv")
	o.Dir = filepath.Join(f.dir, "a.csv.answers")
	own := f.open(o)
	f.put(own, "x", noon)
	f.closed(own)

	other := f.open(f.options("b.csv"))
	f.want(other, "x", "")
	o = f.options("a.csv")
	s := f.open(o)
	f.want(s, "x", "a.csv.answers")
	f.wantThere(Name, Name+".2")
	f.closed(other)
	f.closed(s)

	o.MustExist = true
	s = f.open(o)
	f.want(s, "x", "a.csv.answers")
	f.wantThere(Name)
	f.closed(s)
}

// A store that is a link, or that has a file of the user, is taken over and stays.
func TestTakenOverAndKept(t *testing.T) {
	for name, change := range map[string]func(own, elsewhere string) error{
		"link": func(own, elsewhere string) error {
			return errors.Join(os.Rename(own, elsewhere), os.Symlink(elsewhere, own))
		},
		"file":        func(own, _ string) error { return os.WriteFile(filepath.Join(own, "notes.txt"), nil, 0o666) },
		"hidden file": func(own, _ string) error { return os.WriteFile(filepath.Join(own, ".notes"), nil, 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFolder(t)
			o := f.options("a.csv")
			o.Dir = filepath.Join(f.dir, "a.csv.answers")
			own := f.open(o)
			f.put(own, "x", noon)
			f.closed(own)
			if err := change(o.Dir, filepath.Join(t.TempDir(), "elsewhere")); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadDir(o.Dir)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				s := f.open(f.options("a.csv"))
				f.want(s, "x", "a.csv.answers")
				f.closed(s)
			}
			if after, err := os.ReadDir(o.Dir); err != nil || len(after) != len(before) {
				t.Errorf("%v of %v are left, %v", after, before, err)
			}
			f.wantThere("a.csv.answers", Name)
		})
	}
}

// Nothing is lost by looking at stores, by an interruption, and by a store that cannot be read.
func TestWithoutTakingOver(t *testing.T) {
	f := newFolder(t)
	first, second := f.open(f.options("a.csv")), f.open(f.options("b.csv"))
	f.put(second, "x", noon)
	f.closed(second)
	f.closed(first)
	looked, err := OpenToRead(f.options("a.csv"))
	if err != nil {
		t.Fatal(err)
	}
	f.want(looked, "x", Name+".2")
	f.closed(looked)

	reason := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, err := Open(ctx, f.options("a.csv")); !errors.Is(err, reason) {
		t.Errorf("interrupted: %v", err)
	}
	f.wantThere(Name + ".2")

	if err := os.Remove(filepath.Join(f.dir, Name+".2", "00000001.log")); err != nil {
		t.Fatal(err)
	}
	s := f.open(f.options("a.csv"))
	f.want(s, "x", "")
	f.put(s, "y", noon)
	f.closed(s)
	f.wantThere(Name, Name+".2")
	if !strings.Contains(f.log.String(), `level=WARN msg="the answers of this store are not taken over" store=`+second.Dir) {
		t.Errorf("the log has\n%s", &f.log)
	}
}

// A store that the user names is the only one, and is kept if it is empty.
func TestNamedStore(t *testing.T) {
	f := newFolder(t)
	o := f.options("a.csv")
	o.Dir = filepath.Join(f.dir, "mine")
	s := f.open(o)
	if _, err := Open(t.Context(), o); !isLocked(err) {
		t.Errorf("the second got %v", err)
	}
	f.closed(s)
	f.wantThere("mine")
	missing := f.options("a.csv")
	missing.MustExist = true
	for _, open := range []func() (*Store, error){
		func() (*Store, error) { return Open(t.Context(), missing) },
		func() (*Store, error) { return OpenToRead(missing) },
	} {
		_, err := open()
		if none, ok := errors.AsType[*answers.MissingError](err); !ok || none.Dir != filepath.Join(f.dir, Name) {
			t.Errorf("got %v", err)
		}
	}
	f.wantThere("mine")
}

// bulkcat.answers is not the own store of an output named bulkcat.
func TestFolderNamedAsAnOutput(t *testing.T) {
	f := newFolder(t)
	s := f.open(f.options("bulkcat"))
	f.put(s, "x", noon)
	f.closed(s)
	s = f.open(f.options("bulkcat"))
	defer f.closed(s)
	f.want(s, "x", Name)
	want := []string{filepath.Join(f.dir, Name), ""}
	if got := f.options("bulkcat").Folders(); !slices.Equal(got, want) {
		t.Errorf("the folders are %q, want %q", got, want)
	}
}
