package reader

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// candidates are the candidates of the command line for websites.
var candidates = []string{"domain", "url", "website"}

// writeFile writes one file into a new folder and returns its path.
func writeFile(t testing.TB, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// fromString returns options with content as standard input.
func fromString(content string, o Options) Options {
	o.Paths = []string{"-"}
	o.Stdin = strings.NewReader(content)
	return o
}

func openReader(t testing.TB, o Options) *Reader {
	t.Helper()
	r, err := Open(t.Context(), o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func readAll(t testing.TB, r *Reader) []Record {
	t.Helper()
	var records []Record
	for {
		rec, err := r.Read()
		if err == io.EOF {
			return records
		}
		if err != nil {
			t.Fatalf("Read, after %d records: %v", len(records), err)
		}
		records = append(records, rec)
	}
}

// summary has a line per record: "LINE INPUT", or "LINE! REASON" for a malformed record.
func summary(records []Record) string {
	var b strings.Builder
	for _, rec := range records {
		line := strings.TrimPrefix(place(rec.File, rec.Line), displayName(rec.File)+":")
		if rec.Err != nil {
			b.WriteString(line + "! " + rec.Err.(*RowError).Reason + "\n")
			continue
		}
		b.WriteString(line + " " + rec.Input + "\n")
	}
	return b.String()
}

func gzipped(t testing.TB, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zstdCompressed(t testing.TB, content string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(content), nil))
}
