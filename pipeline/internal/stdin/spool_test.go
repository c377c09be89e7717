package stdin

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bulkcat/bulkcat/reader"
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
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("before it is kept: %v", err)
			}
			if err := errors.Join(s.Keep(), s.Close()); err != nil {
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

// The spool empties the pipe without any Read.
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

// A Read that waits for a pipe can be interrupted, after the data before was read.
func TestInterruptedPipe(t *testing.T) {
	for name, start := range map[string]func(io.Reader) (io.Reader, func(), error){
		"spool": func(pipe io.Reader) (io.Reader, func(), error) {
			s, err := NewSpool(pipe, filepath.Join(t.TempDir(), "spool"))
			t.Cleanup(func() { s.Close() })
			return s, s.Interrupt, err
		},
		"pump": func(pipe io.Reader) (io.Reader, func(), error) {
			p := NewPump(pipe)
			return p, p.Interrupt, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			in, out := io.Pipe()
			defer out.Close()
			r, interrupt, err := start(in)
			if err != nil {
				t.Fatal(err)
			}
			go out.Write([]byte("one line"))
			got := make([]byte, len("one line"))
			if _, err := io.ReadFull(r, got); err != nil || string(got) != "one line" {
				t.Fatalf("got %q, %v", got, err)
			}
			ended := make(chan error)
			go func() {
				_, err := r.Read(got)
				ended <- err
			}()
			interrupt()
			if err := <-ended; err != reader.ErrInterrupted {
				t.Errorf("a read that waits: %v", err)
			}
			if _, err := r.Read(got); err != reader.ErrInterrupted {
				t.Errorf("the next one: %v", err)
			}
		})
	}
}

func TestPumpGivesWhatThePipeGave(t *testing.T) {
	broken := errors.New("broken")
	for _, tt := range []struct {
		pipe io.Reader
		want error
	}{{strings.NewReader("begin"), nil}, {io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(broken)), broken}} {
		if got, err := io.ReadAll(NewPump(tt.pipe)); string(got) != "begin" || err != tt.want {
			t.Errorf("got %q, %v; want %v", got, err, tt.want)
		}
	}
}

// Without Keep the spool of another run stays.
func TestSpoolBesideAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spool")
	if err := os.WriteFile(path, []byte("of another run"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := NewSpool(strings.NewReader("mine"), path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(s); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Close(), s.Remove()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); string(got) != "of another run" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	if left, _ := filepath.Glob(path + "*"); len(left) != 1 {
		t.Errorf("there are %v", left)
	}
}

// The next spool removes the hidden file of a killed run.
func TestSpoolAfterAKill(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		s, err := NewSpool(strings.NewReader("a longer text"), filepath.Join(dir, "spool"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(s); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil { // as in a killed run, neither Keep nor Remove follows
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("there are %v, %v", left, err)
	}
}

func TestSpoolCannotBeMade(t *testing.T) {
	if _, err := NewSpool(strings.NewReader(""), filepath.Join(t.TempDir(), "no", "spool")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}
