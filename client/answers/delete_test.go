package answers_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/bulkcat/bulkcat/client"
	. "github.com/bulkcat/bulkcat/client/answers"
)

// TestDelete deletes an answer that was given twice, and looks for its input in all files.
func TestDelete(t *testing.T) {
	disk := vfs.NewMem()
	s := start(t, disk)
	s.put(0, 300, 0)
	s.put(0, 300, 1)
	secret, outcome := numbered(1_000_000)
	outcome.Answer.Body = bytes.ReplaceAll(outcome.Answer.Body, []byte("A > "), []byte("private > "))
	for range 2 {
		batch := s.NewBatch()
		batch.AddOf("another source", secret, outcome)
		s.must(batch.Commit())
	}
	host := strings.TrimPrefix(secret.Input, "https://")
	if files := filesWith(t, disk, host); len(files) == 0 {
		t.Fatal("the files do not have the input in plain: the test shows nothing")
	}
	n, err := s.Delete(t.Context(), func(_ string, r client.Request) bool { return r == secret })
	if s.must(err); n != 1 {
		t.Errorf("%d deleted, want 1", n)
	}
	s.want(0, 300, 1)
	s.reopen(func(*Options) {})
	for _, text := range []string{host, "private"} {
		if files := filesWith(t, disk, text); len(files) > 0 {
			t.Errorf("%v still have %s", files, text)
		}
	}
	s.want(0, 300, 1)
	queries := []Query{{Source: "another source", Request: secret}}
	if s.must(s.LookupAll(queries)); queries[0].Stored {
		t.Error("the answer is found")
	}
	if n, err := s.Delete(t.Context(), func(_ string, r client.Request) bool { return r == secret }); n != 0 || err != nil {
		t.Errorf("again: %d deleted, %v", n, err)
	}
	s.close()
}

// TestDeleteEndsEarly lets the disk fail from each operation of a deletion on. The other answers stay, and a second
// deletion leaves nothing of the first request.
func TestDeleteEndsEarly(t *testing.T) {
	first, _ := numbered(0)
	isFirst := func(_ string, r client.Request) bool { return r == first }
	for n := int64(1); ; n += 3 {
		disk := vfs.NewCrashableMem()
		s := start(t, disk)
		s.put(0, 10, 0)
		s.close()
		faulty := newFaultyFS(disk, n, true)
		faulty.operations.Store(-1 << 40)
		store, err := Open(Options{Dir: dir, Source: source, FS: faulty})
		s.must(err)
		faulty.operations.Store(0)
		_, err = store.Delete(t.Context(), isFirst)
		if err = errors.Join(err, store.Close()); err != nil {
			wantStoreError(t, n, err)
		}
		left := crash(disk, n%2 == 0)
		s = start(t, left)
		s.want(1, 10, 0)
		_, err = s.Delete(t.Context(), isFirst)
		s.must(err)
		s.want(1, 10, 0)
		s.close()
		if files := filesWith(t, left, strings.TrimPrefix(first.Input, "https://")); len(files) > 0 {
			t.Errorf("after %d operations: %v", n, files)
		}
		if !faulty.hit.Load() {
			return
		}
	}
}

// endsAfter is a context that ends after some calls of Err.
type endsAfter struct {
	context.Context
	calls int
}

func (c *endsAfter) Err() error {
	if c.calls--; c.calls < 0 {
		return context.Canceled
	}
	return nil
}

func (c *endsAfter) Deadline() (time.Time, bool) { return time.Time{}, false }

// TestDeleteEndsBetweenFiles ends a deletion at each check of its context: what the other files have is given as before,
// and no older answer comes again.
func TestDeleteEndsBetweenFiles(t *testing.T) {
	t.Parallel()
	for calls := 0; ; calls++ {
		disk := vfs.NewMem()
		s := start(t, disk)
		s.put(0, 50, 0)
		if err := s.Compact(&endsAfter{t.Context(), 0}); !errors.Is(err, context.Canceled) { // begins a second file
			t.Fatal(err)
		}
		s.put(100, 120, 0)
		s.put(100, 120, 1)
		_, err := s.Delete(&endsAfter{t.Context(), calls}, func(_ string, r client.Request) bool {
			for i := range 40 {
				if d, _ := numbered(i); d == r {
					return true
				}
			}
			return false
		})
		s.reopen(func(*Options) {})
		inputs, _ := s.scan()
		for input, n := range inputs {
			if n != 1 {
				t.Fatalf("after %d calls %s is exported %d times", calls, input, n)
			}
		}
		s.want(100, 120, 1)
		s.want(40, 50, 0)
		s.close()
		if err == nil {
			return
		}
	}
}

// filesWith are the names of the files that have a text.
func filesWith(t *testing.T, disk vfs.FS, text string) (names []string) {
	for name, content := range contents(t, disk) {
		if strings.Contains(string(content), text) {
			names = append(names, name)
		}
	}
	return names
}
