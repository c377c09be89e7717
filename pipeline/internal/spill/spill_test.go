package spill

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// TestSorted reads few entries, which are in memory, and many, most of which are in files, and adds more after that.
func TestSorted(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, entry := range map[string]func(n uint64) []byte{
		"hashes":             func(uint64) []byte { return binary.BigEndian.AppendUint64(make([]byte, 0, 108), random.Uint64())[:108] },
		"of any length":      func(uint64) []byte { return fmt.Append(nil, random.IntN(1_000_000)) },
		"equal":              func(uint64) []byte { return []byte("an entry") },
		"one first byte":     func(n uint64) []byte { return fmt.Appendf(nil, "entry %d", n%1000) },
		"some without bytes": func(n uint64) []byte { return bytes.Repeat([]byte{byte(n)}, int(n%3)) },
	} {
		t.Run(name, func(t *testing.T) {
			s := New(t.TempDir())
			defer s.Close()
			var want [][]byte
			for _, n := range []int{0, 100, 20_000, 50} {
				for range n {
					e := entry(uint64(len(want)))
					want = append(want, bytes.Clone(e))
					if err := s.Add(e); err != nil {
						t.Fatal(err)
					}
					clear(e) // the spill has a copy
				}
				sorted := slices.SortedFunc(slices.Values(want), bytes.Compare)
				if got := read(t, s); !slices.EqualFunc(got, sorted, bytes.Equal) {
					t.Fatalf("%d entries are read as %d others", len(want), len(got))
				}
			}
		})
	}
}

func read(t *testing.T, s *Spill) (entries [][]byte) {
	t.Helper()
	for e, err := range s.Sorted() {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, bytes.Clone(e))
	}
	return entries
}

// TestLargeFile divides a file that is too large to be sorted in memory by further bytes.
func TestLargeFile(t *testing.T) {
	s := New(t.TempDir())
	const size, n = 1 << 20, mostSorted>>20 + 8
	entry := make([]byte, size)
	for k := range n {
		entry[2] = byte(n - k)
		if err := s.Add(entry); err != nil {
			t.Fatal(err)
		}
	}
	k := 0
	for e, err := range s.Sorted() {
		if k++; err != nil || len(e) != size || int(e[2]) != k {
			t.Fatalf("entry %d is %d, of %d bytes: %v", k, e[2], len(e), err)
		}
	}
	if k != n {
		t.Errorf("%d of %d entries", k, n)
	}
	dir := s.dir
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(dir); dir == "" || !os.IsNotExist(err) {
		t.Errorf("%q is left behind: %v", dir, err)
	}
}

func TestFewEntriesNeedNoFiles(t *testing.T) {
	s := New("/does/not/exist")
	for n := range 1000 {
		if err := s.Add(fmt.Append(nil, n)); err != nil {
			t.Fatal(err)
		}
	}
	if got := read(t, s); len(got) != 1000 {
		t.Errorf("%d entries", len(got))
	}
	if err := s.Add(make([]byte, bufferSize)); err == nil {
		t.Error("there is no place for files, and no error")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
