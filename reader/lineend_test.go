package reader

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// Lines end with LF, CRLF or CR, also mixed in one file. Inside quotes all of them are data.
func TestLineEnds(t *testing.T) {
	tests := []struct{ name, format, content, want string }{
		{"guessed CSV", "", "url,n\ra.com,1\nb.com,2\r", "2 a.com\n3 b.com\n"},
		{"guessed txt", "", "# list\ra.com\nb.com\r", "2 a.com\n3 b.com\n"},
		{"guessed JSONL", "", "\r\n{\"url\":\"a\"}\r{\"url\":\"b\"}\n", "2 a\n3 b\n"},
		{"CR among LF", "csv", "url,n\na.com,1\rb.com,2\nc.com,3\n", "2 a.com\n3 b.com\n4 c.com\n"},
		{"CR among CRLF", "csv", "url,n\r\na.com,1\rb.com,2\r\nc.com,3\r\n", "2 a.com\n3 b.com\n4 c.com\n"},
		{"CR CR LF", "csv", "n,url\r\r\n1,a.com\r\r\n2,b.com\r\r\n", "3 a.com\n5 b.com\n"},
		{"header with CR, rows with LF", "csv", "url,n\ra.com,1\nb.com,2\n", "2 a.com\n3 b.com\n"},
		{"header with CR, rows with CRLF", "csv", "n,url\r1,a.com\r\n2,b.com\r\n", "2 a.com\n3 b.com\n"},
		{"header with CRLF, rows with CR", "csv", "n,url\r\n1,a.com\r2,b.com\r", "2 a.com\n3 b.com\n"},
		{"header with LF, rows with CR", "csv", "n,url\n1,a.com\r2,b.com", "2 a.com\n3 b.com\n"},
		{"LF CR", "csv", "n,url\n\r1,a.com\n\r", "3 a.com\n"},
		{"blank lines", "csv", "url\r\r\ra.com\r\n\r\n\nb.com", "4 a.com\n7 b.com\n"},
		{"quoted", "csv", "url,n\r\"a\rb\",1\r\"c\r\nd\",2\n\"e\nf\",3\r\n\"g\r\r\nh\r\",4\ri.com,5", "2 a\rb\n4 c\r\nd\n6 e\nf\n8 g\r\r\nh\r\n12 i.com\n"},
		{"quoted, CR alone", "csv", "url\r\"a\rb\"\r\"c\"\r", "2 a\rb\n4 c\n"},
		{"quoted header", "csv", "\"u\rl\",url\r1,a.com\n2,b.com\r", "3 a.com\n4 b.com\n"},
		{"unclosed quote", "csv", "url,n\r\"a.com,1\rb.com,2\nc.com,3\r", "2! " + faultUnclosed + "\n3 b.com\n4 c.com\n"},
		{"unclosed quote met by another", "csv", "url,n\r\"a.com,1\rb.com,2\rc\"d,3\re.com,4\r",
			"2! a quote opened on this line is closed on line 4, but: " + faultAfterQuote + "\n3 b.com\n4 c\"d\n5 e.com\n"},
		{"line too long", "csv", "url\r" + strings.Repeat("x", 3<<20) + "\rb.com\nc.com\r", "2! " + faultLongLine + "\n3 b.com\n4 c.com\n"},
		{"separator", "csv", "sep=;\rn;url\r1;a.com\n2;b.com\r\n", "3 a.com\n4 b.com\n"},
		{"txt", "txt", "a.com\rb.com\nc.com\r\nd.com\r\r\n# e.com\rf.com", "1 a.com\n2 b.com\n3 c.com\n4 d.com\n7 f.com\n"},
		{"jsonl", "jsonl", "{\"url\":\"a\"}\r{\"url\":\"b\"}\n\"c\"\r\n{\"url\":\"d\"}\r\r\n{\r\"e\"", "1 a\n2 b\n3 c\n4 d\n6! broken JSON: unexpected end of JSON input\n7 e\n"},
		{"document", "jsonl", "[\r{\"url\":\r\n\"a\"},\n\r\r\n{\"url\":\"b\"},{\"url\":\"c\"}\r]\r", "2 a\n6 b\n6 c\n"},
		{"values", "jsonl", "{\r\"url\":\"a\"}\r\n{\"url\":\r\"b\"}\r", "1 a\n3 b\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := writeFile(t, "list", test.content)
			for source, o := range map[string]Options{
				"file":         {Paths: []string{path}},
				"byte by byte": {Paths: []string{"-"}, Stdin: iotest.OneByteReader(strings.NewReader(test.content))},
			} {
				o.Format, o.Candidates, o.Comment = test.format, candidates, "#"
				if got := summary(readAll(t, openReader(t, o))); got != test.want {
					t.Errorf("%s: got\n%.500q\nwant\n%.500q", source, got, test.want)
				}
			}
		})
	}
}

// A line end may lie anywhere in the buffer, and a CRLF in two reads.
func TestLineEndsAtBufferBoundaries(t *testing.T) {
	for size := readSize - 4; size <= readSize+1; size++ {
		for _, end := range []string{"\n", "\r\n", "\r", "\r\r\n"} {
			long := strings.Repeat("x", size)
			content := "url\n" + long + end + "a.com" + end + "\"" + long + end + "\"" + end + "b.com\n"
			want := []string{long, "a.com", long + end, "b.com"}
			for _, src := range []io.Reader{strings.NewReader(content), iotest.HalfReader(strings.NewReader(content))} {
				r := openReader(t, Options{Paths: []string{"-"}, Stdin: src, Format: "csv", Candidates: candidates})
				var got []string
				for _, rec := range readAll(t, r) {
					got = append(got, rec.Input)
				}
				if !slices.Equal(got, want) {
					t.Errorf("%d bytes, %q: %d records", size, end, len(got))
				}
			}
		}
	}
}

// Line numbers follow the universal newlines of editors and of Python, however lines are consumed.
func TestLineNumbers(t *testing.T) {
	pieces := []string{"a", "\r", "\n", "\r\n", "bc"}
	for n := range 5 * 5 * 5 * 5 * 5 {
		var text []byte
		for rest := n; rest > 0; rest /= len(pieces) {
			text = append(text, pieces[rest%len(pieces)]...)
		}
		universal := bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
		want := bytes.Split(bytes.TrimSuffix(universal, []byte("\n")), []byte("\n"))
		l := newLineSplitter(iotest.OneByteReader(bytes.NewReader(text)))
		for i, line := range want {
			if len(text) == 0 {
				break
			}
			if number := l.number; number != int64(i)+1 {
				t.Fatalf("%q: line %d has the number %d", text, i+1, number)
			}
			if i%2 == 1 {
				l.skip()
			} else if got, err := l.next(); err != nil || !bytes.Equal(got, line) {
				t.Fatalf("%q: line %d is %q (%v), want %q", text, i+1, got, err, line)
			}
		}
		if _, err := l.next(); err != io.EOF {
			t.Fatalf("%q: %v after the last line", text, err)
		}
	}
}
