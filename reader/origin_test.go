package reader

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// aged writes a file with a modification time one hour ago, so that a change now changes the time.
func aged(t *testing.T, content string) string {
	t.Helper()
	path := writeFile(t, "list.csv", content)
	hourAgo := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, hourAgo, hourAgo); err != nil {
		t.Fatal(err)
	}
	return path
}

func writeAt(t *testing.T, path, text string, offset int64) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte(text), offset); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// The file changes after its first record was read, and long before its end.
func TestFileThatChangesWhileItIsRead(t *testing.T) {
	content := "domain\n" + strings.Repeat("a.com\n", 200_000)
	size := int64(len(content))
	tests := []struct {
		name    string
		change  func(t *testing.T, path string) error
		want    string // text of the error; "" for none
		records int64  // number of records read without an error
	}{
		{"cut to nothing", func(t *testing.T, path string) error { return os.Truncate(path, 0) }, "had 1200007 bytes and was cut, to 0 at last", 0},
		{"cut behind what is read", func(t *testing.T, path string) error { return os.Truncate(path, size-60) }, "was cut, to 1199947 at last", 0},
		{"cut and written again", func(t *testing.T, path string) error {
			return os.WriteFile(path, []byte(strings.ReplaceAll(content, "a", "b")), 0)
		}, "was written over", 0},
		{"written over before what is read", func(t *testing.T, path string) error { writeAt(t, path, "b", 7); return nil }, "was written over", 0},
		{"written over and appended to", func(t *testing.T, path string) error {
			writeAt(t, path, "b", 7)
			writeAt(t, path, "c.com\n", size)
			return nil
		}, "was written over", 0},
		{"written over behind what is read", func(t *testing.T, path string) error { writeAt(t, path, "b", size-6); return nil }, "", 200_000},
		{"written anew as it was", func(t *testing.T, path string) error { writeAt(t, path, content, 0); return nil }, "", 200_000},
		{"another time of modification", func(t *testing.T, path string) error { return os.Chtimes(path, time.Now(), time.Now()) }, "", 200_000},
		{"appended to before its end is read", func(t *testing.T, path string) error { writeAt(t, path, "c.com\n", size); return nil }, "", 200_001},
		{"replaced", func(t *testing.T, path string) error { return os.Rename(aged(t, "domain\nb.com\n"), path) }, "", 200_000},
		{"removed", func(t *testing.T, path string) error { return os.Remove(path) }, "", 200_000},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if runtime.GOOS == "windows" && (test.name == "replaced" || test.name == "removed") {
				t.Skip("Windows neither replaces nor removes an open file")
			}
			path := aged(t, content)
			checkChange(t, Options{Paths: []string{path}}, path, func() error { return test.change(t, path) }, test.want, test.records)

			path = aged(t, content)
			stdin, err := os.Open(path) // a redirection is a file, too
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			checkChange(t, Options{Paths: []string{"-"}, Stdin: stdin}, "-", func() error { return test.change(t, path) }, test.want, test.records)
		})
	}
}

func checkChange(t *testing.T, o Options, name string, change func() error, want string, records int64) {
	t.Helper()
	o.Candidates = candidates
	r := openReader(t, o)
	if _, err := r.Read(); err != nil {
		t.Fatal(err)
	}
	if err := change(); err != nil {
		t.Fatal(err)
	}
	more, err := drain(r)
	if want == "" {
		if err != io.EOF || more+1 != records {
			t.Errorf("%s: %d records, %v, want %d", name, more+1, err, records)
		}
		return
	}
	var changed *ChangedError
	if !errors.As(err, &changed) || changed.File != name || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want a ChangedError with %q", name, err, want)
	}
	if r.Files()[0].Whole {
		t.Errorf("%s: counts as read to its end", name)
	}
}

// growing is a file that grows right after its end was read.
type growing struct {
	*os.File
	more string
}

func (g *growing) Read(p []byte) (int, error) {
	n, err := g.File.Read(p)
	if err == io.EOF && g.more != "" {
		if _, err := g.File.WriteString(g.more); err != nil {
			return n, err
		}
		g.more = ""
	}
	return n, err
}

func TestFileThatGrowsAfterItsEnd(t *testing.T) {
	tests := []struct{ name, content, more, want, log string }{
		{"by lines", "domain\na.com\n", "b.com\n", "", "read_bytes=13 appended_bytes=6\n"},
		{"by a line without end", "domain\na.com\n", "b.c", "", "read_bytes=13 appended_bytes=3\n"},
		{"in its last line", "domain\na.c", "om\n", "had a last line without a line end, and was appended to", ""},
		{"compressed", gzipped(t, "domain\na.com\n"), gzipped(t, "b.com\n"), "", "appended_bytes="},
		{"compressed, in its last line", gzipped(t, "domain\na.c"), gzipped(t, "om\n"), "had a last line without a line end", ""},
		{"by nothing", "domain\na.c", "", "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, err := os.OpenFile(aged(t, test.content), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			var log bytes.Buffer
			r := openReader(t, Options{Paths: []string{"-"}, Stdin: &growing{f, test.more}, Columns: []string{"domain"}, Log: slog.New(slog.NewTextHandler(&log, nil))})
			records, err := drain(r)
			var changed *ChangedError
			switch {
			case test.want == "" && (records != 1 || err != io.EOF):
				t.Errorf("%d records, %v", records, err)
			case test.want != "" && (!errors.As(err, &changed) || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %s", err, test.want)
			}
			if got := log.String(); (got == "") != (test.log == "") || !strings.Contains(got, test.log) {
				t.Errorf("the log has %q, want %q", got, test.log)
			}
		})
	}
}

// Bytes of standard input that the shell has read are not part of the input.
func TestRedirectionReadInPart(t *testing.T) {
	f, err := os.OpenFile(aged(t, "a comment\ndomain\na.com\n"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Seek(10, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	r := openReader(t, Options{Paths: []string{"-"}, Stdin: &growing{f, "b.com\n"}, Candidates: candidates})
	if records, err := drain(r); records != 1 || err != io.EOF {
		t.Errorf("%d records, %v", records, err)
	}
}

func TestEmptyInputs(t *testing.T) {
	list := writeFile(t, "list.csv", "domain\na.com\nb.com\n")
	tests := []struct{ name, content string }{
		{"a.csv", ""}, {"a.jsonl", ""}, {"a.txt", ""}, {"a.dat", ""}, {"a.csv.gz", gzipped(t, "")},
		{"a.csv", "domain,title\n"}, {"a.csv", "\ufeff"}, {"a.csv", "\n\r\n"}, {"a.csv", "sep=;\ndomain;title\n"},
		{"a.jsonl", "\n \n"}, {"a.txt", "# a comment\n\n"}, {"a.csv.zst", zstdCompressed(t, "domain\n")},
	}
	for _, test := range tests {
		path := writeFile(t, test.name, test.content)
		var log bytes.Buffer
		o := Options{Paths: []string{path}, Candidates: candidates, Comment: "#", Log: slog.New(slog.NewTextHandler(&log, nil))}
		r := openReader(t, o)
		for range 2 { // Empty can be called again
			if !r.Empty() {
				t.Errorf("%s %q is not empty", test.name, test.content)
			}
		}
		if _, err := r.Read(); err != io.EOF || strings.Count(log.String(), "the input has no records") != 1 {
			t.Errorf("%s %q: %v, the log has %q", test.name, test.content, err, log.String())
		}

		o.Paths = []string{path, list}
		r = openReader(t, o)
		for range 2 {
			if r.Empty() {
				t.Errorf("%s %q before another file: empty", test.name, test.content)
			}
		}
		if summary(readAll(t, r)) != "2 a.com\n3 b.com\n" {
			t.Errorf("%s %q before another file: records lost", test.name, test.content)
		}
	}
}

// An empty file may get any extra column.
func TestColumnsOfAnEmptyFile(t *testing.T) {
	for _, name := range []string{"a.csv", "a.jsonl", "a.dat"} {
		r := openReader(t, Options{Paths: []string{writeFile(t, name, "\n")}, Candidates: candidates, ExtraColumns: []string{"id"}})
		if got := strings.Join(r.Columns(), ","); got != "id" || !r.Empty() {
			t.Errorf("%s: columns %s", name, got)
		}
	}
}

func TestEmptyLeavesErrorsToRead(t *testing.T) {
	broken := errors.New("broken")
	r := openReader(t, Options{Paths: []string{"-"}, Stdin: io.MultiReader(strings.NewReader("domain\n"+strings.Repeat("#\n", 100_000)), iotest.ErrReader(broken)), Format: "txt", Comment: "#"})
	if r.Empty() {
		t.Error("what is broken is not known to be empty")
	}
	if rec, err := r.Read(); rec.Input != "domain" || err != nil {
		t.Errorf("got %q, %v", rec.Input, err)
	}
	if _, err := r.Read(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if r.Empty() {
		t.Error("what is broken is not known to be empty")
	}
}
