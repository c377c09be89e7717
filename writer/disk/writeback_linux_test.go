package disk

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The written bytes are in the file after their pages have left the page cache.
func TestReleasedBytesStay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	f, err := NewFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var want []byte
	for piece := range 40 {
		p := bytes.Repeat([]byte{byte(piece)}, 777_777)
		if _, err := f.Write(p); err != nil {
			t.Fatal(err)
		}
		want = append(want, p...)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if f.released == 0 {
		t.Error("nothing was released")
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d; %v", len(got), len(want), err)
	}
}

func TestHintsAreNotTakenByAll(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	if err := errors.Join(beginWriteback(w, 0, 1), release(w, 0, 1)); err != nil {
		t.Errorf("a pipe: %v", err)
	}
	for err, returned := range map[error]bool{
		nil: false, syscall.EIO: true, syscall.ENOSPC: true, syscall.EDQUOT: true,
		syscall.ENODATA: true, syscall.ESTALE: true, syscall.EBADMSG: true, syscall.EROFS: true,
		syscall.EPERM: false, syscall.EOPNOTSUPP: false, syscall.ESPIPE: false, syscall.EINVAL: false, syscall.ENOSYS: false, os.ErrClosed: false,
	} {
		if got := diskError(err); (got != nil) != returned || returned && !errors.Is(got, err) {
			t.Errorf("%v: returned %v", err, got)
		}
	}
}
