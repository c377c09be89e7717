package pipeline

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/reader"
)

// The count of lines is never less than the number of records.
func TestCountLines(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("a\nb\n"))
	_ = z.Close()
	dir := t.TempDir()
	for name, tt := range map[string]struct {
		content string
		most    int64
		ok      bool
	}{
		"whole lines":                           {"a\nb\nc\n", 4, true},
		"no last end":                           {"a\nb", 2, true},
		"CR alone":                              {"a\rb\rc", 3, true},
		"empty":                                 {"", 1, true},
		"gzip":                                  {packed.String(), 0, false},
		"zstd":                                  {"\x28\xb5\x2f\xfd\x00\n\n\n", 0, false},
		"zstd that begins with a frame to skip": {"\x51\x2a\x4d\x18\x00\n\n\n", 0, false},

		"large": {string(bytes.Repeat([]byte("0123456789abcde\n"), 100_000)), 100_001, true},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(tt.content), 0o666); err != nil {
			t.Fatal(err)
		}
		if most, ok := countLines(path); most != tt.most || ok != tt.ok {
			t.Errorf("%s: got %d, %v; want %d, %v", name, most, ok, tt.most, tt.ok)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "*.csv")} {
		if _, ok := countLines(path); ok {
			t.Errorf("%s has been counted", path)
		}
	}
}

// Each classification is asked for, and each record of a line. Other files have more records than lines.
func TestMostRequests(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("a\nb\n"))
	_ = z.Close()
	for name, tt := range map[string]struct {
		content, classification string
		limit, want             int64 // want is 0 if it is not known
	}{
		"one classification":  {"a\nb\nc", "naics", 0, 3},
		"two classifications": {"a\nb\nc", "taxonomy_v3,naics", 0, 6},
		"a lower limit":       {"a\nb\nc", "taxonomy_v3,naics", 2, 4},
		"a higher limit":      {"a\nb\nc", "taxonomy_v3,naics", 9, 6},
		"lines of JSON":       {`"a"` + "\n" + `"b"`, "naics", 0, 2},
		"a JSON array":        {`["a","b","c"]`, "naics", 0, 0},
		"gzip":                {packed.String(), "naics", 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "in")
			if err := os.WriteFile(path, []byte(tt.content), 0o666); err != nil {
				t.Fatal(err)
			}
			input, err := reader.Open(reader.Options{Paths: []string{path}})
			if err != nil {
				t.Fatal(err)
			}
			defer input.Close()
			s := Session{options: SessionOptions{Classifications: strings.Split(tt.classification, ","), Requested: record.Requested{Limit: tt.limit}}}
			s.input.Store(input)
			if most, ok := s.mostRequests(); ok != (tt.want > 0) || ok && most != tt.want {
				t.Errorf("%d, %t; want %d", most, ok, tt.want)
			}
		})
	}
}

func TestCountRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.csv")
	text := "title\n" + strings.Repeat("shoe\n\"a\nb\"\n", 2000)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	o := reader.Options{Paths: []string{path}, Columns: []string{"title"}}
	if n, ok := countRecords(t.Context(), o, 0); !ok || n != 4000 {
		t.Errorf("got %d, %t", n, ok)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := countRecords(ctx, o, 0); ok {
		t.Error("a count that was ended is taken for the number")
	}
}
