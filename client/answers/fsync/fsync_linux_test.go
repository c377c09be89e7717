package fsync

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

func newSyncer(t *testing.T) *Syncer {
	t.Helper()
	s, err := New()
	if err != nil {
		t.Skipf("this kernel has none: %v", err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	f, err := os.Create(filepath.Join(t.TempDir(), "any"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := s.Sync(f.Fd()); errors.Is(err, ErrRefused) {
		t.Skipf("this kernel syncs no file by itself: %v", err)
	}
	return s
}

func TestSync(t *testing.T) {
	s := newSyncer(t)
	dir := t.TempDir()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			f, err := os.Create(filepath.Join(dir, fmt.Sprint(i)))
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			for range 20 {
				if _, err := f.WriteString("a line\n"); err != nil {
					t.Error(err)
				}
				if err := errors.Join(s.SyncData(f.Fd()), s.Sync(f.Fd())); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if size := unsafe.Sizeof(control{}); size != 64 {
		t.Errorf("a request has %d bytes, the kernel's 64", size)
	}
}

func TestRefused(t *testing.T) {
	s := newSyncer(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for name, fd := range map[string]uintptr{"a pipe": w.Fd(), "no file": ^uintptr(0)} {
		if err := s.SyncData(fd); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: got %v", name, err)
		}
		if err := s.Sync(fd); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestErrorOfTheDisk(t *testing.T) {
	e := event{result: -int64(unix.EIO)}
	if err := e.err("fdatasync"); !errors.Is(err, unix.EIO) || err.Error() != "fdatasync: input/output error" {
		t.Errorf("got %v", err)
	}
}
