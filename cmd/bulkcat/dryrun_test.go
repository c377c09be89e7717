package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

// What the account must have is never taken for less than it is.
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
		"whole lines": {"a\nb\nc\n", 4, true},
		"no last end": {"a\nb", 2, true},
		"CR alone":    {"a\rb\rc", 3, true},
		"empty":       {"", 1, true},
		"gzip":        {packed.String(), 0, false},
		"zstd":        {"\x28\xb5\x2f\xfd\x00\n\n\n", 0, false},
		"large":       {string(bytes.Repeat([]byte("0123456789abcde\n"), 100_000)), 100_001, true},
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
