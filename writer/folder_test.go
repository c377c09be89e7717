package writer

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/writer/disk"
)

// recordRows returns rows of the records 1, 2, ...; counts has the number of rows of each.
func recordRows(counts ...int) []Row {
	var rows []Row
	for i, n := range counts {
		rows = append(rows, slices.Repeat([]Row{{Record: int64(i + 1), Status: StatusOK}}, n)...)
	}
	return rows
}

func TestParts(t *testing.T) {
	tests := []struct {
		name     string
		partRows int64
		rows     []Row
		want     []File // Rows, FirstRecord and LastRecord
	}{
		{"no rows", 10, nil, []File{{}}},
		{"fewer than a part", 10, recordRows(1, 1), []File{{Rows: 2, FirstRecord: 1, LastRecord: 2}}},
		{"exactly a part", 2, recordRows(1, 1), []File{{Rows: 2, FirstRecord: 1, LastRecord: 2}}},
		{"one more", 2, recordRows(1, 1, 1), []File{{Rows: 2, FirstRecord: 1, LastRecord: 2}, {Rows: 1, FirstRecord: 3, LastRecord: 3}}},
		{"a record is not split", 2, recordRows(1, 5, 1), []File{{Rows: 6, FirstRecord: 1, LastRecord: 2}, {Rows: 1, FirstRecord: 3, LastRecord: 3}}},
		{"one record", 2, recordRows(9), []File{{Rows: 9, FirstRecord: 1, LastRecord: 1}}},
		{"a part a record", 1, recordRows(2, 1), []File{{Rows: 2, FirstRecord: 1, LastRecord: 1}, {Rows: 1, FirstRecord: 2, LastRecord: 2}}},
		{"the default", 0, recordRows(3, 3), []File{{Rows: 6, FirstRecord: 1, LastRecord: 2}}},
	}
	for _, tt := range tests {
		for _, batch := range []int{1, 2, 3, 100} {
			t.Run(tt.name, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "out")
				sink := mustOpen(t, Options{Path: path + "/", Folder: true, Format: CSV, PartRows: tt.partRows})
				for rows := range slices.Chunk(tt.rows, batch) {
					mustWrite(t, sink, rows)
				}
				published, err := sink.Close()
				if err != nil {
					t.Fatal(err)
				}
				checkParts(t, path, published, tt.want)
				if published.Rows != int64(len(tt.rows)) {
					t.Errorf("%d rows, want %d", published.Rows, len(tt.rows))
				}
			})
		}
	}
}

func checkParts(t *testing.T, path string, published Published, want []File) {
	t.Helper()
	names := []string{SuccessName}
	var got []File
	for i, f := range published.Files {
		names = append(names, partName(i+1, CSV))
		if f.Path != filepath.Join(path, partName(i+1, CSV)) {
			t.Errorf("part %d is %s", i+1, f.Path)
		}
		data, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		// Every part has a header line.
		if int64(len(data)) != f.Bytes || int64(bytes.Count(data, []byte("\n"))) != f.Rows+1 {
			t.Errorf("part %d has %d bytes and %q, want %+v", i+1, len(data), data, f)
		}
		got = append(got, File{Rows: f.Rows, FirstRecord: f.FirstRecord, LastRecord: f.LastRecord})
	}
	if !slices.Equal(got, want) {
		t.Errorf("parts are %+v, want %+v", got, want)
	}
	if tree := keys(readTree(t, path)); !slices.Equal(tree, names) {
		t.Errorf("the folder has %q, want %q", tree, names)
	}
}

// A run replaces an earlier folder of more parts in another format.
func TestFolderOverAnEarlierOne(t *testing.T) {
	path := t.TempDir()
	earlier := []string{
		SuccessName, "part-00001.csv", "part-00002.csv", "part-00003.parquet", "part-100000.jsonl.zst",
		".part-00007.csv.tmp-8388608-0123456789abcdef",
	}
	foreign := []string{"README.md", "part-1.csv", "part-00001.txt", "part-00001", "apart-00001.csv"}
	for _, name := range slices.Concat(earlier, foreign) {
		if err := os.WriteFile(filepath.Join(path, name), []byte("old"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	sink := mustOpen(t, Options{Path: path, Folder: true, Format: CSV, PartRows: 1})
	if _, err := os.Stat(filepath.Join(path, SuccessName)); err != nil {
		t.Errorf("no part is replaced yet: %v", err)
	}
	mustWrite(t, sink, recordRows(1, 1))
	if _, err := os.Stat(filepath.Join(path, SuccessName)); err == nil {
		t.Errorf("%s is still there while parts are being replaced", SuccessName)
	}
	if got := readTree(t, path); got["part-00001.csv"] == "old" || got["part-00002.csv"] != "old" {
		t.Error("a part is published when it is full, and not before")
	}
	if _, err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	want := append([]string{SuccessName, "part-00001.csv", "part-00002.csv"}, foreign...)
	slices.Sort(want)
	if got := keys(readTree(t, path)); !slices.Equal(got, want) {
		t.Errorf("there are %q, want %q", got, want)
	}
}

func TestFolderAbortKeepsWholeParts(t *testing.T) {
	path := t.TempDir()
	sink := mustOpen(t, Options{Path: path, Folder: true, PartRows: 1})
	mustWrite(t, sink, recordRows(1, 1))
	if err := sink.Abort(); err != nil {
		t.Fatal(err)
	}
	tree := readTree(t, path)
	if got := strings.Join(keys(tree), " "); got != "part-00001.parquet" {
		t.Fatalf("there are %s", got)
	}
	if n := openParquet(t, []byte(tree["part-00001.parquet"])).NumRows(); n != 1 {
		t.Errorf("the part has %d rows, want 1", n)
	}
}

// A run that ends before its first part leaves a complete folder as it was.
func TestFolderAbortWithoutParts(t *testing.T) {
	path := t.TempDir()
	options := Options{Path: path, Folder: true, PartRows: 2}
	sink := mustOpen(t, options)
	mustWrite(t, sink, recordRows(1))
	if _, err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	before := readTree(t, path)
	sink = mustOpen(t, options)
	mustWrite(t, sink, recordRows(2))
	if err := sink.Abort(); err != nil {
		t.Fatal(err)
	}
	if after := readTree(t, path); !maps.Equal(before, after) {
		t.Errorf("the folder had %q, and has %q", keys(before), keys(after))
	}
}

// Engines that read a folder pass over names that begin with "_" or ".". All other names are those of whole parts.
func TestFolderHelperFilesAreHidden(t *testing.T) {
	fsys, path := new(faultFS), filepath.Join(t.TempDir(), "out")
	sink, err := Open(t.Context(), Options{Storage: fsys, Path: path, Folder: true, PartRows: 1, OnPart: func(File) error {
		return disk.PublishIn(t.Context(), fsys, filepath.Join(path, "_manifest.json"), []byte("{}"))
	}})
	if err != nil {
		t.Fatal(err)
	}
	mustWrite(t, sink, recordRows(1, 1, 1))
	if _, err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	created := 0
	for _, operation := range fsys.log {
		op, name, _ := strings.Cut(operation, " ")
		name = filepath.Base(name)
		hidden := name[0] == '_' || name[0] == '.'
		_, _, isPart := PartOf(name)
		switch {
		case op == "create" && name[0] != '.':
			t.Errorf("%s is created under a name that engines read", name)
		case op == "rename" && !hidden && !isPart:
			t.Errorf("%s is published under a name that engines read", name)
		case op == "create":
			created++
		}
	}
	if want := 3 + 3 + 1; created != want { // parts, manifests, _SUCCESS
		t.Errorf("%d files are created, want %d", created, want)
	}
}
