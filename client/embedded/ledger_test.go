package embedded

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client/answers"
)

// memory is a NoteStore in memory, which may be full.
type memory struct {
	mu    sync.Mutex
	notes map[string][]byte
	full  bool
	puts  []int // the number of notes of each put
}

var errDisk = errors.New("no space left on device")

func (m *memory) Path() string { return "used.db" }

func (m *memory) Notes(prefix string) (map[string][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	found := maps.Clone(m.notes)
	maps.DeleteFunc(found, func(name string, _ []byte) bool { return !strings.HasPrefix(name, prefix) })
	return found, nil
}

func (m *memory) PutNotes(notes map[string][]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		return errDisk
	}
	if m.notes == nil {
		m.notes = make(map[string][]byte)
	}
	maps.Copy(m.notes, notes)
	m.puts = append(m.puts, len(notes))
	return nil
}

// killed is what a service that starts after a kill finds.
func (m *memory) killed() *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &memory{notes: maps.Clone(m.notes)}
}

func (m *memory) setFull(full bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.full = full
}

func openLedger(t *testing.T, notes NoteStore) *Ledger {
	t.Helper()
	l, err := OpenLedger(notes)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func openNotes(t *testing.T, path string) *answers.NoteFile {
	t.Helper()
	notes, err := answers.OpenNotes(answers.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	return notes
}

// metered returns a service with a ledger and one key with a quota of 100.
func metered(l *Ledger) *Service {
	return lent(New(Options{Grants: []Grant{{Key: "secret", Quota: 100}}, Ledger: l, Logger: quiet}))
}

// useUp uses up n answers of the key.
func useUp(t *testing.T, s *Service, n int) {
	t.Helper()
	for range n {
		req := httptest.NewRequest(http.MethodGet, target(ProductPath, "query", "sofa"), nil)
		req.Header.Set("x-api-key", "secret")
		if a := send(t, s, req); a.status != http.StatusOK {
			t.Fatalf("%+v", a)
		}
	}
}

func leftOf(t *testing.T, s *Service) int64 {
	t.Helper()
	a, ok := s.key("secret")
	if !ok {
		t.Fatal("the key is not accepted")
	}
	return int64(a.left())
}

// save saves as a service does that stops.
func save(t *testing.T, s *Service) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.KeepUsage(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestUsedQuotaOutlivesTheService(t *testing.T) {
	path := filepath.Join(t.TempDir(), "used.db")
	for _, want := range []int64{100, 97, 94} {
		notes := openNotes(t, path)
		s := metered(openLedger(t, notes))
		if got := leftOf(t, s); got != want {
			t.Errorf("%d left, want %d", got, want)
		}
		useUp(t, s, 3)
		save(t, s)
		if err := notes.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A kill loses the usage of one second at most.
func TestUsedQuotaIsSavedEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notes := new(memory)
		s := metered(openLedger(t, notes))
		ctx, cancel := context.WithCancel(t.Context())
		go s.KeepUsage(ctx)
		for second := range 5 {
			useUp(t, s, 2)
			time.Sleep(saveEvery)
			synctest.Wait()
			if got, want := leftOf(t, metered(openLedger(t, notes.killed()))), int64(98-2*second); got != want {
				t.Errorf("after %d s and a kill %d are left, want %d", second+1, got, want)
			}
		}
		cancel()
		synctest.Wait()
	})
}

// Each second has one commit at most, with the keys that have used something.
func TestOnlyChangesArePut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var grants []Grant
		for i := range 1000 {
			grants = append(grants, Grant{Key: fmt.Sprint("secret-", i), Quota: 100})
		}
		notes := new(memory)
		s := lent(New(Options{Grants: grants, Ledger: openLedger(t, notes), Logger: quiet}))
		ctx, cancel := context.WithCancel(t.Context())
		go s.KeepUsage(ctx)
		for _, used := range []int{1000, 0, 3, 0, 0, 1} {
			for i := range used {
				if a, _ := s.key(fmt.Sprint("secret-", i)); !a.take() {
					t.Fatal("nothing is left")
				}
			}
			time.Sleep(saveEvery)
			synctest.Wait()
		}
		cancel()
		synctest.Wait()
		if got := fmt.Sprint(notes.puts); got != "[1 1000 3 1]" { // the salt is first
			t.Errorf("puts of %s notes", got)
		}
		again := New(Options{Grants: grants, Ledger: openLedger(t, notes.killed()), Logger: quiet})
		for i, want := range map[int]Quota{0: 97, 2: 98, 3: 99, 999: 99} {
			if a, _ := again.key(fmt.Sprint("secret-", i)); a.left() != want {
				t.Errorf("key %d has %d left, want %d", i, a.left(), want)
			}
		}
	})
}

func TestFailuresToSaveAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notes := new(memory)
		s := metered(openLedger(t, notes))
		var log bytes.Buffer
		s.opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.KeepUsage(ctx) }()
		notes.setFull(true)
		useUp(t, s, 1)
		time.Sleep(10 * saveEvery)
		useUp(t, s, 1) // a full disk stops no answers
		notes.setFull(false)
		time.Sleep(2 * saveEvery)
		if got := leftOf(t, metered(openLedger(t, notes.killed()))); got != 98 {
			t.Errorf("%d left, want 98", got)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if text := log.String(); strings.Count(text, "not saved") != 1 || strings.Count(text, "saved again") != 1 || !strings.Contains(text, errDisk.Error()) {
			t.Errorf("log %s", text)
		}
		notes.setFull(true)
		useUp(t, s, 1)
		if err := s.KeepUsage(ctx); !errors.Is(err, errDisk) {
			t.Errorf("the last save: %v", err)
		}
	})
}

// A backend commits charges with its answers. No other save has a charge whose answer is not committed.
func TestChargesOfABackend(t *testing.T) {
	notes := new(memory)
	l := openLedger(t, notes)
	s := metered(l)
	key, _ := s.key("secret")
	for _, step := range []struct {
		charges int
		result  error
		left    int64 // after a kill
	}{{2, nil, 98}, {1, errDisk, 98}, {1, nil, 96}} {
		var keys []*Key
		for range step.charges {
			key.Reserve()
			keys = append(keys, key)
		}
		err := s.Charge(keys, func(changed map[string][]byte) error {
			if l.saving.TryLock() {
				t.Error("another save may begin")
			}
			if len(changed) != 1 {
				t.Errorf("%d notes of a key", len(changed))
			}
			if step.result == nil {
				return notes.PutNotes(changed)
			}
			return step.result
		})
		if got := leftOf(t, metered(openLedger(t, notes.killed()))); err != step.result || got != step.left {
			t.Errorf("%d left after a kill, want %d; error %v", got, step.left, err)
		}
	}
	if key.reserved != 0 || leftOf(t, s) != 96 {
		t.Errorf("%d reserved, %d left", key.reserved, leftOf(t, s))
	}
}

func TestKeysThatAreNotAcceptedKeepTheirNotes(t *testing.T) {
	notes := new(memory)
	s := metered(openLedger(t, notes))
	useUp(t, s, 4)
	save(t, s)
	other := New(Options{Grants: []Grant{{Key: "other", Quota: 1}}, Ledger: openLedger(t, notes), Logger: quiet})
	if a, _ := other.key("other"); !a.take() {
		t.Error("nothing is left to another key")
	}
	save(t, other)
	if got := leftOf(t, metered(openLedger(t, notes))); got != 96 {
		t.Errorf("%d left, want 96", got)
	}
}

func TestASmallerQuotaIsUsedUp(t *testing.T) {
	l := openLedger(t, new(memory))
	l.used[l.salt.digest("secret")] = usage{answers: 150}
	s := metered(l)
	if a, _ := s.key("secret"); leftOf(t, s) != 0 || a.left() != 0 || a.take() {
		t.Errorf("%d left of a quota that was lowered below the usage", leftOf(t, s))
	}
}

// A service does not start with notes that cannot be read: a key would get back what it has used.
func TestDamagedNotes(t *testing.T) {
	s := newSalt()
	name, body := note(s.digest("secret"), usage{answers: 5, last: 1_764_000_000})
	for what, change := range map[string]func(notes map[string][]byte){
		"no salt":           func(notes map[string][]byte) { delete(notes, saltNote) },
		"a short salt":      func(notes map[string][]byte) { notes[saltNote] = s[1:] },
		"an empty note":     func(notes map[string][]byte) { notes[name] = nil },
		"a note of nothing": func(notes map[string][]byte) { notes[name] = []byte("{}") },
		"half a note":       func(notes map[string][]byte) { notes[name] = body[:len(body)/2] },
		"more than a note":  func(notes map[string][]byte) { notes[name] = append(bytes.Clone(body), ' ') },
		"another member": func(notes map[string][]byte) {
			notes[name] = bytes.Replace(body, []byte("answers"), []byte("answer"), 1)
		},
		"a negative number":    func(notes map[string][]byte) { notes[name] = bytes.Replace(body, []byte("5"), []byte("-5"), 1) },
		"a number too large":   func(notes map[string][]byte) { notes[name] = bytes.Replace(body, []byte("5"), []byte("5e30"), 1) },
		"a note without key":   func(notes map[string][]byte) { notes[notePrefix+"secret"[:3]] = body },
		"a note of half a key": func(notes map[string][]byte) { notes[name[:len(name)-2]] = body },
		"a note in capitals":   func(notes map[string][]byte) { notes[notePrefix+strings.ToUpper(name[len(notePrefix):])+"A0"] = body },
	} {
		t.Run(what, func(t *testing.T) {
			notes := &memory{notes: map[string][]byte{saltNote: s[:], name: body, "learned": []byte("else")}}
			if got := leftOf(t, metered(openLedger(t, notes))); got != 95 {
				t.Fatalf("%d left without damage, want 95", got)
			}
			change(notes.notes)
			before := fmt.Sprint(notes.notes)
			_, err := OpenLedger(notes)
			damage, ok := errors.AsType[*LedgerError](err)
			if !ok || damage.Path != "used.db" || !strings.Contains(err.Error(), "choose another file") {
				t.Errorf("error %v", err)
			}
			if fmt.Sprint(notes.notes) != before {
				t.Errorf("the notes were changed: %q", notes.notes)
			}
		})
	}
}

// Only the owner can read a file of used quota, whatever its mode was. The file has no key, and no digest that is the same in
// another file.
func TestALedgerIsPrivate(t *testing.T) {
	var names [2]map[string][]byte
	for i := range names {
		path := filepath.Join(t.TempDir(), "used.db")
		for _, before := range []os.FileMode{0, 0o644} {
			if before != 0 {
				if err := os.Chmod(path, before); err != nil {
					t.Fatal(err)
				}
			}
			notes := openNotes(t, path)
			s := metered(openLedger(t, notes))
			useUp(t, s, 3)
			save(t, s)
			var err error
			if names[i], err = notes.Notes(notePrefix); err != nil {
				t.Fatal(err)
			}
			if err := notes.Close(); err != nil {
				t.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v of a file that had the mode %v", info.Mode(), before)
			}
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		plain := sha256.Sum256([]byte("secret"))
		for _, secret := range []string{"secret", string(plain[:]), hex.EncodeToString(plain[:])} {
			if bytes.Contains(text, []byte(secret)) {
				t.Errorf("the file has %q", secret)
			}
		}
	}
	for name := range names[0] {
		if _, ok := names[1][name]; ok && name != saltNote || len(names[0]) != 2 {
			t.Errorf("a key has the same digest in two files: %q %q", names[0], names[1])
		}
	}
}

func FuzzNote(f *testing.F) {
	for _, used := range []usage{{}, {answers: 1}, {1 << 62, 1_764_000_000}} {
		name, body := note(salt{1}.digest("a"), used)
		f.Add(name, body)
		f.Add(strings.ToUpper(name), body)
		f.Add(name[1:], body[1:])
	}
	f.Fuzz(func(t *testing.T, name string, body []byte) {
		d, used, ok := parseNote(name, body)
		if !ok {
			return
		}
		if nameAgain, bodyAgain := note(d, used); nameAgain != name || !bytes.Equal(bodyAgain, body) || used.answers < 0 || used.last < 0 {
			t.Errorf("%q %q became %q %q", name, body, nameAgain, bodyAgain)
		}
	})
}
