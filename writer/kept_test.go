package writer

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder of two runs, of which the second keeps the parts of the first, is equal to the folder of a single run.
func TestFolderGoesOnAfterKeptParts(t *testing.T) {
	row := func(record int64) Row {
		return Row{Record: record, Input: "x", Status: StatusEmpty, Classification: "c"}
	}
	write := func(dir string, kept []File, from, to int64) []File {
		var published []File
		s, err := Open(t.Context(), Options{Path: dir, Folder: true, Format: CSV, PartRows: 2, Kept: kept, OnPart: func(f File) error {
			published = append(published, f)
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		for r := from; r <= to; r++ {
			if err := s.Write([]Row{row(r)}); err != nil {
				t.Fatal(err)
			}
		}
		p, err := s.Close()
		if err != nil {
			t.Fatal(err)
		}
		if want := len(kept) + len(published); len(p.Files) != want {
			t.Errorf("%d files are published, want %d", len(p.Files), want)
		}
		return published
	}
	for _, records := range []int64{4, 5, 8} {
		whole, twice := filepath.Join(t.TempDir(), "out"), filepath.Join(t.TempDir(), "out")
		write(whole, nil, 1, records)
		first := write(twice, nil, 1, 4)
		write(twice, first, 5, records)
		want, err := os.ReadDir(whole)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadDir(twice)
		if err != nil || len(got) != len(want) {
			t.Fatalf("%d records: %d files, want %d (%v)", records, len(got), len(want), err)
		}
		for _, e := range want {
			a, errA := os.ReadFile(filepath.Join(whole, e.Name()))
			b, errB := os.ReadFile(filepath.Join(twice, e.Name()))
			if errA != nil || errB != nil || string(a) != string(b) {
				t.Errorf("%d records: %s is %q, want %q", records, e.Name(), b, a)
			}
		}
	}
}
