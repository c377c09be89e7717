package attempts

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/reader"
)

func row(input string) Row {
	cost := money.Amount(2_000_000)
	return Row{Time: time.Date(2026, 1, 2, 3, 4, 5, 678_000, time.UTC), Input: input, Classification: "naics", Status: "answered", Milliseconds: 12.345, Attempt: 1, Cost: &cost}
}

// write opens a log, adds inputs and closes it.
func write(t *testing.T, path, run string, inputs ...string) {
	t.Helper()
	l, err := Open(path, run, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, input := range inputs {
		if err := l.Append(row(input)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// inputsOf reads a table.
func inputsOf(t *testing.T, path string) string {
	t.Helper()
	r, err := reader.Open(t.Context(), reader.Options{Paths: []string{path}, Columns: []string{"input"}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var inputs []string
	for {
		record, err := r.Read()
		if err != nil {
			return strings.Join(inputs, " ")
		}
		inputs = append(inputs, record.Input)
		if got := strings.Join(record.Fields, "|"); !strings.Contains(got, "|naics|answered|12.345|1|0.002") || !strings.HasPrefix(got, "2026-01-02") {
			t.Errorf("%s: the row %q", path, got)
		}
	}
}

func TestTables(t *testing.T) {
	for _, extension := range []string{".csv", ".jsonl", ".parquet"} {
		path := filepath.Join(t.TempDir(), "requests"+extension)
		write(t, path, "run", "a", "b")
		write(t, path, "run", "c,\"d")
		if got := inputsOf(t, path); got != `a b c,"d` {
			t.Errorf("%s: %q", extension, got)
		}
	}
	if err := Check("requests.txt"); err == nil {
		t.Error("an unknown extension is not refused")
	}
}

// Attempts that the log cannot take are told, even if the table can be written.
func TestLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "requests.csv")
	write(t, path, "run", "a")
	l, err := Open(path, "run", false)
	if err != nil {
		t.Fatal(err)
	}
	whole := l.file
	if l.file, err = os.Open(whole.Name()); err != nil { // writing fails
		t.Fatal(err)
	}
	for _, input := range []string{"b", "c"} {
		if err := l.Append(row(input)); err == nil {
			t.Error("no error of the write")
		}
	}
	if err := l.Close(); err == nil || !strings.Contains(err.Error(), path+" lacks 2 attempts") {
		t.Errorf("got %v", err)
	}
	if err := whole.Close(); err != nil {
		t.Fatal(err)
	}
	if got := inputsOf(t, path); got != "a" {
		t.Errorf("the table has %q", got)
	}
}

// A process may be killed while it writes a line.
func TestCutLines(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "whole.csv")
	write(t, whole, "run", "a", "b")
	text, err := os.ReadFile(whole + logSuffix)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for end := range len(text) + 1 {
		path := filepath.Join(t.TempDir(), "requests.csv")
		if err := os.WriteFile(path+logSuffix, text[:end], 0o666); err != nil {
			t.Fatal(err)
		}
		var want []string
		for i, input := range []string{"a", "b"} {
			if end >= len(strings.Join(lines[:i+2], "")) {
				want = append(want, input)
			}
		}
		write(t, path, "run", "c")
		if got := inputsOf(t, path); got != strings.Join(append(want, "c"), " ") {
			t.Errorf("cut after %d bytes: %q, want %q and c", end, got, want)
		}
	}
}

func TestTaken(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"the log of another run":          {"r.csv.log": `{"attempts_of":"other"}` + "\n"},
		"a table without a log":           {"r.csv": "time\n"},
		"another file under the log":      {"r.csv.log": "started\nended\n"},
		"another file without a line end": {"r.csv.log": "started"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "r.csv")
			for file, text := range files {
				if err := os.WriteFile(filepath.Join(filepath.Dir(path), file), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Open(path, "run", false)
			if _, taken := errors.AsType[*TakenError](err); !taken {
				t.Errorf("got %v", err)
			}
			for file, text := range files {
				if got, err := os.ReadFile(filepath.Join(filepath.Dir(path), file)); err != nil || string(got) != text {
					t.Errorf("%s is %q, %v", file, got, err)
				}
			}
			l, err := Open(path, "run", true)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(l.Append(row("a")), l.Close()); err != nil || inputsOf(t, path) != "a" {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWriteError(t *testing.T) {
	l, err := Open(filepath.Join(t.TempDir(), "r.csv"), "run", false)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.file.Close(); err != nil {
		t.Fatal(err)
	}
	first := l.Append(row("a"))
	if first == nil || l.Append(row("b")) != first {
		t.Errorf("got %v", first)
	}
}
