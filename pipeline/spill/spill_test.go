package spill

import (
	"encoding/binary"
	"os"
	"testing"
)

// TestSpill reads few entries, which are in memory, and many, most of which are in files.
func TestSpill(t *testing.T) {
	s := New(8)
	added := 0
	add := func(n int) {
		t.Helper()
		for range n {
			if err := s.Add(binary.LittleEndian.AppendUint64(nil, uint64(added))); err != nil {
				t.Fatal(err)
			}
			added++
		}
	}
	check := func() {
		t.Helper()
		read := 0
		for first := range Files {
			want := uint64(first)
			err := s.Read(byte(first), func(entry []byte) {
				if got := binary.LittleEndian.Uint64(entry); got != want {
					t.Fatalf("got %d, want %d", got, want)
				}
				want += Files
				read++
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if read != added {
			t.Errorf("%d of %d entries", read, added)
		}
	}
	check()
	add(1000)
	check()
	if s.dir != "" {
		t.Errorf("few entries have files in %s", s.dir)
	}
	for range 2 {
		add(Files*held/8 + 300)
		check()
	}
	dir := s.dir
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); dir == "" || !os.IsNotExist(err) {
		t.Errorf("%q is left behind: %v", dir, err)
	}
}

func TestNoPlaceForFiles(t *testing.T) {
	t.Setenv("TMPDIR", "/does/not/exist")
	if _, err := os.Stat(os.TempDir()); err == nil {
		t.Skip("the system has another folder for temporary files")
	}
	s := New(held)
	if err := s.Add(make([]byte, held)); err == nil {
		t.Error("there is no error")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
