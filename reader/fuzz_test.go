package reader

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// checkRecords reads all records and checks that numbers and lines ascend, that there is a field of valid UTF-8 for
// each column, and that malformed records have no input.
func checkRecords(t *testing.T, r *Reader, content string) []Record {
	t.Helper()
	lines := int64(strings.Count(content, "\n")+strings.Count(content, "\r")-strings.Count(content, "\r\n")) + 1 // with any line ends
	records := readAll(t, r)
	var line int64
	for i, rec := range records {
		if rec.Number != int64(i)+1 {
			t.Errorf("record %d has number %d", i+1, rec.Number)
		}
		if rec.Line <= line || rec.Line > lines {
			t.Errorf("record %d is on line %d, after line %d of %d", i+1, rec.Line, line, lines)
		}
		line = rec.Line
		if len(rec.Fields) != len(r.columns) {
			t.Errorf("record %d has %d fields, want %d", i+1, len(rec.Fields), len(r.columns))
		}
		if slices.ContainsFunc(slices.Concat(rec.Fields, []string{rec.Input}), func(s string) bool { return !utf8.ValidString(s) }) {
			t.Errorf("record %d is not UTF-8: %+q", i+1, rec.Fields)
		}
		if rec.Err != nil && rec.Input != "" {
			t.Errorf("record %d is malformed, but has the input %q", i+1, rec.Input)
		}
	}
	return records
}

// FuzzCSV compares the records with those of encoding/csv, for files that encoding/csv accepts. There are four
// differences: encoding/csv replaces \r\n inside quotes by \n, accepts invalid UTF-8, does not end a line with
// CR alone, and keeps end marks. Lines of spaces are rows only in strict mode.
func FuzzCSV(f *testing.F) {
	for _, seed := range []string{
		"", "a,b\n1,2\n", "\"a\n\",b\r\n\n\"\"\"\",\"\"\n", "a\r", "\"a\r\n\"\r", "\"a\r\r\n\"", "\r0\n0", "0\x1a", "a,\"b\nc,d\n",
		"\"a\"b\nc\n", "a\"\n", ",\n,", "\xef\xbb\xbfa\n", "a\xff\n", "\x00,\"\x00\"", " \"a\"\n", "\"a,1\n\"b\n.com\",2\nc,3\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		o := Options{Format: "csv", Columns: []string{"1"}, Encoding: "utf-8", Dialect: Dialect{Delimiter: ",", Header: NoHeader, Strict: true}}
		r, err := Open(t.Context(), fromString(content, o))
		if err != nil {
			return // too many rows are malformed
		}
		strict := checkRecords(t, r, content)
		o.Dialect.Strict = false
		if r, err = Open(t.Context(), fromString(content, o)); err != nil {
			t.Fatalf("strict mode reads what is refused without: %v", err)
		}
		records := checkRecords(t, r, content)
		if separatorOf([]byte(content), &o) != "" || strings.ContainsRune(content, endMark) {
			return
		}
		if !strings.Contains(content, `"`) {
			content = strings.ReplaceAll(strings.ReplaceAll(content, "\r\n", "\n"), "\r", "\n")
		} else if strings.Contains(strings.ReplaceAll(content, "\r\n", "\n"), "\r") {
			return
		}

		reference := csv.NewReader(strings.NewReader(content))
		want, err := reference.ReadAll()
		if err != nil || !utf8.ValidString(content) || strings.HasPrefix(content, "\ufeff") || len(content) > maxRecord {
			return
		}
		var got [][]string
		for _, rec := range records {
			if rec.Err != nil {
				t.Fatalf("encoding/csv accepts what we refuse: %v", rec.Err)
			}
			fields := make([]string, len(rec.Fields))
			for i, field := range rec.Fields {
				fields[i] = strings.ReplaceAll(field, "\r\n", "\n")
			}
			got = append(got, fields)
		}
		if slices.ContainsFunc(strings.Split(content, "\n"), func(line string) bool {
			line = strings.TrimSuffix(line, "\r")
			return line != "" && strings.Trim(line, " ") == ""
		}) {
			return
		}
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("got %q, encoding/csv reads %q", got, want)
		}
		if !slices.EqualFunc(records, strict, func(a, b Record) bool { return slices.Equal(a.Fields, b.Fields) }) {
			t.Errorf("got\n%s\nin strict mode\n%s", summary(records), summary(strict))
		}
	})
}

// FuzzCSVResync puts valid rows after arbitrary lines. The last valid row must be read.
func FuzzCSVResync(f *testing.F) {
	for _, seed := range []string{"\"", "a\"b", "\"a\"b,c", "\"a\n\"\"\n", "a,\"\nb", "\"a\",\"b\n", "\xff\"\n\"", "\"\"\""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content string) {
		// The valid rows contain no quote, so they cannot close a quote before them.
		const good = "\nlast,1\nlast,2\n"
		for _, strict := range []bool{false, true} {
			o := Options{Format: "csv", Candidates: candidates, Encoding: "utf-8", Dialect: Dialect{Delimiter: ",", Strict: strict}}
			r, err := Open(t.Context(), fromString("domain,n\n"+content+good, o))
			if _, refused := errors.AsType[*UnsupportedError](err); refused {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			records := checkRecords(t, r, "\n"+content+good)
			if n := len(records); n < 2 || records[n-1].Input != "last" || records[n-2].Input != "last" {
				t.Errorf("the rows after %q are lost (strict %t):\n%s", content, strict, summary(records))
			}
		}
	})
}

// FuzzGuess checks that valid UTF-8 is recognized as UTF-8, and that the text does not depend on the sizes of reads.
func FuzzGuess(f *testing.F) {
	for _, seed := range []string{
		"", "a", "caf\xe9", "café", "caf\xc3", "a\x00b\x00", "\x00a\x00b", "\xff\xfea\x00", "\xef\xbb\xbfé", "\xe9\x81", "sep=;\na;é\n", "\xcf\xf0\xe8\xe2\xe5\xf2",
	} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, content []byte, prefix uint8) {
		content = append(bytes.Repeat([]byte("0123456789abcde\n"), 300*int(prefix)), content...) // may exceed a window
		decoded := func(src io.Reader) string {
			guessed := ""
			plain, _ := decode(bufio.NewReaderSize(src, readSize), "", func(e string) { guessed = e })
			text, err := io.ReadAll(plain)
			if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) { // UTF-16 may end within a character
				t.Fatal(err)
			}
			if guessed != "" && utf8.Valid(content) && bytes.IndexByte(content, 0) < 0 {
				t.Errorf("%q is taken for %s", content, guessed)
			}
			return guessed + string(text)
		}
		if whole, halves := decoded(bytes.NewReader(content)), decoded(iotest.HalfReader(bytes.NewReader(content))); whole != halves {
			t.Errorf("got %q, in pieces %q", whole, halves)
		}
	})
}

func FuzzJSONL(f *testing.F) {
	for _, seed := range []string{
		"", `{"domain":"a"}`, `"a"`, "{\"a\":{\"b\":[1,\"}\"]}}\n{\"domain\":1e9}\n", `{"domain":"\ud800\""}`, "[1]", "{\n}", "{} {}",
		`{ "a" : null , "a" : [ ] , "\u0061" : -0 }`, "{\"\xff\":1}", `{"a.b":1,"a":{"b":2}}`, "\x00", `{"":""}`,
	} {
		f.Add(seed, "a.b")
	}
	f.Fuzz(func(t *testing.T, content, column string) {
		r, err := Open(t.Context(), fromString(content, Options{Format: "jsonl", Columns: []string{column}, ExtraColumns: []string{strings.ToValidUTF8(column, "")}}))
		if err != nil {
			return
		}
		if r.Files()[0].Format == "json" { // an array, or values of several lines: a syntax error is final
			_, _ = drain(r)
			return
		}
		checkRecords(t, r, content)
	})
}

// FuzzFeed checks that a text in an element of a feed comes back, and that no other content is a fault of the program.
func FuzzFeed(f *testing.F) {
	for _, seed := range []string{"Mug", "a & <b>", "]]>", "<!DOCTYPE x [<!ENTITY a 'b'>]>&a;", "</title><title>", "<item>", "\x00", "caf\xe9", "</item></channel></rss>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		feed := func(title string) string {
			return "<rss><channel>\n<item><title>" + title + "</title></item>\n<item><title>b</title></item></channel></rss>"
		}
		o := Options{Format: "xml", Columns: []string{"title"}, Encoding: "utf-8"}
		if r, err := Open(t.Context(), fromString(feed(text), o)); err == nil {
			if _, err := drain(r); err == nil {
				t.Error("no end")
			}
		}
		var escaped strings.Builder
		if err := xml.EscapeText(&escaped, []byte(text)); err != nil {
			t.Fatal(err)
		}
		r, err := Open(t.Context(), fromString(feed(escaped.String()), o))
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		records := readAll(t, r)
		if want := strings.TrimSpace(text); len(records) != 2 || records[1].Input != "b" || records[0].Input != want && !strings.Contains(records[0].Input, "\ufffd") {
			t.Errorf("got %s, want %q", summary(records), want)
		}
	})
}

// FuzzJSONArray compares an array with JSONL of the same values.
func FuzzJSONArray(f *testing.F) {
	for _, seed := range []string{`{"domain":"a"}`, `"a"`, "{\n}", `{"domain":[1,"]"]}`, "1", "", "]", "{\"domain\":\"\xff\"}", "[[", `"` + "\x00" + `"`} {
		f.Add(seed, `{"domain":"b"}`)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		o := Options{Format: "jsonl", Columns: []string{"domain"}, ExtraColumns: []string{"domain"}, Encoding: "utf-8"}
		r, err := Open(t.Context(), fromString("["+a+",\n"+b+"]", o))
		if err != nil {
			return
		}
		var inputs []string
		for {
			rec, err := r.Read()
			if err != nil {
				if err != io.EOF {
					return
				}
				break
			}
			inputs = append(inputs, rec.Input)
		}
		if !json.Valid([]byte(a)) || !json.Valid([]byte(b)) || strings.ContainsAny(a+b, "\r\n") {
			return
		}
		lines, err := Open(t.Context(), fromString(a+"\n"+b, o))
		if err != nil {
			return
		}
		var want []string
		for _, rec := range readAll(t, lines) {
			want = append(want, rec.Input)
		}
		if strings.HasPrefix(strings.TrimLeft(a, jsonSpace), "[") {
			return // an array itself
		}
		if !slices.Equal(inputs, want) {
			t.Errorf("got %q, as lines %q", inputs, want)
		}
	})
}

func FuzzFormat(f *testing.F) {
	for _, seed := range []string{
		"", "a.com\n", "domain,b\n1,2", "{}", "\"a\"\n", "[", "a;b\n\"c", "\x1f\x8b", "\x28\xb5\x2f\xfd", "\xff\xfea\x00", "\xfe\xff\x00a", "#\n{",
		"sep=;\na;b\n1;2", "\"sep=\t\"", gzipped(f, "domain\na.com\n"), zstdCompressed(f, "domain\na.com\n"),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if !slices.Contains(delimiters, detectDelimiter(content, &Options{})) || !slices.Contains(delimiters, detectDelimiter(content, &Options{Dialect: Dialect{Strict: true}})) {
			t.Error("an unknown delimiter")
		}
		for _, encoding := range []string{"", "utf-8", "utf-16", "utf-16be", "windows-1252", "shift_jis", "gbk", "iso-2022-jp"} {
			r, err := Open(t.Context(), Options{Paths: []string{"-"}, Stdin: bytes.NewReader(content), Candidates: candidates, Encoding: encoding})
			if err != nil {
				continue
			}
			for err == nil {
				_, err = r.Read()
			}
			if err == io.EOF && !r.Files()[0].Whole {
				t.Error("read to the end, but not whole")
			}
			r.Close()
		}
	})
}

// FuzzExcel reads a workbook with arbitrary XML for its parts. Its rows must be those of a well-formed sheet, which
// encoding/xml reads to its end.
func FuzzExcel(f *testing.F) {
	list := listParts(sheetOf(`<row r="2"><c r="A2" t="s" s="1"><v>1</v></c><c><v>45292.5</v></c></row>`))
	const sheet, texts, styles = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"
	f.Add(list[sheet], list[texts], list[styles])
	f.Add(sheetOf(`<row><c t="inlineStr"><is><r><t>a_x000D_</t></r></is></c></row>`), `<sst/>`,
		`<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[h]:mm;@"/></numFmts><cellXfs><xf numFmtId="164"/></cellXfs></styleSheet>`)
	f.Fuzz(func(t *testing.T, sheetXML, textsXML, stylesXML string) {
		parts := maps.Clone(list)
		parts[sheet], parts[texts], parts[styles] = sheetXML, textsXML, stylesXML
		path := writeFile(t, "in.xlsx", archived(t, parts))
		r, err := Open(t.Context(), Options{Paths: []string{path}, Columns: []string{"1"}, Dialect: Dialect{Header: NoHeader}})
		if err != nil {
			return
		}
		defer r.Close()
		var line int64
		for {
			rec, err := r.Read()
			if err == io.EOF {
				break
			}
			if err != nil {
				return
			}
			if rec.Line <= line || len(rec.Fields) != len(r.columns) || !utf8.ValidString(strings.Join(rec.Fields, rec.Input)) {
				t.Fatalf("row %d after row %d: %q", rec.Line, line, rec.Fields)
			}
			line = rec.Line
		}
		text, _ := decode(bufio.NewReader(strings.NewReader(sheetXML)), "", nil)
		decoder := xml.NewDecoder(text)
		decoder.CharsetReader = sameCharset
		for err == nil {
			_, err = decoder.Token()
		}
		if err != io.EOF {
			t.Errorf("a damaged sheet was read to its end: %v", err)
		}
	})
}
