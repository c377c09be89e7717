package reader

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

const threeDomains = "domain,title\na.com,é\n\"b.com\",\"x\ny\"\nc.com,€\n"

func TestStoredForms(t *testing.T) {
	encode := func(s string, err error) string {
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	utf16le := encode(unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(threeDomains))
	utf16be := encode(unicode.UTF16(unicode.BigEndian, unicode.UseBOM).NewEncoder().String(threeDomains))
	gz := gzipped(t, threeDomains)
	skippable := "\x50\x2a\x4d\x18\x01\x00\x00\x00x"
	tests := []struct{ name, file, encoding, content string }{
		{"plain", "a.csv", "", threeDomains},
		{"UTF-8 with its mark", "a.csv", "", "\ufeff" + threeDomains},
		{"UTF-8 with its mark, named", "a.csv", "UTF-8", "\ufeff" + threeDomains},
		{"UTF-16LE by its mark", "a.csv", "", utf16le},
		{"UTF-16BE by its mark", "a.csv", "", utf16be},
		{"UTF-16 with a mark", "a.csv", "utf-16", utf16be},
		{"UTF-16 without a mark", "a.csv", "utf-16", utf16le[2:]},
		{"UTF-16LE named, with a mark", "a.csv", "utf-16le", utf16le},
		{"UTF-16LE named, without a mark", "a.csv", "utf-16le", utf16le[2:]},
		{"UTF-16BE named, without a mark", "a.csv", "utf-16be", utf16be[2:]},
		{"Windows-1252", "a.csv", "windows-1252", encode(charmap.Windows1252.NewEncoder().String(threeDomains))},
		{"gzip", "a.csv.gz", "", gz},
		{"gzip by another name", "a.csv", "", gz},
		{"gzip of several members", "a.csv.gz", "", gzipped(t, threeDomains[:20]) + gzipped(t, threeDomains[20:])},
		{"gzip with padding", "a.csv.gz", "", gz + strings.Repeat("\x00", 512)},
		{"gzip with padding between members", "a.csv.gz", "", gzipped(t, threeDomains[:20]) + "\x00" + gzipped(t, threeDomains[20:])},
		{"gzip of UTF-16", "a.csv.gz", "", gzipped(t, utf16le)},
		{"zstd", "a.csv.zst", "", zstdCompressed(t, threeDomains)},
		{"zstd by another name", "a.dat", "", zstdCompressed(t, threeDomains)},
		{"zstd of several frames", "a.csv.zst", "", zstdCompressed(t, threeDomains[:20]) + skippable + zstdCompressed(t, threeDomains[20:])},
		{"zstd with a skippable frame first", "a.csv.zst", "", skippable + zstdCompressed(t, threeDomains)},
		{"compressed by name only", "a.csv.gz", "", threeDomains},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := writeFile(t, test.file, test.content)
			o := Options{Paths: []string{path}, Candidates: candidates, Encoding: test.encoding}
			checkThreeDomains(t, o, path, test.content)

			o.Paths, o.Stdin = []string{"-"}, iotest.OneByteReader(strings.NewReader(test.content))
			checkThreeDomains(t, o, "-", test.content)
		})
	}
}

// checkThreeDomains checks the records and the FileInfo of content, which is threeDomains as stored.
func checkThreeDomains(t *testing.T, o Options, name, content string) {
	t.Helper()
	r := openReader(t, o)
	records := readAll(t, r)
	if got, want := summary(records), "2 a.com\n3 b.com\n5 c.com\n"; got != want {
		t.Fatalf("%s: got\n%swant\n%s", name, got, want)
	}
	if title := records[0].Fields[1] + records[1].Fields[1] + records[2].Fields[1]; title != "éx\ny€" {
		t.Errorf("%s: titles %q", name, title)
	}
	packed := strings.HasPrefix(content, "\x1f\x8b") || strings.Contains(content[:16], "\x28\xb5\x2f\xfd") // gzip, zstd
	want := FileInfo{Name: name, Format: "csv", Packed: packed, Inputs: []string{"domain"}, Bytes: int64(len(content)), SHA256: digestOf(content), Whole: true}
	if got := r.Files(); !reflect.DeepEqual(got, []FileInfo{want}) {
		t.Errorf("files %+v, want %+v", got, want)
	}
	wantTotal := int64(len(content))
	if name == "-" {
		wantTotal = -1
	}
	if read, total := r.Progress(); read != int64(len(content)) || total != wantTotal {
		t.Errorf("%s: progress %d of %d, want %d of %d", name, read, total, len(content), wantTotal)
	}
}

func TestEmptyFiles(t *testing.T) {
	for _, name := range []string{"a.csv", "a.jsonl", "a.txt", "a.dat", "a.csv.gz"} {
		r := openReader(t, Options{Paths: []string{writeFile(t, name, "")}, Columns: []string{"domain"}})
		if records := readAll(t, r); len(records) != 0 || len(r.Columns()) != 0 {
			t.Errorf("%s: %d records, columns %q, want none", name, len(records), r.Columns())
		}
	}
}

func TestSeveralFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("b.csv", "domain,title\nb1.com,B1\nb2.com,B2\n")
	write("a.csv", "id;URL\n7;a1.com\n")
	write("c.jsonl", `{"domain":"c1.com","id":8,"new":true}`+"\n\"c2.com\"\n")
	write("d.txt", "d1.com\n")
	write("[a].csv", "domain\nliteral.com\n")
	write("empty.csv", "")

	r := openReader(t, Options{
		Paths: []string{
			filepath.Join(dir, "[a].csv"), filepath.Join(dir, "[ab].csv"), "-",
			filepath.Join(dir, "c.jsonl"), filepath.Join(dir, "d.txt"), filepath.Join(dir, "empty.csv"),
		},
		Stdin:      strings.NewReader("title\tdomain\nS1\ts1.com\n"),
		Candidates: candidates,
	})
	if got, want := r.Columns(), []string{"domain", "id", "URL", "title", "new"}; !slices.Equal(got, want) {
		t.Errorf("columns %q, want %q", got, want)
	}
	if _, total := r.Progress(); total != -1 {
		t.Errorf("total %d with standard input among the files, want -1", total)
	}
	want := []Record{
		{File: "[a].csv", Line: 2, Input: "literal.com", Fields: []string{"literal.com", "", "", "", ""}},
		{File: "a.csv", Line: 2, Input: "a1.com", Fields: []string{"", "7", "a1.com", "", ""}},
		{File: "b.csv", Line: 2, Input: "b1.com", Fields: []string{"b1.com", "", "", "B1", ""}},
		{File: "b.csv", Line: 3, Input: "b2.com", Fields: []string{"b2.com", "", "", "B2", ""}},
		{File: "-", Line: 2, Input: "s1.com", Fields: []string{"s1.com", "", "", "S1", ""}},
		{File: "c.jsonl", Line: 1, Input: "c1.com", Fields: []string{"c1.com", "8", "", "", "true"}},
		{File: "c.jsonl", Line: 2, Input: "c2.com", Fields: []string{"", "", "", "", ""}},
		{File: "d.txt", Line: 1, Input: "d1.com", Fields: []string{"", "", "", "", ""}},
	}
	got := readAll(t, r)
	if len(got) != len(want) {
		t.Fatalf("%d records, want %d", len(got), len(want))
	}
	for i, rec := range got {
		w := want[i]
		if rec.Number != int64(i)+1 || filepath.Base(rec.File) != w.File || rec.Line != w.Line || rec.Input != w.Input || !slices.Equal(rec.Fields, w.Fields) {
			t.Errorf("record %d: got %+v, want %+v", i+1, rec, w)
		}
	}
	for _, info := range r.Files() {
		if !info.Whole {
			t.Errorf("%s: not whole after the end", info.Name)
		}
	}
}

// A pipe that has a path, as in <(command), can be opened only once.
func TestPipeIsReadOnce(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	path := fmt.Sprintf("/dev/fd/%d", in.Fd())
	if _, err := os.Stat(path); err != nil {
		t.Skip("no paths for file descriptors here")
	}
	io.WriteString(out, threeDomains)
	out.Close()
	r := openReader(t, Options{Paths: []string{path}, Candidates: candidates})
	if got, want := summary(readAll(t, r)), "2 a.com\n3 b.com\n5 c.com\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if _, total := r.Progress(); total != -1 {
		t.Errorf("total %d, want -1", total)
	}
}

func TestFilesAreOpenedInTurn(t *testing.T) {
	first := writeFile(t, "first.csv", "domain\na.com\n")
	second := writeFile(t, "second.csv", "domain\nb.com\n")
	third := writeFile(t, "third.csv", "domain\nc.com\n")
	o := Options{Paths: []string{first, second, third}, Candidates: candidates}

	t.Run("header changed", func(t *testing.T) {
		r := openReader(t, o)
		os.WriteFile(second, []byte("title\nb.com\n"), 0o644)
		_, _ = r.Read()
		_, err := r.Read()
		var formatError *FormatError
		if !errors.As(err, &formatError) || formatError.File != second {
			t.Errorf("got %v, want a FormatError for %s", err, second)
		}
		if _, again := r.Read(); again != err {
			t.Errorf("the error does not stay: %v", again)
		}
	})
	t.Run("removed", func(t *testing.T) {
		os.WriteFile(second, []byte("domain\nb.com\n"), 0o644)
		r := openReader(t, o)
		os.Remove(third)
		_, _ = r.Read()
		_, _ = r.Read()
		_, err := r.Read()
		var openError *OpenError
		if !errors.As(err, &openError) || openError.Path != third || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("got %v, want an OpenError for %s", err, third)
		}
	})
}

func digestOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

func TestClose(t *testing.T) {
	r := openReader(t, Options{Paths: []string{writeFile(t, "a.csv", threeDomains), "-"}, Stdin: strings.NewReader("x.com\n"), Candidates: candidates})
	if _, err := r.Read(); err != nil {
		t.Fatal(err)
	}
	if info := r.Files()[0]; info.Bytes != int64(len(threeDomains)) || info.SHA256 != digestOf(threeDomains) || info.Whole {
		t.Errorf("%+v while it is read, want the checksum of %d bytes", info, len(threeDomains))
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if _, err := r.Read(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Read after Close: %v, want fs.ErrClosed", err)
	}
	if info := r.Files()[0]; info.Bytes != int64(len(threeDomains)) || info.SHA256 != digestOf(threeDomains) || info.Whole {
		t.Errorf("%+v after Close, want the checksum of %d bytes", info, len(threeDomains))
	}
}

func TestProgressFromAnotherGoroutine(t *testing.T) {
	content := "domain\n" + strings.Repeat("a.com\n", 50_000)
	r := openReader(t, Options{Paths: []string{writeFile(t, "a.csv", content)}, Candidates: candidates})
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var last int64
		for {
			read, total := r.Progress()
			if read < last || read > total || total != int64(len(content)) {
				t.Errorf("progress %d of %d, after %d", read, total, last)
				return
			}
			last = read
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	readAll(t, r)
	close(stop)
	<-done
}

// Old spreadsheets end lines with CR alone.
func TestLinesThatEndWithCR(t *testing.T) {
	for name, content := range map[string]string{
		"csv":             "url,name\rhttps://a.com,A\rhttps://b.com,\"B, C\"\r",
		"csv without end": "url,name\rhttps://a.com,A\rhttps://b.com,B",
		"txt":             "https://a.com\rhttps://b.com\r",
		"jsonl":           "{\"url\":\"https://a.com\"}\r{\"url\":\"https://b.com\"}\r",
	} {
		want := "2 https://a.com\n3 https://b.com"
		if !strings.HasPrefix(name, "csv") {
			want = "1 https://a.com\n2 https://b.com"
		}
		path := writeFile(t, "list", content)
		for kind, o := range map[string]Options{"file": {Paths: []string{path}}, "pipe": fromString(content, Options{})} {
			o.Candidates = candidates
			r := openReader(t, o)
			if got := strings.TrimSpace(summary(readAll(t, r))); got != want {
				t.Errorf("%s, %s: got\n%s\nwant\n%s", name, kind, got, want)
			}
			if f := r.Files()[0]; f.SHA256 != digestOf(content) {
				t.Errorf("%s, %s: the digest is not that of the file", name, kind)
			}
		}
	}
}

// A list with CR line ends is longer than any sample.
func TestLongListWithCR(t *testing.T) {
	content := "url\r" + strings.Repeat("https://a.com\r", 500_000)
	r := openReader(t, fromString(content, Options{Candidates: candidates}))
	if n := len(readAll(t, r)); n != 500_000 {
		t.Errorf("%d records", n)
	}
}

// A first line of more than 4 MiB is not a header.
func TestEndlessFirstLine(t *testing.T) {
	for name, o := range map[string]Options{"header": {Columns: []string{"url"}}, "no header": {Dialect: Dialect{Header: NoHeader}}} {
		o.Format = "csv"
		_, err := Open(t.Context(), fromString("url,"+strings.Repeat("x", 5<<20)+"\nhttps://a.com,A\n", o))
		var format *FormatError
		if !errors.As(err, &format) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
