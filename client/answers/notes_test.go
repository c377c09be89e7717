package answers

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// wantNotes compares the notes whose names begin with "used " with a map as fmt prints it.
func wantNotes(t *testing.T, from interface {
	Notes(string) (map[string][]byte, error)
}, want string) {
	t.Helper()
	notes, err := from.Notes("used ")
	text := make(map[string]string)
	for name, body := range notes {
		text[name] = string(body)
	}
	if got := fmt.Sprint(text); err != nil || got != "map["+want+"]" {
		t.Errorf("notes %s, want %s; error %v", got, want, err)
	}
}

func puts(bodies ...string) map[string][]byte {
	notes := make(map[string][]byte)
	for i, body := range bodies {
		notes[fmt.Sprint("used ", i)] = []byte(body)
	}
	return notes
}

// Notes of the store itself are those of all sources, and no notes of a source. A copy has them, and so has a recovered store.
func TestNotesOfTheStore(t *testing.T) {
	p := newPlace(t)
	s, other := p.open(), p.open(func(o *Options) { o.Source = "https://other.example.com" })
	wantNotes(t, s, "")
	b := s.NewBatch()
	b.AddNotes(puts("a", "b"))
	b.AddNote("used 0", []byte("of the source"))
	b.AddNotes(map[string][]byte{"other": []byte("x"), "Used 7": []byte("x")})
	b.Add(request(1), answer("value", noon))
	p.must(b.Commit())
	wantNotes(t, other, "used 0:a used 1:b")
	p.must(other.PutNotes(puts("c")))
	wantNotes(t, s, "used 0:c used 1:b")
	if body, err := s.Note("used 0"); err != nil || string(body) != "of the source" {
		t.Errorf("the note of the source is %q, %v", body, err)
	}
	copied, recovered := place{t, p.path + ".copy"}, place{t, p.path + ".recovered"}
	p.must(s.Copy(t.Context(), copied.path))
	p.must(errors.Join(s.Close(), other.Close()))
	if n, err := Recover(t.Context(), p.path, recovered.path); err != nil || n.NotesLost {
		t.Errorf("recovered %+v, %v", n, err)
	}
	for _, c := range []place{copied, recovered} {
		wantNotes(t, c.open(), "used 0:c used 1:b")
	}
}

// Notes that cannot be read are told of, and never taken for notes that are not there.
func TestDamagedNotes(t *testing.T) {
	p := newPlace(t)
	n, err := OpenNotes(Options{Path: p.path})
	p.must(err)
	p.must(n.PutNotes(puts("body of a note")))
	p.must(n.Close())
	content, err := os.ReadFile(p.path)
	p.must(err)
	at := bytes.Index(content, []byte("body of a note"))
	content[at] ^= 1
	p.must(os.WriteFile(p.path, content, 0o600))
	n, err = OpenNotes(Options{Path: p.path})
	p.must(err)
	_, err = n.Notes("used ")
	if !errors.Is(err, Damaged) {
		t.Errorf("error %v", err)
	}
	p.must(n.Close())
	if n, err := Recover(t.Context(), p.path, p.path+".recovered"); err != nil || !n.NotesLost {
		t.Errorf("recovered %+v, %v", n, err)
	}
}

// One process at a time changes notes of the store itself: that which has locked them, or that which has the file for itself.
func TestOneProcessHasTheNotes(t *testing.T) {
	p := newPlace(t)
	refused := func(what string, err error) {
		t.Helper()
		if locked, ok := errors.AsType[*Error](err); !ok || locked.Kind != Locked || locked.Path != p.path {
			t.Errorf("%s: error %v", what, err)
		}
	}
	first, second := p.open(), p.open()
	p.must(first.LockNotes())
	refused("a second store", second.LockNotes())
	_, err := OpenNotes(Options{Path: p.path})
	refused("a file", err)
	p.must(second.PutNotes(puts("a"))) // others go on
	p.must(first.Close())
	p.must(second.LockNotes())
	p.must(second.Close())
	file, err := OpenNotes(Options{Path: p.path})
	p.must(err)
	_, err = OpenNotes(Options{Path: p.path})
	refused("a second file", err)
	wantNotes(t, file, "used 0:a")
	p.must(file.Close())
	file, err = OpenNotes(Options{Path: p.path})
	p.must(err)
	p.must(file.Close())
	if _, err := file.Notes("used "); err == nil {
		t.Error("a closed file has notes")
	}
}

// A disk that refuses at any operation loses no note that was put. Once it works again, so does the file, and no other
// process has had it meanwhile.
func TestNotesOnAFaultyDisk(t *testing.T) {
	for name, refusal := range map[string]error{"full": syscall.ENOSPC, "broken": syscall.EIO} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			system, left := newFaulty(t, refusal)
			n, err := OpenNotes(Options{Path: p.path, vfs: system})
			p.must(err)
			for operations := range int64(20) {
				before := fmt.Sprint("before ", operations)
				p.must(n.PutNotes(puts(before, before)))
				left.Store(operations)
				put := 0
				for ; put < 100 && err == nil; put++ {
					after := fmt.Sprint("after ", put)
					if err = n.PutNotes(puts(after, after)); err == nil {
						before = after
					}
				}
				if !errors.Is(err, Failed) {
					t.Fatalf("after %d operations: %v", operations, err)
				}
				if err = n.PutNotes(puts("again", "again")); err == nil && left.Load() < 0 {
					t.Error("a disk that refuses keeps notes")
				}
				_, lockErr := OpenNotes(Options{Path: p.path})
				if !errors.Is(lockErr, Locked) {
					t.Errorf("another process, meanwhile: %v", lockErr)
				}
				left.Store(1 << 40)
				err = nil
				notes, readErr := n.Notes("used ")
				p.must(readErr)
				got := string(notes["used 0"])
				if got != string(notes["used 1"]) || got != before && got != fmt.Sprint("after ", put-1) && got != "again" {
					t.Errorf("after %d operations the notes are %q, want %q", operations, notes, before)
				}
			}
			p.must(n.Close())
		})
	}
}

// A file that is removed or replaced is not made anew: it would have none of the notes.
func TestNotesGone(t *testing.T) {
	p := newPlace(t)
	n, err := OpenNotes(Options{Path: p.path})
	p.must(err)
	p.must(n.PutNotes(puts("a")))
	moved := filepath.Join(t.TempDir(), "moved")
	p.must(os.Rename(p.path, moved))
	for range 2 {
		if err := n.PutNotes(puts("b")); !errors.Is(err, errGone) {
			t.Errorf("the file is removed: %v", err)
		}
	}
	other, err := OpenNotes(Options{Path: p.path})
	p.must(err)
	p.must(other.Close())
	if err := n.PutNotes(puts("b")); !errors.Is(err, errGone) {
		t.Errorf("the file is replaced: %v", err)
	}
	p.must(os.Rename(moved, p.path))
	p.must(n.PutNotes(puts("", "c")))
	wantNotes(t, n, "used 0: used 1:c")
	p.must(n.Close())
}

// Another file is left alone. A new file, and one that others could read, are then the user's.
func TestNoteFiles(t *testing.T) {
	p := newPlace(t)
	p.must(os.MkdirAll(filepath.Dir(p.path), 0o700))
	p.must(os.WriteFile(p.path, []byte("secret-key 100\n"), 0o644))
	_, err := OpenNotes(Options{Path: p.path})
	if !errors.Is(err, Foreign) {
		t.Errorf("error %v", err)
	}
	for _, name := range Files(p.path)[1:] {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("there is %s", name)
		}
	}
	if text, err := os.ReadFile(p.path); err != nil || string(text) != "secret-key 100\n" {
		t.Errorf("the file is now %q, %v", text, err)
	}
	for _, text := range [][]byte{nil, {}} {
		p.must(os.Remove(p.path))
		if text != nil {
			p.must(os.WriteFile(p.path, text, 0o644))
		}
		n, err := OpenNotes(Options{Path: p.path})
		p.must(err)
		p.must(n.PutNotes(puts("a")))
		for i, name := range Files(p.path) {
			info, err := os.Stat(name)
			if err == nil && runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 || err != nil && i == 0 {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
		p.must(n.Close())
	}
}
