package readback

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestListFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"part-00002.csv", "part-00010.csv", "part-00001.csv", "_SUCCESS", "_manifest.json", ".hidden", "notes.txt", "part-00001.exe",
		"shard=02-of-2/part-00001.csv", "shard=02-of-2/_SUCCESS", "shard=01-of-2/part-00001.csv", "shard=01-of-2/other",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := ListFolder(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range f.Parts {
		rel, _ := filepath.Rel(dir, p.Path)
		got = append(got, filepath.ToSlash(rel))
	}
	want := []string{"part-00001.csv", "part-00002.csv", "part-00010.csv", "shard=01-of-2/part-00001.csv", "shard=02-of-2/part-00001.csv"}
	if !slices.Equal(got, want) || len(f.Others) != 3 || !f.Complete {
		t.Errorf("parts %q, others %q, complete %t", got, f.Others, f.Complete)
	}
	if err := os.Remove(filepath.Join(dir, "_SUCCESS")); err != nil {
		t.Fatal(err)
	}
	if f, err = ListFolder(t.Context(), dir); err != nil || f.Complete {
		t.Errorf("complete %t although a shard is not: %v", f.Complete, err)
	}
}
