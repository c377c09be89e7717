package reader

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
)

func TestSpoolGivesWhatThePipeGave(t *testing.T) {
	text := strings.Repeat("one line after the other\n", 20_000)
	for name, pipe := range map[string]io.Reader{
		"at once":       strings.NewReader(text),
		"in halves":     iotest.HalfReader(strings.NewReader(text)),
		"data with EOF": iotest.DataErrReader(strings.NewReader(text)),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "spool")
			s, err := NewSpool(pipe, path)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(s)
			if err != nil || string(got) != text || !s.Whole() {
				t.Errorf("%d bytes, want %d (%v), whole %t", len(got), len(text), err, s.Whole())
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			kept, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(kept, got) {
				t.Errorf("the file has %d bytes (%v)", len(kept), err)
			}
			if err := s.Remove(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestSpoolIsAheadOfItsReader: the pipe is emptied though nobody reads.
func TestSpoolIsAheadOfItsReader(t *testing.T) {
	in, out := io.Pipe()
	s, err := NewSpool(in, filepath.Join(t.TempDir(), "spool"))
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err := out.Write(make([]byte, 10_000)); err != nil {
			t.Fatal(err)
		}
	}
	out.Close()
	if n, err := io.Copy(io.Discard, s); n != 1_000_000 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestSpoolOfABrokenPipe(t *testing.T) {
	broken := errors.New("broken")
	s, err := NewSpool(io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(broken)), filepath.Join(t.TempDir(), "spool"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(s)
	if string(got) != "begin" || !errors.Is(err, broken) || s.Whole() {
		t.Errorf("got %q, %v, whole %t", got, err, s.Whole())
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestSpoolCannotBeMade(t *testing.T) {
	if _, err := NewSpool(strings.NewReader(""), filepath.Join(t.TempDir(), "no", "spool")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
