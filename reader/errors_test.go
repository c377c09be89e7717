package reader

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	table := writeFile(t, "a.csv", "id,Host,host,name\n1,2,3,4\n")
	objects := writeFile(t, "a.jsonl", `{"id":1,"site":{"url":"x"}}`)
	missing := filepath.Join(dir, "missing.csv")
	glob := filepath.Join(dir, "*.csv")
	tests := []struct {
		name    string
		options Options
		want    string
	}{
		{"no paths", Options{}, "option Paths: no input is given; name a file, or - for standard input"},
		{"standard input twice", Options{Paths: []string{"-", "-"}, Stdin: strings.NewReader("")}, "option Paths: standard input (-) can be read only once"},
		{"no standard input", Options{Paths: []string{"-"}}, "option Stdin: - is among the paths, but there is no standard input"},
		{"unknown format", Options{Paths: []string{table}, Format: "xls"}, `option Format: unknown format "xls"; want csv, jsonl, txt, parquet, xlsx or xml`},
		{"unknown encoding", Options{Paths: []string{table}, Encoding: "EBCDIC"},
			`option Encoding: unknown encoding "EBCDIC"; want a label of the WHATWG Encoding Standard, such as ` + someEncodings},
		{"encoding that is not decoded", Options{Paths: []string{table}, Encoding: "iso-2022-kr"},
			`option Encoding: unknown encoding "iso-2022-kr"; want a label of the WHATWG Encoding Standard, such as ` + someEncodings},
		{"quote as delimiter", Options{Paths: []string{table}, Dialect: Dialect{Delimiter: "\""}}, `option Dialect: "\"" cannot separate fields`},
		{"missing file", Options{Paths: []string{missing}}, missing + ": " + syscall.ENOENT.Error()},
		{"glob without a match", Options{Paths: []string{glob}}, glob + ": no file matches this pattern"},
		{"malformed glob", Options{Paths: []string{"[a"}}, "[a: syntax error in pattern"},
		{"folder", Options{Paths: []string{dir}}, dir + " is a folder without parts, not a list; name a folder of files whose names begin with neither _ nor ."},
		{"unknown column", Options{Paths: []string{table}, Columns: []string{"domain"}},
			table + `: no column "domain" (columns: id, Host, host, name)`},
		{"ambiguous column", Options{Paths: []string{table}, Columns: []string{"HOST"}},
			table + `: column "HOST" may be any of Host, host (columns: id, Host, host, name)`},
		{"no candidate", Options{Paths: []string{table}, Candidates: []string{"domain", "url"}},
			table + ": which column is the input? None is called domain, url (columns: id, Host, host, name)"},
		{"no header, several columns", Options{Paths: []string{table}, Candidates: []string{"domain"}, Dialect: Dialect{Header: NoHeader}},
			table + ": which column is the input? (columns: 1, 2, 3, 4)"},
		{"no header, unknown column", Options{Paths: []string{table}, Columns: []string{"5"}, Dialect: Dialect{Header: NoHeader}},
			table + `: no column "5" (columns: 1, 2, 3, 4)`},
		{"unknown extra column", Options{Paths: []string{table}, Columns: []string{"id"}, ExtraColumns: []string{"name", "title"}},
			`no column "title" (columns: id, Host, host, name)`},
		{"empty extra column", Options{Paths: []string{table}, Columns: []string{"id"}, ExtraColumns: []string{"name", ""}},
			`no column "" (columns: id, Host, host, name)`},
		{"unknown key", Options{Paths: []string{objects}, Columns: []string{"site.host"}},
			objects + `: no column "site.host" (columns: id, site)`},
		{"unknown column in the second file", Options{Paths: []string{table, objects}, Columns: []string{"name"}},
			objects + `: no column "name" (columns: id, site)`},
		{"malformed header", fromString("\n\"domain,title\na.com,A\n", Options{Format: "csv", Candidates: candidates}),
			"stdin:2: malformed header: " + faultUnclosed},
		{"header in another encoding", fromString("domain,caf\xe9\na.com,A\n", Options{Format: "csv", Candidates: candidates, Encoding: "utf-8"}),
			"stdin:1: malformed header: " + faultEncoding},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := Open(t.Context(), test.options)
			if err == nil {
				r.Close()
				t.Fatalf("no error, want %s", test.want)
			}
			if err.Error() != test.want {
				t.Errorf("got  %s\nwant %s", err, test.want)
			}
		})
	}
}

// Only the names in a row may be in another row, and only the header of a table that goes on in another file may be missing.
func TestMissingHeader(t *testing.T) {
	for _, test := range []struct {
		name              string
		files             []string // "EXTENSION CONTENT"
		header, continues bool
	}{
		{"cut into lines", []string{"csv id,url\n1,a.example\n", "csv 2,b.example\n3,c.example\n"}, true, true},
		{"one column", []string{"csv url\na.example\n", "csv b.example\nc.example\n"}, true, true},
		{"third part", []string{"csv id,url\n1,a.example\n", "csv id,url\n2,b.example\n", "csv 3,c.example\n"}, true, true},
		{"one file", []string{"csv id,link\n1,a.example\n"}, true, false},
		{"a shared column", []string{"csv id,url\n1,a.example\n", "csv ID,link\n1,a.example\n"}, true, false},
		{"another number of columns", []string{"csv id,url\n1,a.example\n", "csv 1,2,3\n"}, true, false},
		{"JSON before", []string{`jsonl {"id":1,"url":"a"}`, "csv 1,a.example\n"}, true, false},
		{"JSON", []string{`jsonl {"id":1,"link":"a"}`}, false, false},
		{"JSON array", []string{`json [{"id":1,"link":"a"}]`}, false, false},
		{"JSON object", []string{`json {"id":1,"link":"a"}`}, false, false},
		{"JSON after", []string{"csv id,url\n1,a.example\n", `jsonl {"a":1,"link":"a"}`}, false, false},
	} {
		var paths []string
		for _, file := range test.files {
			extension, content, _ := strings.Cut(file, " ")
			paths = append(paths, writeFile(t, "in."+extension, content))
		}
		continues := ""
		if test.continues {
			continues = paths[0]
		}
		for _, columns := range [][]string{nil, {"url"}} {
			_, err := Open(t.Context(), Options{Paths: paths, Columns: columns, Candidates: candidates})
			column, ok := errors.AsType[*ColumnError](err)
			if !ok || column.Header != test.header || column.Continues != continues || strings.Contains(err.Error(), "make one file of them") != test.continues {
				t.Errorf("%s: got %v", test.name, err)
			}
		}
	}
}

func TestErrorsAreTyped(t *testing.T) {
	_, err := Open(t.Context(), Options{Paths: []string{"missing.csv"}})
	var openError *OpenError
	if !errors.As(err, &openError) || openError.Path != "missing.csv" || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %#v", err)
	}
	_, err = Open(t.Context(), Options{Paths: []string{"no*such"}})
	if !errors.As(err, &openError) || openError.Path != "no*such" || !errors.Is(err, ErrNoMatch) {
		t.Errorf("glob: %#v", err)
	}
	_, err = Open(t.Context(), fromString("a,b\n", Options{Format: "csv", Columns: []string{"c"}}))
	var columnError *ColumnError
	if !errors.As(err, &columnError) || columnError.Column != "c" || len(columnError.Columns) != 2 {
		t.Errorf("column: %#v", err)
	}
	r := openReader(t, fromString("domain,n\na\n", Options{Candidates: candidates, Dialect: Dialect{Strict: true}}))
	var rowError *RowError
	if rec, _ := r.Read(); !errors.As(rec.Err, &rowError) || rec.Err.Error() != "stdin:2: wrong number of fields: 1, want 2" {
		t.Errorf("row: %v", rec.Err)
	}
}

func TestWideTableIsListedInPart(t *testing.T) {
	_, err := Open(t.Context(), fromString(strings.Repeat("c,", 999)+"c\n", Options{Format: "csv", Columns: []string{"x"}}))
	if got := err.Error(); !strings.Contains(got, "c_30 and 970 more") || len(got) > 500 {
		t.Errorf("got %s", got)
	}
}

func TestReadErrors(t *testing.T) {
	rows := strings.Repeat("a.com,title\n", 100_000) // well beyond the first sample
	whole := gzipped(t, noise()+rows)
	tests := []struct {
		name, content string
		in            string // what the message says
	}{
		{"truncated gzip", cut(whole, 100), "cut short"},
		{"truncated zstd", cut(zstdCompressed(t, noise()+rows), 5), "cut short"},
		{"gzip checksum", flip(whole, 6), "checksum"},
		{"text behind gzip", whole + "some text that is no gzip member", "invalid header"},
		{"text behind the padding of gzip", whole + "\x00some text that is no gzip member", "invalid header"},
		{"a byte behind gzip", whole + "\x1f", "cut short"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := writeFile(t, "in.csv", test.content)
			r := openReader(t, Options{Paths: []string{path}, Candidates: candidates})
			n, err := drain(r)
			var readError *ReadError
			if !errors.As(err, &readError) || readError.File != path || readError.Line < n || !strings.Contains(err.Error(), test.in) {
				t.Fatalf("after %d records: got %v, want a ReadError with %q", n, err, test.in)
			}
			if n < 1000 {
				t.Errorf("only %d records came before the fault", n)
			}
			if _, again := r.Read(); again != err {
				t.Errorf("the error does not stay: %v", again)
			}
		})
	}
}

// Open finds a fault in the beginning of a file.
func TestReadErrorInTheBeginning(t *testing.T) {
	broken := errors.New("broken disk")
	tests := []struct {
		name  string
		stdin io.Reader
		want  string
	}{
		{"source", io.MultiReader(strings.NewReader("domain\na.com\n"), iotest.ErrReader(broken)), "stdin:3: broken disk"},
		{"truncated gzip", strings.NewReader(cut(gzipped(t, threeDomains), 9)), "cut short"},
		{"gzip header", strings.NewReader("\x1f\x8b\x08"), "stdin:1: the data is cut short"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Open(t.Context(), Options{Paths: []string{"-"}, Stdin: test.stdin, Candidates: candidates})
			var readError *ReadError
			if !errors.As(err, &readError) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want a ReadError with %q", err, test.want)
			}
		})
	}
}

// A line that a read error cuts off is not a record.
func TestReadErrorInALine(t *testing.T) {
	rows := "domain\n" + strings.Repeat("a.com\n", 20_000)
	broken := errors.New("broken disk")
	stdin := io.MultiReader(strings.NewReader(rows+"b.c"), iotest.ErrReader(broken))
	r := openReader(t, Options{Paths: []string{"-"}, Stdin: stdin, Candidates: candidates})
	n, err := drain(r)
	if n != 20_000 || !errors.Is(err, broken) || err.Error() != "stdin:20002: broken disk" {
		t.Errorf("after %d records: %v, want broken disk in line 20002 after 20000", n, err)
	}
}

func TestSourceThatReturnsNothing(t *testing.T) {
	lines := newLineSplitter(emptyReader{})
	if _, err := lines.next(); err != io.ErrNoProgress {
		t.Errorf("got %v, want io.ErrNoProgress", err)
	}
}

type emptyReader struct{}

func (emptyReader) Read([]byte) (int, error) { return 0, nil }

// drain reads to the end or the first error.
func drain(r *Reader) (records int64, err error) {
	for {
		if _, err = r.Read(); err != nil {
			return records, err
		}
		records++
	}
}

// noise is CSV that does not compress, so that a fault at the end of the compressed file is far from its beginning.
func noise() string {
	var b strings.Builder
	b.WriteString("domain,title\n")
	x := uint32(1)
	for range 50_000 {
		for range 12 {
			x = x*1664525 + 1013904223
			b.WriteByte('a' + byte(x>>24)%26)
		}
		b.WriteString(".com,\n")
	}
	return b.String()
}

// cut drops the last n bytes.
func cut(s string, n int) string { return s[:len(s)-n] }

// flip damages the n-th byte from the end.
func flip(s string, n int) string {
	b := []byte(s)
	b[len(b)-n] ^= 0xff
	return string(b)
}
