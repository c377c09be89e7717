package reader

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

const (
	cutCSV    = "url,title\na.com,\"x, \"\"y\"\"\nz\"\nb.com,\r\nc.com,e\n"
	cutArray  = " [ {\"url\":\"a.com\", \"n\":[1,{\"x\":null}]} ,\n{\"url\":\"b\\u00e9\"},\"c.com\" ] \n"
	cutValues = "{\n\"url\":\"a.com\",\n\"tags\":[\n\"x\"\n]}\n\"b.com\"{\"url\":\n\"c.com\"}\n"
	cutJSONL  = "{\"url\":\"a.com\"}\n\n\"b.com\"\r\n{\"url\":\"é\",\"n\":[1]}"
	cutTxt    = "a.com\n# x\nb.com\r\nc.com"
)

// A file that is cut off anywhere is an error or has a malformed record. Only where an earlier end is an end of the
// format, the records before the end are read, and none is missing.
func TestCutFiles(t *testing.T) {
	gz, zst := gzipped(t, cutTxt+"\n"), zstdCompressed(t, cutTxt+"\n")
	const skippable = "\x50\x2a\x4d\x18\x01\x00\x00\x00x"
	for _, test := range []struct {
		name, format, content string               // the name may have an extension
		want                  func(cut string) int // number of records of a file that may end there, else uncertain
	}{
		{"csv", "csv", cutCSV, csvRecords},
		{"jsonl", "jsonl", cutJSONL, jsonlRecords},
		{"txt", "txt", cutTxt, txtRecords},
		{"array", "jsonl", cutArray, arrayRecords},
		{"array of nothing", "jsonl", "[\n]", never},
		{"array with a tail", "jsonl", "[{\"url\":\"a.com\"}]", never},
		{"values", "jsonl", cutValues, valueRecords},
		{"gzip.gz", "txt", gz, never},
		{"gzip with a file name", "txt", gzippedAs(t, "list.txt", cutTxt), never},
		{"gzip of two members", "txt", gz + gzippedAs(t, "list.txt", cutTxt), only(map[int]int{len(gz): 3})},
		{"gzip of an array", "jsonl", gzipped(t, cutArray), never},
		{"zstd.zst", "txt", zst, never},
		{"zstd of two frames.zst", "txt", zst + zst, only(map[int]int{len(zst): 3})},
		{"zstd with skippable frames.zst", "txt", skippable + zst + skippable, only(map[int]int{len(skippable): 0, len(skippable) + len(zst): 3})},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), test.name)
			checkCuts(t, test.content, Options{Paths: []string{path}, Format: test.format, Comment: "#"}, test.want)
		})
	}
}

// A text that ends within a character is an error.
func TestCutEncodings(t *testing.T) {
	for name, test := range map[string]struct {
		encoding encoding.Encoding
		text     string
	}{
		"utf-16":      {unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), "ab\n茶😀\nc"},
		"utf-16be":    {unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), "ab\n茶😀\nc"},
		"shift_jis":   {japanese.ShiftJIS, "緑茶\nソ表ｱ\n"},
		"euc-jp":      {japanese.EUCJP, "緑茶\n丂ｱ\n"},
		"iso-2022-jp": {japanese.ISO2022JP, "a緑茶b\n表\n"},
		"gbk":         {simplifiedchinese.GBK, "绿茶\n包子\n"},
		"gb18030":     {simplifiedchinese.GB18030, "绿茶\n😀ü\n"},
		"big5":        {traditionalchinese.Big5, "綠茶\n功夫\n"},
		"euc-kr":      {korean.EUCKR, "녹차\n똠\n"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "list.txt")
			checkCuts(t, encoded(t, test.encoding, test.text), Options{Paths: []string{path}, Encoding: name}, func(cut string) int {
				text, err := test.encoding.NewDecoder().String(cut)
				if err != nil || strings.ContainsRune(text, '\ufffd') {
					return uncertain
				}
				return txtRecords(text)
			})
		})
	}
}

// checkCuts writes files of content that is cut off behind every byte but the last.
func checkCuts(t *testing.T, content string, o Options, want func(cut string) int) {
	t.Helper()
	o.Columns = []string{"url"}
	whole, err := recordsOf(t, content, o)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(content); n++ {
		cut := content[:n]
		records, err := recordsOf(t, cut, o)
		got, wanted := summary(records), want(cut)
		switch {
		case wanted == uncertain && err == nil && !strings.Contains(got, "!"):
			t.Errorf("cut at %d, after %q: complete with\n%s", n, cut[max(0, n-20):], got)
		case wanted == uncertain:
		case len(records) != wanted || !strings.HasPrefix(summary(whole), strings.TrimSuffix(got, "\n")):
			t.Errorf("cut at %d, after %q: %v after %d of %d records\n%s", n, cut[max(0, n-20):], err, len(records), wanted, got)
		}
	}
}

// recordsOf returns the records up to an error of a file with content, or without a path of standard input.
func recordsOf(t *testing.T, content string, o Options) ([]Record, error) {
	t.Helper()
	if len(o.Paths) == 0 {
		o = fromString(content, o)
	} else if err := os.WriteFile(o.Paths[0], []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	r, err := Open(t.Context(), o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var records []Record
	for {
		rec, err := r.Read()
		if err == io.EOF {
			return records, nil
		}
		if err != nil {
			return records, err
		}
		records = append(records, rec)
	}
}

// uncertain is the number of records of a file that cannot end there.
const uncertain = -1

func never(string) int { return uncertain }

// only returns the numbers of records of the sizes at which a file may end.
func only(sizes map[int]int) func(cut string) int {
	return func(cut string) int {
		if n, ok := sizes[len(cut)]; ok {
			return n
		}
		return uncertain
	}
}

func csvRecords(cut string) int {
	r := csv.NewReader(strings.NewReader(cut))
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil || len(rows) == 0 || rows[0][0] != "url" {
		return uncertain
	}
	return len(rows) - 1
}

func jsonlRecords(cut string) int {
	n := 0
	for line := range strings.Lines(cut) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if n++; !json.Valid([]byte(line)) {
			return uncertain
		}
	}
	return n
}

func txtRecords(cut string) int {
	n := 0
	for line := range strings.Lines(cut) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			n++
		}
	}
	return n
}

func arrayRecords(cut string) int {
	var values []any
	if strings.TrimSpace(cut) == "" {
		return 0
	}
	if json.Unmarshal([]byte(cut), &values) != nil {
		return uncertain
	}
	return len(values)
}

func valueRecords(cut string) int {
	decoder := json.NewDecoder(strings.NewReader(cut))
	for n := 0; ; n++ {
		var value any
		if err := decoder.Decode(&value); err == io.EOF {
			return n
		} else if err != nil {
			return uncertain
		}
	}
}

// gzippedAs returns a gzip file that has the name of its content.
func gzippedAs(t *testing.T, name, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Name, w.Comment, w.Extra = name, "a comment", []byte("extra")
	io.WriteString(w, content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// What follows the end of a document is an error.
func TestAfterTheEnd(t *testing.T) {
	for name, content := range map[string]string{
		"garbage":            `[{"url":"a"}] garbage`,
		"bracket":            `[{"url":"a"}]]`,
		"comma":              `[{"url":"a"}],`,
		"array":              `[{"url":"a"}][{"url":"b"}]`,
		"array on a line":    "[{\"url\":\"a\"}]\n[{\"url\":\"b\"}]\n",
		"object":             "[{\"url\":\"a\"}]\n{\"url\":\"b\"}",
		"NUL":                "[{\"url\":\"a\"}]\x00",
		"comma after values": "{\n\"url\":\"a\"},\n{\n\"url\":\"b\"}",
		"gzip and text":      gzipped(t, "a.com\n") + "b.com\n",
		"gzip and zstd":      gzipped(t, "a.com\n") + zstdCompressed(t, "b.com\n"),
		"zstd and text":      zstdCompressed(t, "a.com\n") + "b.com\n",
		"zstd and gzip":      zstdCompressed(t, "a.com\n") + gzipped(t, "b.com\n"),
	} {
		records, err := recordsOf(t, content, Options{Columns: []string{"url"}})
		var read *ReadError
		if !errors.As(err, &read) || len(records) > 1 {
			t.Errorf("%s: %d records, %v", name, len(records), err)
		}
	}
}

// A JSON array that ends after a comma is cut off, and the error says so.
func TestArrayThatEndsAfterComma(t *testing.T) {
	for _, content := range []string{`[{"url":"a.com"},`, "[\n{\"url\":\"a.com\"},\n", "[", "[{\"url\":\"a.com\"}", "[ \n", "[\"a.com\" , "} {
		_, err := recordsOf(t, content, Options{Format: "jsonl", Columns: []string{"url"}})
		if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "cut short") {
			t.Errorf("%q: got %v", content, err)
		}
	}
}
