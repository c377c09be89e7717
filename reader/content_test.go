package reader

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// refusedFile returns a file that another program has written: see scripts/fixtures/refused.py.
func refusedFile(t testing.TB, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata/refused", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// written returns the bytes that write writes.
func written(t testing.TB, write func(w io.Writer) error) string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// zippedFiles returns a zip archive of names, each with its content behind. A file mimetype is not compressed.
func zippedFiles(t testing.TB, files ...string) string {
	return written(t, func(w io.Writer) error {
		z := zip.NewWriter(w)
		for i := 0; i < len(files); i += 2 {
			header := &zip.FileHeader{Name: files[i], Method: zip.Deflate}
			if strings.HasPrefix(files[i], "mimetype") {
				header.Method = zip.Store
			}
			f, err := z.CreateHeader(header)
			if err != nil {
				return err
			}
			io.WriteString(f, files[i+1])
		}
		return z.Close()
	})
}

// A zip archive with one list is read as the list, in little memory; others are refused.
func TestZippedList(t *testing.T) {
	const list, other = "domain,n\na.com,1\nb.com,2\n", "a note\n"
	damaged := []byte(zippedFiles(t, "list.csv", list))
	damaged[bytes.Index(damaged, []byte("PK\x01\x02"))+16] ^= 1 // a byte of the checksum
	secret := []byte(zippedFiles(t, "list.csv", list))
	secret[bytes.Index(secret, []byte("PK\x01\x02"))+8] |= 1
	for _, test := range []struct{ name, content, want string }{
		{"a list", zippedFiles(t, "list.csv", list), "2 a.com\n3 b.com\n"},
		{"a list of tabs in a folder", zippedFiles(t, "x/", "", "x/list.tsv", strings.ReplaceAll(list, ",", "\t")), "2 a.com\n3 b.com\n"},
		{"a list without an extension", zippedFiles(t, "list", list), "2 a.com\n3 b.com\n"},
		{"JSON", zippedFiles(t, "list.json", `[{"domain":"a.com"}]`), "1 a.com\n"},
		{"compressed", zippedFiles(t, "list.csv.gz", gzipped(t, list)), "2 a.com\n3 b.com\n"},
		{"not compressed", zippedFiles(t, "mimetype.csv", list), "2 a.com\n3 b.com\n"},
		{"beside other files", zippedFiles(t, "__MACOSX/._list.csv", "x", "README.txt", other, "logo.png", "x", "list.csv", list, ".DS_Store", "x"), "2 a.com\n3 b.com\n"},
		{"several lists", zippedFiles(t, "b.csv", list, "c.csv", list), "is a zip archive of several lists (b.csv, c.csv), not a list; unpack it"},
		{"no list", zippedFiles(t, "a.png", "x", "b.png", "x"), "is a zip archive without a list"},
		{"an Excel file", zippedFiles(t, "list.xlsx", zippedFiles(t, "_rels/.rels", "")), "list.xlsx is a zip archive, not a list; unpack it"},
		{"an archive", zippedFiles(t, "list.zip", zippedFiles(t, "list.csv", list)), "list.zip is a zip archive, not a list"},
		{"a damaged archive", string(damaged), "the checksum of the list is wrong"},
		{"a password", string(secret), "is a zip archive with a password"},
	} {
		t.Run(test.name, func(t *testing.T) {
			wantRefused(t, fromString(test.content, Options{}), "-", "is a")
			got := ""
			r, err := Open(t.Context(), Options{Paths: []string{writeFile(t, "in.zip", test.content)}, Candidates: candidates})
			if err == nil {
				defer r.Close()
				var records []Record
				for err == nil {
					var record Record
					if record, err = r.Read(); err == nil {
						records = append(records, record)
					}
				}
				got = summary(records)
			}
			if err == io.EOF && got == test.want {
				if info := r.Files()[0]; info.Bytes != int64(len(test.content)) || info.SHA256 != sha256Of(test.content) {
					t.Errorf("the file is %+v", info)
				}
				return
			}
			if err == nil || err == io.EOF || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %q and %v, want %q", got, err, test.want)
			}
		})
	}
}

func sha256Of(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// Content that is no list is refused under any name and format, from a file and from a pipe, and within gzip.
func TestOtherKindsAreRefused(t *testing.T) {
	const list = "domain\na.com\n"
	picture := image.NewGray(image.Rect(0, 0, 32, 32))
	tarred := written(t, func(w io.Writer) error {
		tw := tar.NewWriter(w)
		tw.WriteHeader(&tar.Header{Name: "list.csv", Mode: 0o644, Size: int64(len(list))})
		io.WriteString(tw, list)
		return tw.Close()
	})
	noise := make([]byte, 3000)
	for i, source := 0, rand.NewChaCha8([32]byte{}); i < len(noise); i++ {
		noise[i] = byte(source.Uint64())
	}
	parquet := refusedFile(t, "list.parquet")
	tests := []struct{ kind, content, want string }{
		{"OpenDocument", zippedFiles(t, "mimetype", "application/vnd.oasis.opendocument.spreadsheet", "content.xml", "<x/>"), "an OpenDocument file, such as .ods, not a list; save it as CSV or .xlsx"},
		{"empty zip", written(t, func(w io.Writer) error { return zip.NewWriter(w).Close() }), "an empty zip archive"},
		{"tar", tarred, "a tar archive, not a list; unpack it"},
		{"bzip2", refusedFile(t, "list.bzip2"), "a bzip2 file, not a list; unpack it with bunzip2"},
		{"xz", refusedFile(t, "list.xz"), "an xz file, not a list; unpack it with unxz"},
		{"SQLite", refusedFile(t, "list.sqlite"), "an SQLite database, not a list; export the table"},
		{"Avro", refusedFile(t, "list.avro"), "an Avro file, not a list; convert it"},
		{"ORC", refusedFile(t, "list.orc"), "an ORC file, not a list; convert it"},
		{"Arrow", refusedFile(t, "list.arrow"), "an Arrow file, not a list; convert it"},
		{"PDF", "%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n", "a PDF document, not a list; extract the list"},
		{"PNG", written(t, func(w io.Writer) error { return png.Encode(w, picture) }), "an image"},
		{"JPEG", written(t, func(w io.Writer) error { return jpeg.Encode(w, picture, nil) }), "an image"},
		{"GIF", written(t, func(w io.Writer) error { return gif.Encode(w, picture, nil) }), "an image"},
		{"XML", "<?xml version=\"1.0\"?>\n<sites><site>a.com</site></sites>\n", "an XML document"},
		{"web page", "<!doctype html><title>Not found</title>", "a web page, not a list; fetch the list itself"},
		{"Parquet without its end", cut(parquet, 20), "Parquet file"},
		{"Parquet without its beginning", parquet[40:], "binary data, not a list"},
		{"random bytes", string(noise), "binary data, not a list"},
	}
	for _, test := range tests {
		t.Run(test.kind, func(t *testing.T) {
			for _, name := range []string{"in", "in.csv", "in.jsonl", "in.txt", "in.csv.gz"} {
				content := test.content
				if strings.HasSuffix(name, ".gz") {
					content = gzipped(t, content)
				}
				for _, format := range []string{"", "csv", "txt"} {
					path := writeFile(t, name, content)
					o := Options{Paths: []string{path}, Format: format, Candidates: candidates}
					wantRefused(t, o, path, test.want)
					wantRefused(t, fromString(content, o), "-", test.want)
				}
			}
		})
	}
}

func wantRefused(t *testing.T, o Options, file, want string) {
	t.Helper()
	r, err := Open(t.Context(), o)
	if err == nil {
		r.Close()
	}
	unsupported, ok := errors.AsType[*UnsupportedError](err)
	if !ok || unsupported.File != file || unsupported.Advice == "" || !strings.Contains(err.Error(), want) {
		t.Errorf("%s, format %q: got %v, want an UnsupportedError with %q", file, o.Format, err, want)
	}
}

// Lists whose first letters are those of another kind are read.
func TestListsLikeOtherKinds(t *testing.T) {
	for _, title := range []string{
		"PAR16 LED lamp", "ORCHID pot, 12 cm", "BMX bicycle", "GIF8 stickers", "BZh9 cable", "PK zip lock", "ARROW1 darts", "MMA gloves", "Rar! energy drink",
		"tea\x1f", strings.Repeat("long title ", 30) + "\x00",
	} {
		r := openReader(t, fromString(title+"\nb\n", Options{Format: "txt"}))
		if got, want := summary(readAll(t, r)), "1 "+title+"\n2 b\n"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestFolders(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		want  string // the inputs, or a part of the error
	}{
		{"parts", []string{"part-1.csv", "part-0.csv.gz", "_SUCCESS", ".part-0.csv.crc", "_temporary/0/part-2.csv"}, "part-0.csv.gz part-1.csv"},
		{"folders of parts", []string{"year=2026/0.csv", "year=2025/0.csv", "year=2025/.x/1.csv"}, "year=2025/0.csv year=2026/0.csv"},
		{"no parts", []string{"_SUCCESS", ".hidden.csv", "_temporary/part-0.csv"}, "is a folder without parts, not a list"},
		{"nothing", nil, "is a folder without parts, not a list"},
		{"another kind of file", []string{"a.csv", "notes.md"}, "is a folder with files other than lists (notes.md)"},
		{"parts without extensions", []string{"part-00000", "part-00001", "_SUCCESS"}, "part-00000 part-00001"},
		{"parts with and without extensions", []string{"a.csv", "part-00000"}, "is a folder with files other than lists (part-00000)"},
		{"several formats", []string{"a.csv", "b.jsonl"}, "is a folder of files in several formats"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "in")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, name := range test.files {
				path := filepath.Join(dir, name)
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte("domain\na.com\n"), 0o644)); err != nil {
					t.Fatal(err)
				}
			}
			link := filepath.Join(filepath.Dir(dir), "link")
			folders := map[string]string{dir: dir, filepath.Dir(dir) + "/i*": dir, link: link} // by path
			if err := os.Symlink("in", link); err != nil {
				delete(folders, link) // Windows may refuse links
			}
			for path, folder := range folders {
				var got string
				r, err := Open(t.Context(), Options{Paths: []string{path}, Candidates: candidates})
				if err == nil {
					var names []string
					for _, f := range r.Files() {
						name, _ := filepath.Rel(folder, f.Name)
						names = append(names, filepath.ToSlash(name))
					}
					if got = strings.Join(names, " "); got == test.want {
						r.Close()
						continue
					}
				}
				if _, refused := errors.AsType[*UnsupportedError](err); !refused || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%s: got %s", path, fmt.Sprint(got, err))
				}
			}
		})
	}
}
