package readback

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
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

// In the folder of all shards, a part of no shard and a shard of another split are Others. A shard is missing if the folder was
// complete.
func TestListFolderOfShards(t *testing.T) {
	dir := t.TempDir()
	if err := runfiles.StartShards(t.Context(), dir, account.Shard{Number: 1, Count: 2}, new(account.Account)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"part-00001.csv", "shard=01-of-2/part-00001.csv", "shard=01-of-2/_SUCCESS", "shard=01-of-3/part-00001.csv"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	for _, wasComplete := range []bool{false, true} {
		f, err := ListFolder(t.Context(), dir)
		if err != nil || len(f.Parts) != 1 || len(f.Others) != 2 || f.Complete != wasComplete || (len(f.Missing) == 1) != wasComplete {
			t.Errorf("complete before: %t: got %+v, %v", wasComplete, f, err)
		}
		if err := os.WriteFile(filepath.Join(dir, "_SUCCESS"), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
