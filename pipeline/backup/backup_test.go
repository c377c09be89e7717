package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest"
)

const source = "http://service"

func request(n int) client.Request {
	return client.Request{Kind: client.Product, Classification: "product_taxonomy", Input: fmt.Sprint("title ", n)}
}

// open opens the store in dir until the test ends.
func open(t *testing.T, dir string) *answers.Store {
	t.Helper()
	s, err := answers.Open(answers.Options{Dir: dir, Source: source})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shut(t, s) })
	return s
}

var closed sync.Map

// shut closes a store, once.
func shut(t *testing.T, s *answers.Store) {
	t.Helper()
	if _, done := closed.LoadOrStore(s, true); done {
		return
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// add stores the outcomes of requests, each of so many bytes.
func add(t *testing.T, s *answers.Store, from, to, size int) {
	t.Helper()
	b := s.NewBatch()
	for n := from; n < to; n++ {
		detail := fmt.Sprint(n, strings.Repeat("x", size))
		b.Add(request(n), answers.Outcome{Rejection: &client.Error{Class: client.Rejected, Status: 422, Detail: detail}, Answer: client.Answer{AnsweredAt: time.Now()}})
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
}

// count wants the outcomes of the first n requests in a store, and no other.
func count(t *testing.T, s *answers.Store, n int) {
	t.Helper()
	found := 0
	if err := s.Scan(func(answers.Stored) error { found++; return nil }); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if _, ok, err := s.Lookup(request(i)); !ok || err != nil {
			t.Fatalf("outcome %d: %v, %v", i, ok, err)
		}
	}
	if found != n || s.Damaged() != 0 {
		t.Errorf("the store has %d outcomes and %d damaged, want %d", found, s.Damaged(), n)
	}
}

// newCopy makes a Backup that copies when the test says so.
func newCopy(t *testing.T, s *answers.Store, place, dir string) *Backup {
	t.Helper()
	b, err := newBackup(context.Background(), s, Options{Place: place, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (b *Backup) must(t *testing.T) {
	t.Helper()
	if err := b.copy(); err != nil {
		t.Fatal(err)
	}
	if n := b.behind(); n != 0 {
		t.Fatalf("the copy is %d bytes behind", n)
	}
}

func restore(t *testing.T, place string) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "restored")
	r, err := Restore(context.Background(), place, dir, slog.New(slog.DiscardHandler))
	if err != nil || r == nil {
		t.Fatalf("restored %v, %v", r, err)
	}
	return dir
}

// both runs a test with a place in object storage and with a folder.
func both(t *testing.T, test func(t *testing.T, place string)) {
	t.Run("objects", func(t *testing.T) {
		_, place := storagetest.New()
		test(t, place)
	})
	t.Run("folder", func(t *testing.T) { test(t, filepath.Join(t.TempDir(), "team", "copy")) })
}

// A copy has all answers at any time, in few objects, and a restored store goes on with the same copy.
func TestCopyAndRestore(t *testing.T) {
	both(t, func(t *testing.T, place string) {
		dir := filepath.Join(t.TempDir(), "store")
		s := open(t, dir)
		b := newCopy(t, s, place, dir)
		b.must(t)
		for n := range 100 {
			add(t, s, 10*n, 10*n+10, 100-n)
			b.must(t)
			if objects := len(b.listed[0].Objects); objects > 10 {
				t.Fatalf("%d objects after %d copies", objects, n)
			}
		}
		shut(t, s)
		restored := restore(t, place)
		s = open(t, restored)
		count(t, s, 1000)
		b = newCopy(t, s, place, restored)
		add(t, s, 1000, 1010, 50)
		b.must(t)
		if b.epoch != 2 {
			t.Errorf("the epoch is %d, want 2", b.epoch)
		}
		count(t, open(t, restore(t, place)), 1010)
	})
}

// Full files are one object each; objects of files that compaction has removed are removed, and those that a killed
// process has left.
func TestCompaction(t *testing.T) {
	bucket, place := storagetest.New()
	dir := t.TempDir()
	s := open(t, dir)
	b := newCopy(t, s, place, dir)
	for n := range 40 { // 40 MB, which do not compress
		noise := make([]byte, 0, 1<<20)
		for i := range 1 << 16 {
			noise = fmt.Appendf(noise, "%016x", uint64(i*n+1)*0x9E3779B97F4A7C15)
		}
		batch := s.NewBatch()
		batch.Add(request(n), answers.Outcome{Rejection: &client.Error{Class: client.Rejected, Status: 422, Detail: string(noise)}, Answer: client.Answer{AnsweredAt: time.Now()}})
		if err := batch.Commit(); err != nil {
			t.Fatal(err)
		}
		if n%8 == 0 {
			b.must(t)
		}
	}
	b.must(t)
	if len(b.listed) != 2 || len(b.listed[0].Objects) != 1 {
		t.Fatalf("the list is %+v", b.listed)
	}
	bucket.Set("copy/00000001.log.0-7.1", "of a killed process")
	bucket.Set("copy/notes.txt", "of another program")
	if err := s.Compact(context.Background()); err != nil {
		t.Fatal(err)
	}
	newCopy(t, s, place, dir).must(t)
	for _, name := range bucket.Names() {
		if strings.HasPrefix(name, "00000001.log") || strings.HasPrefix(name, "00000002.log") {
			t.Errorf("%s stays", name)
		}
	}
	if !strings.Contains(fmt.Sprint(bucket.Names()), "notes.txt") {
		t.Error("a file of another program is removed")
	}
	count(t, open(t, restore(t, place)), 40)
}

// Compaction removes a file between the snapshot of the log and its copy: the next snapshot has all answers.
func TestCompactionMeanwhile(t *testing.T) {
	bucket, place := storagetest.New()
	dir := t.TempDir()
	s := open(t, dir)
	add(t, s, 0, 100, 100)
	b := newCopy(t, s, place, dir)
	b.must(t)
	add(t, s, 100, 200, 100)
	compacted := false
	bucket.Disturb(func(op, key string) error {
		if op == "stat" && strings.HasPrefix(key, "00000001.log") && !compacted {
			compacted = true
			return s.Compact(context.Background())
		}
		return nil
	})
	b.must(t)
	if !compacted {
		t.Fatal("nothing was compacted")
	}
	count(t, open(t, restore(t, place)), 200)
}

// A failure at any call leaves a copy that can be restored, and the next attempt brings the copy up to date.
func TestFaults(t *testing.T) {
	failed := errors.New("the server is out")
	for call := 1; ; call++ {
		met := false
		t.Run(fmt.Sprint(call), func(t *testing.T) {
			bucket, place := storagetest.New()
			dir := t.TempDir()
			s := open(t, dir)
			add(t, s, 0, 10, 10)
			newCopy(t, s, place, dir).must(t)
			b, calls := newCopy(t, s, place, dir), 0
			bucket.Disturb(func(string, string) error {
				if calls++; calls >= call {
					met = true
					return failed
				}
				return nil
			})
			add(t, s, 10, 20, 10)
			if err := b.copy(); err != nil && !errors.Is(err, failed) {
				t.Fatal(err)
			}
			add(t, s, 20, 30, 10)
			_ = b.copy()
			bucket.Disturb(nil)
			if n := len(restoredAnswers(t, place)); n != 10 && n != 20 && n != 30 {
				t.Errorf("%d answers are restored", n)
			}
			b.must(t)
			if n := len(restoredAnswers(t, place)); n != 30 {
				t.Errorf("%d answers are restored, want 30", n)
			}
			if names := bucket.Names(); len(names) > 4 {
				t.Errorf("the objects are %v", names)
			}
		})
		if !met {
			break
		}
	}
}

func restoredAnswers(t *testing.T, place string) (found []answers.Stored) {
	t.Helper()
	s := open(t, restore(t, place))
	if err := s.Scan(func(a answers.Stored) error { found = append(found, a); return nil }); err != nil {
		t.Fatal(err)
	}
	return found
}

// The list or an object is lost while the copy goes on, or before it goes on: all is copied again.
func TestLost(t *testing.T) {
	for _, lost := range []string{listName, "00000001.log"} {
		t.Run(lost, func(t *testing.T) {
			bucket, place := storagetest.New()
			dir := t.TempDir()
			s := open(t, dir)
			b := newCopy(t, s, place, dir)
			add(t, s, 0, 10, 10)
			b.must(t)
			for key := range bucket.Objects {
				if strings.Contains(key, lost) {
					delete(bucket.Objects, key)
				}
			}
			add(t, s, 10, 20, 10)
			if lost == listName {
				if err := b.copy(); !errors.Is(err, errLost) {
					t.Errorf("the error is %v", err)
				}
			} else {
				b = newCopy(t, s, place, dir)
			}
			b.must(t)
			count(t, open(t, restore(t, place)), 20)
		})
	}
}

// A damaged copy is refused, and nothing is restored.
func TestDamaged(t *testing.T) {
	for name, damage := range map[string]func(text string) string{
		"missing": nil,
		"cut":     func(text string) string { return text[:len(text)-1] },
		"longer":  func(text string) string { return text + "x" },
		"flipped": func(text string) string { return text[:40] + "\xff" + text[41:] },
	} {
		t.Run(name, func(t *testing.T) {
			bucket, place := storagetest.New()
			dir := t.TempDir()
			s := open(t, dir)
			add(t, s, 0, 10, 10)
			newCopy(t, s, place, dir).must(t)
			for key, v := range bucket.Objects {
				switch {
				case !strings.Contains(key, ".log"):
				case damage == nil:
					delete(bucket.Objects, key)
				default:
					bucket.Set(key, damage(v.Text))
				}
			}
			parent := t.TempDir()
			_, err := Restore(context.Background(), place, filepath.Join(parent, "store"), slog.New(slog.DiscardHandler))
			if _, ok := errors.AsType[*DamageError](err); !ok {
				t.Errorf("the error is %v", err)
			}
			if left, _ := os.ReadDir(parent); len(left) != 0 {
				t.Errorf("%v stays", left)
			}
		})
	}
}

// A list of a later version, of another program, or with paths is refused, before anything is written.
func TestOtherLists(t *testing.T) {
	for _, text := range []string{
		`[]`, `{"format":2,"store":"s","owner":"o"}`, `{"some":"json"}`,
		`{"format":1,"store":"s","owner":"o","files":[{"name":"../x.log","objects":[]}]}`,
		`{"format":1,"store":"s","owner":"o","files":[{"name":"00000001.log","objects":[{"name":"../secret"}]}]}`,
	} {
		bucket, place := storagetest.New()
		bucket.Set("copy/"+listName, text)
		_, err := Restore(context.Background(), place, filepath.Join(t.TempDir(), "store"), slog.New(slog.DiscardHandler))
		if _, ok := errors.AsType[*ListError](err); !ok {
			t.Errorf("%s: the error of Restore is %v", text, err)
		}
		dir := t.TempDir()
		_, err = Start(context.Background(), open(t, dir), Options{Place: place, Dir: dir})
		if _, ok := errors.AsType[*ListError](err); !ok {
			t.Errorf("%s: the error of Start is %v", text, err)
		}
	}
}

// Of two stores, the second is refused at its start.
func TestForeignCopy(t *testing.T) {
	both(t, func(t *testing.T, place string) {
		first, second := t.TempDir(), t.TempDir()
		newCopy(t, open(t, first), place, first).must(t)
		_, err := Start(context.Background(), open(t, second), Options{Place: place, Dir: second})
		taken, ok := errors.AsType[*TakenError](err)
		if !ok || !taken.Foreign || !strings.Contains(err.Error(), second) {
			t.Errorf("the error is %v", err)
		}
	})
}

// A store is restored while its old machine is still alive: the new machine is the owner, the old machine stops
// copying and harms nothing, and is refused when it starts again.
func TestTwoOwners(t *testing.T) {
	both(t, func(t *testing.T, place string) {
		oldDir := t.TempDir()
		oldStore := open(t, oldDir)
		add(t, oldStore, 0, 10, 10)
		old := newCopy(t, oldStore, place, oldDir)
		old.must(t)
		newDir := restore(t, place)
		add(t, oldStore, 100, 150, 10) // the old machine copies once more before the claim
		old.must(t)
		newStore := open(t, newDir)
		young := newCopy(t, newStore, place, newDir)
		add(t, newStore, 10, 60, 10) // as many bytes, and others
		young.must(t)
		add(t, oldStore, 200, 210, 10)
		err := old.copy()
		if taken, ok := errors.AsType[*TakenError](err); !ok || taken.Foreign {
			t.Errorf("the error is %v", err)
		}
		add(t, newStore, 60, 70, 10)
		young.must(t)
		count(t, open(t, restore(t, place)), 70)
		_, err = Start(context.Background(), oldStore, Options{Place: place, Dir: oldDir})
		if _, ok := errors.AsType[*TakenError](err); !ok {
			t.Errorf("the error of the next start is %v", err)
		}
	})
}

// Two machines restore at the same time: one becomes the owner.
func TestTwoRestores(t *testing.T) {
	bucket, place := storagetest.New()
	dir := t.TempDir()
	newCopy(t, open(t, dir), place, dir).must(t)
	first, second := restore(t, place), restore(t, place)
	a, b := newCopy(t, open(t, first), place, first), newCopy(t, open(t, second), place, second)
	raced := false
	bucket.Disturb(func(op, key string) error {
		if op == "publish" && key == listName && !raced { // b has read the list and is about to replace it
			raced = true
			a.must(t)
		}
		return nil
	})
	err := b.copy()
	if _, ok := errors.AsType[*TakenError](err); !ok || !raced {
		t.Errorf("the error is %v", err)
	}
}

// The loss of power takes the end of the log, and other answers take its place.
func TestShorterStore(t *testing.T) {
	_, place := storagetest.New()
	dir := t.TempDir()
	s := open(t, dir)
	add(t, s, 0, 10, 10)
	shut(t, s)
	earlier, err := os.ReadFile(filepath.Join(dir, "00000001.log"))
	if err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	add(t, s, 100, 110, 10)
	newCopy(t, s, place, dir).must(t)
	shut(t, s)
	if err := os.WriteFile(filepath.Join(dir, "00000001.log"), earlier, 0o666); err != nil {
		t.Fatal(err)
	}
	s = open(t, dir)
	add(t, s, 10, 30, 10)
	newCopy(t, s, place, dir).must(t)
	count(t, open(t, restore(t, place)), 30)
}

// Start copies by itself, warns once when the place fails, and Stop says how far the copy is behind.
func TestStartAndStop(t *testing.T) {
	bucket, place := storagetest.New()
	dir := t.TempDir()
	s := open(t, dir)
	var log bytes.Buffer
	b, err := Start(context.Background(), s, Options{Place: place, Dir: dir, Every: 10 * time.Millisecond, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, 0, 10, 10)
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if l, err := b.place.readList(); err == nil && len(l.Files) > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("nothing is copied")
		}
	}
	bucket.Disturb(func(string, string) error { return errors.New("the server is out") })
	add(t, s, 10, 20, 10)
	time.Sleep(50 * time.Millisecond)
	state := b.Stop()
	if state.Behind == 0 || state.Copied.IsZero() || !strings.Contains(state.Error, "the server is out") {
		t.Errorf("the state is %+v", state)
	}
	if n := strings.Count(log.String(), "the server is out"); n != 1 {
		t.Errorf("%d warnings\n%s", n, &log)
	}
	bucket.Disturb(nil)
	b, err = Start(context.Background(), s, Options{Place: place, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if state = b.Stop(); state.Behind != 0 || state.Error != "" {
		t.Errorf("the state is %+v", state)
	}
	count(t, open(t, restore(t, place)), 20)
}

// A store that exists is not touched, and a place without a copy restores nothing.
func TestNothingToRestore(t *testing.T) {
	both(t, func(t *testing.T, place string) {
		log := slog.New(slog.DiscardHandler)
		missing := filepath.Join(t.TempDir(), "store")
		if r, err := Restore(context.Background(), place, missing, log); r != nil || err != nil || answers.IsStore(missing) {
			t.Errorf("restored %v, %v", r, err)
		}
		dir := t.TempDir()
		newCopy(t, open(t, dir), place, dir).must(t)
		if r, err := Restore(context.Background(), place, dir, log); r != nil || err != nil {
			t.Errorf("restored %v, %v", r, err)
		}
	})
}

// A place that answers late does not keep the run from its start, and that another store has it is then a warning.
func TestLatePlace(t *testing.T) {
	bucket, place := storagetest.New()
	first, second := t.TempDir(), t.TempDir()
	newCopy(t, open(t, first), place, first).must(t)
	answer := make(chan struct{})
	bucket.Disturb(func(string, string) error { <-answer; return nil })
	var log bytes.Buffer
	b, err := Start(context.Background(), open(t, second), Options{Place: place, Dir: second, Log: slog.New(slog.NewTextHandler(&log, nil)), patience: time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	close(answer)
	if state := b.Stop(); state.Behind == 0 || !strings.Contains(state.Error, "another store") {
		t.Errorf("the state is %+v", state)
	}
	if text := log.String(); !strings.Contains(text, "does not answer yet") || !strings.Contains(text, "no longer copied") {
		t.Errorf("the log is\n%s", text)
	}
}

// A place that hangs holds the end of a finished run for stallTimeout at most, and that of a run that is to end not at all.
func TestStopWhileThePlaceHangs(t *testing.T) {
	for name, hangs := range map[string]func(op, key string) bool{
		"at every call": func(string, string) bool { return true },
		"at the list":   func(op, key string) bool { return op == "publish" && key == listName },
		"at an object":  func(op, key string) bool { return op == "publish" && key != listName },
		"at a removal":  func(op, _ string) bool { return op == "remove" },
	} {
		for ending, most := range map[string]time.Duration{"finished": stallTimeout, "ended": 0} {
			t.Run(name+"/"+ending, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					bucket, place := storagetest.New()
					ctx, end := context.WithCancel(t.Context())
					dir := t.TempDir()
					s := open(t, dir)
					add(t, s, 0, 10, 100)
					b, err := Start(ctx, s, Options{Place: place, Dir: dir, Every: time.Second})
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(1500 * time.Millisecond)
					bucket.Disturb(func(op, key string) error {
						if hangs(op, key) {
							return storagetest.ErrHang
						}
						return nil
					})
					add(t, s, 10, 500, 100)
					time.Sleep(time.Second)
					if ending == "ended" {
						end()
					}
					stopping := time.Now()
					state := b.Stop()
					if taken := time.Since(stopping); taken > most {
						t.Errorf("Stop takes %v, want %v at most; %+v", taken, most, state)
					}
					if name != "at a removal" && (state.Behind == 0 || state.Error == "") {
						t.Errorf("the state is %+v", state)
					}
					end()
				})
			})
		}
	}
}
