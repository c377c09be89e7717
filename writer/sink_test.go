package writer

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/bulkcat/bulkcat/writer/disk"
)

func TestSingleFile(t *testing.T) {
	rows := flattenAll(typicalSchema, typicalResults(100))
	for _, format := range allFormats {
		t.Run(string(format), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out."+string(format))
			if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
				t.Fatal(err)
			}
			sink := mustOpen(t, Options{Path: path, Schema: typicalSchema})
			mustWrite(t, sink, rows)
			if data, _ := os.ReadFile(path); string(data) != "old" {
				t.Error("the earlier file is touched before Close")
			}
			published, err := sink.Close()
			if err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(data, encodeAll(t, format, typicalSchema, rows)) {
				t.Error("the file is not what the encoder made")
			}
			sum := sha256.Sum256(data)
			want := File{
				Path: path, Bytes: int64(len(data)), SHA256: hex.EncodeToString(sum[:]),
				Rows: int64(len(rows)), FirstRecord: 1, LastRecord: 100,
			}
			if len(published.Files) != 1 || published.Files[0] != want || published.Rows != want.Rows {
				t.Errorf("published %+v, want %+v", published, want)
			}
			if got := keys(readTree(t, filepath.Dir(path))); len(got) != 1 {
				t.Errorf("beside the output there is something else: %q", got)
			}
		})
	}
}

func TestAbortLeavesTheEarlierFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	sink := mustOpen(t, Options{Path: path})
	mustWrite(t, sink, make([]Row, 10_000))
	if err := sink.Abort(); err != nil {
		t.Fatal(err)
	}
	if got := readTree(t, dir); len(got) != 1 || got["out.csv"] != "old" {
		t.Errorf("after Abort there are %q", keys(got))
	}
}

func TestSinkAfterItsEnd(t *testing.T) {
	tests := []struct {
		name string
		end  func(Sink) error
	}{
		{"Close", func(s Sink) error { _, err := s.Close(); return err }},
		{"Abort", Sink.Abort},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sink := mustOpen(t, Options{Path: filepath.Join(t.TempDir(), "out.csv")})
			if err := tt.end(sink); err != nil {
				t.Fatal(err)
			}
			if err := sink.Write(nil); !errors.Is(err, ErrClosed) {
				t.Errorf("Write returns %v", err)
			}
			if _, err := sink.Close(); !errors.Is(err, ErrClosed) {
				t.Errorf("Close returns %v", err)
			}
			if err := sink.Abort(); err != nil {
				t.Errorf("Abort returns %v", err)
			}
		})
	}
}

func TestErrorText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.parquet")
	fsys := &faultFS{failAt: 6, err: syscall.ENOSPC} // after three stats, a readdir and a create
	sink, err := Open(t.Context(), Options{Storage: fsys, Path: path})
	if err != nil {
		t.Fatal(err)
	}
	mustWrite(t, sink, make([]Row, 10))
	_, err = sink.Close()
	if !errors.Is(err, syscall.ENOSPC) || err.Error() != "writing "+path+": no space left on device" {
		t.Errorf("Close returns %v", err)
	}
	if err := sink.Write(nil); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the next Write returns %v", err)
	}
	if _, err := sink.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the next Close returns %v", err)
	}
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file.csv"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.csv"), 0o777); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		options Options
		is      error  // errors.Is reports it
		mention string // part of its text
	}{
		{"no path", Options{Format: CSV}, nil, "no name"},
		{"no folder", Options{Path: "missing/out.csv"}, fs.ErrNotExist, "missing must be created first"},
		{"no folder for a folder", Options{Path: "missing/out", Folder: true}, fs.ErrNotExist, "missing must be created first"},
		{"a file for a folder", Options{Path: "file.csv/out.csv"}, syscall.ENOTDIR, "out.csv"},
		{"a folder for a file", Options{Path: "folder.csv"}, syscall.EISDIR, "folder.csv"},
		{"a file where a folder is to be", Options{Path: "file.csv", Folder: true}, syscall.ENOTDIR, "not a folder"},
		{"a device", Options{Path: os.DevNull, Format: CSV}, nil, "device"},
		{"too long a name", Options{Path: strings.Repeat("x", 250) + ".csv"}, syscall.ENAMETOOLONG, "xxx.csv"},
		{"too many columns", Options{Path: "out.parquet", Schema: Schema{Carry: make([]string, 1<<16)}}, nil, "carry fewer"},
	}
	for _, tt := range tests {
		if tt.is == syscall.ENAMETOOLONG && runtime.GOOS == "windows" {
			tt.is = nil // Windows has no error of its own for it
		}
		t.Run(tt.name, func(t *testing.T) {
			if tt.options.Path != "" && !filepath.IsAbs(tt.options.Path) {
				tt.options.Path = filepath.Join(dir, tt.options.Path)
			}
			sink, err := Open(t.Context(), tt.options)
			var typed *disk.Error
			if sink != nil || !errors.As(err, &typed) || typed.Op != "opening" {
				t.Fatalf("Open returns %v, %v", sink, err)
			}
			if tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.mention) {
				t.Errorf("the error is %q", err)
			}
		})
	}
	if got := keys(readTree(t, dir)); len(got) != 1 {
		t.Errorf("failed Opens left %q", got)
	}
}

func TestOpenFormats(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name    string
		options Options
		want    []string // prefixes of the files; none for a FormatError
	}{
		{"by extension", Options{Path: "a.jsonl"}, []string{"a.jsonl"}},
		{"by name", Options{Path: "b.txt", Format: "CSV"}, []string{"b.txt"}},
		{"a folder holds Parquet", Options{Path: "c", Folder: true}, []string{"c/_SUCCESS", "c/part-00001.parquet"}},
		{"a folder by extension", Options{Path: "d.csv", Folder: true}, []string{"d.csv/_SUCCESS", "d.csv/part-00001.csv"}},
		{"a folder by name", Options{Path: "e", Folder: true, Format: "jsonl.gz"}, []string{"e/_SUCCESS", "e/part-00001.jsonl.gz"}},
		{"unknown extension", Options{Path: "f.txt"}, nil},
		{"unknown name", Options{Path: "g.csv", Format: "xml"}, nil},
		{"a stream without a format", Options{Path: "-"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			base := tt.options.Path
			if base != "-" {
				tt.options.Path = filepath.Join(dir, base)
			}
			sink, err := Open(t.Context(), tt.options)
			if tt.want == nil {
				var formatErr *FormatError
				if !errors.As(err, &formatErr) {
					t.Errorf("Open returns %v, want a FormatError", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if _, err := sink.Close(); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, name := range keys(readTree(t, dir)) {
				if name == base || strings.HasPrefix(name, base+"/") {
					got = append(got, name)
				}
			}
			if strings.Join(got, " ") != strings.Join(tt.want, " ") {
				t.Errorf("there are %q, want %q", got, tt.want)
			}
		})
	}
}

func mustOpen(t *testing.T, o Options) Sink {
	t.Helper()
	sink, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sink.Abort() })
	return sink
}

func mustWrite(t *testing.T, sink Sink, rows []Row) {
	t.Helper()
	if err := sink.Write(rows); err != nil {
		t.Fatal(err)
	}
}
