package reader

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCSVRows(t *testing.T) {
	long := strings.Repeat("x", maxRecord)
	tests := []struct {
		name, content string
		want          string // in strict mode; see summary
	}{
		{"plain", "domain,n\na.com,1\nb.com,2\n", "2 a.com\n3 b.com\n"},
		{"no line feed at the end", "domain,n\na.com,1", "2 a.com\n"},
		{"CRLF", "domain,n\r\na.com,1\r\nb.com,2\r\n", "2 a.com\n3 b.com\n"},
		{"CR at the end of the file", "n,domain\r\n1,a.com\r", "2 a.com\n"},
		{"blank lines are skipped", "\n\r\ndomain,n\n\na.com,1\n\n\nb.com,2\n\n", "5 a.com\n8 b.com\n"},
		{"input is not trimmed", "domain,n\n a.com ,1\n", "2  a.com \n"},
		{"empty input", "domain,n\n,1\n", "2 \n"},
		{"NUL", "domain,n\na\x00b,1\n", "2 a\x00b\n"},
		{"byte order mark", "\ufeffdomain,n\na.com,1\n", "2 a.com\n"},
		{"byte order mark before a quote", "\ufeff\"domain\",n\na.com,1\n", "2 a.com\n"},
		{"quotes", "domain,n\n\"a.com\",\"1\"\n\"b,\"\"c\"\"\",2\n\"\",3\n", "2 a.com\n3 b,\"c\"\n4 \n"},
		{"line feeds in quotes", "domain,n\n\"a\nb\r\n\nc\",1\nd.com,2\n", "2 a\nb\r\n\nc\n6 d.com\n"},
		{"escaped quote at the end of a line", "domain,n\n\"a\"\"\nb\",1\nc.com,2\n", "2 a\"\nb\n4 c.com\n"},
		{"quoted header over lines", "\"do\nmain\",domain\n1,a.com\n", "3 a.com\n"},

		{"lines of spaces", "domain,n\n \na.com,1\n   \r\nb.com,2\n ",
			"2! wrong number of fields: 1, want 2\n3 a.com\n4! wrong number of fields: 1, want 2\n5 b.com\n6! wrong number of fields: 1, want 2\n"},
		{"too many fields", "domain,n\na.com,1,2\nb.com,2\n",
			"2! wrong number of fields: 3, want 2\n3 b.com\n"},
		{"too few fields", "domain,n\na.com\n\"a\"\nb.com,2\n",
			"2! wrong number of fields: 1, want 2\n3! wrong number of fields: 1, want 2\n4 b.com\n"},
		{"bare quote", "domain,n\na\"b,1\nb.com,2\n", "2! " + faultBareQuote + "\n3 b.com\n"},
		{"space before a quote", "domain,n\na, \"1\"\nb.com,2\n", "2! " + faultBareQuote + "\n3 b.com\n"},
		{"text after a closing quote", "domain,n\n\"a\"b,1\nb.com,2\n", "2! " + faultAfterQuote + "\n3 b.com\n"},
		{"unclosed quote", "domain,n\na.com,1\n\"b.com,2\nc.com,3\nd.com,4\n",
			"2 a.com\n3! " + faultUnclosed + "\n4 c.com\n5 d.com\n"},
		{"unclosed quote in the last field", "domain,n\na.com,\"1\nb.com,2\n",
			"2! " + faultUnclosed + "\n3 b.com\n"},
		{"unclosed quote on the last line", "domain,n\na.com,1\nb.com,\"2", "2 a.com\n3! " + faultUnclosed + "\n"},
		{"unclosed quote met by a stray one", "domain,n\n\"a.com,1\nb.com,2\nc\"d,3\ne.com,4\n",
			"2! a quote opened on this line is closed on line 4, but: " + faultAfterQuote + "\n3 b.com\n4! " + faultBareQuote + "\n5 e.com\n"},
		{"unclosed quote closed in the wrong field", "domain,n\na.com,\"1\nb.com,2\nc.com,3\",4\nd.com,5\n",
			"2! a quote opened on this line is closed on line 4, but: wrong number of fields: 3, want 2\n3 b.com\n4! " + faultBareQuote + "\n5 d.com\n"},
		{"unclosed quote before a quoted row", "domain,n\n\"a.com,1\n\"b.com\",2\nc.com,3\n",
			"2! a quote opened on this line is closed on line 3, but: " + faultAfterQuote + "\n3 b.com\n4 c.com\n"},
		{"unclosed quote before a quoted row over lines", "domain,n\n\"a.com,1\n\"b\n.com\",2\nc.com,3\n",
			"2! a quote opened on this line is closed on line 3, but: " + faultAfterQuote + "\n3 b\n.com\n5 c.com\n"},
		{"a quote on every line", "domain,n\n\"a,1\n\"b,1\n\"c,1\nd.com,1\n",
			"2! a quote opened on this line is closed on line 3, but: " + faultAfterQuote +
				"\n3! a quote opened on this line is closed on line 4, but: " + faultAfterQuote +
				"\n4! " + faultUnclosed + "\n5 d.com\n"},
		{"invalid UTF-8", "domain,n\ncaf\xe9,1\nb.com,2\n", "2! " + faultEncoding + "\n3 b.com\n"},
		{"invalid UTF-8 in quotes over lines is one record", "domain,n\n\"caf\xe9\nx\",1\nb.com,2\n",
			"2! " + faultEncoding + "\n4 b.com\n"},

		{"invalid UTF-8 whose halves stand in two fields", "domain,n\na\xdd,\"\x80\"\nb.com,2\n", "2! " + faultEncoding + "\n3 b.com\n"},

		{"longest line", "domain,n\n" + long[2:] + ",1\nb.com,2\n", "2 " + long[2:] + "\n3 b.com\n"},
		{"longest line, CRLF", "domain,n\r\n" + long[2:] + ",1\r\nb.com,2\r\n", "2 " + long[2:] + "\n3 b.com\n"},
		{"line too long", "domain,n\n" + long[1:] + ",1\nb.com,2\n", "2! " + faultLongLine + "\n3 b.com\n"},
		{"last line too long", "domain,n\n" + long[1:] + ",1", "2! " + faultLongLine + "\n"},
		{"line many times too long", "domain,n\n" + strings.Repeat(long, 5) + "\nb.com,2\n", "2! " + faultLongLine + "\n3 b.com\n"},
		{"quoted record too long", "domain,n\n\"a,1\n" + strings.Repeat("b.com,2\n", 3) + long[9:] + ",4\n",
			"2! " + faultLongRecord + "\n3 b.com\n4 b.com\n5 b.com\n6 " + long[9:] + "\n"},
		{"quoted record before a line too long", "domain,n\n\"a,1\n" + long + ",2\nc.com,3\n",
			"2! " + faultLongRecord + "\n3! " + faultLongLine + "\n4 c.com\n"},

		{"header only", "domain,n\n", ""},
		{"empty", "", ""},
		{"blank", "\n\r\n\n", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := openReader(t, fromString(test.content, Options{Format: "csv", Candidates: candidates, Dialect: Dialect{Strict: true}}))
			if got := summary(readAll(t, r)); got != test.want {
				t.Errorf("got\n%.2000s\nwant\n%.2000s", got, test.want)
			}
			want, differs := lenient[test.name]
			if !differs {
				want = test.want
			}
			r = openReader(t, fromString(test.content, Options{Format: "csv", Candidates: candidates, Encoding: "utf-8"}))
			if got := summary(readAll(t, r)); got != want {
				t.Errorf("not strict: got\n%.2000s\nwant\n%.2000s", got, want)
			}
		})
	}
}

// lenient is the result that TestCSVRows wants without strict mode, if it differs.
var lenient = map[string]string{
	"lines of spaces":            "3 a.com\n5 b.com\n",
	"too few fields":             "2 a.com\n3 a\n4 b.com\n",
	"bare quote":                 "2 a\"b\n3 b.com\n",
	"space before a quote":       "2 a\n3 b.com\n",
	"text after a closing quote": "2 ab\n3 b.com\n",
	"unclosed quote met by a stray one": "2! a quote opened on this line is closed on line 4, but: " + faultAfterQuote +
		"\n3 b.com\n4 c\"d\n5 e.com\n",
	"unclosed quote closed in the wrong field": "2! a quote opened on this line is closed on line 4, but: wrong number of fields: 3, want 2" +
		"\n3 b.com\n4! wrong number of fields: 3, want 2\n5 d.com\n",
}

func TestCSVFields(t *testing.T) {
	tests := []struct {
		name, content string
		options       Options
		columns       []string
		fields        []string // of the first record
		input         string
	}{
		{"comma", "domain,title\na.com,A\n", Options{Candidates: candidates},
			[]string{"domain", "title"}, []string{"a.com", "A"}, "a.com"},
		{"quoted and plain", "domain,title\n\"a.com\",\"A, \"\"B\"\"\"\n", Options{Candidates: candidates},
			[]string{"domain", "title"}, []string{"a.com", `A, "B"`}, "a.com"},
		{"semicolon", "title;domain\nA, B;a.com\n", Options{Candidates: candidates},
			[]string{"title", "domain"}, []string{"A, B", "a.com"}, "a.com"},
		{"delimiter of several bytes", "title¦domain\nA¦\"a¦com\"\n", Options{Candidates: candidates, Dialect: Dialect{Delimiter: "¦"}},
			[]string{"title", "domain"}, []string{"A", "a¦com"}, "a¦com"},
		{"trailing empty fields", "domain,x,y\na.com,,\n", Options{Candidates: candidates},
			[]string{"domain", "x", "y"}, []string{"a.com", "", ""}, "a.com"},
		{"duplicate and empty names", "a,a,,a,a_2, \n1,2,3,4,5,6\n", Options{Columns: []string{"a"}},
			[]string{"a", "a_2", "3", "a_3", "a_2_2", "6"}, []string{"1", "2", "3", "4", "5", "6"}, "1"},
		{"no header, one column", "a.com\nb.com\n", Options{Dialect: Dialect{Header: NoHeader}},
			[]string{"1"}, []string{"a.com"}, "a.com"},
		{"no header, named column", "A,a.com\nB,b.com\n", Options{Columns: []string{"2"}, Dialect: Dialect{Header: NoHeader}},
			[]string{"1", "2"}, []string{"A", "a.com"}, "a.com"},
		{"no header, first row malformed", "\"A,a.com\nB,b.com\n", Options{Columns: []string{"2"}, Dialect: Dialect{Header: NoHeader}},
			[]string{"1", "2"}, []string{`"A`, "a.com"}, ""},
		{"no header, nothing well-formed", "\"A,a.com\n", Options{Columns: []string{"2"}, Dialect: Dialect{Header: NoHeader}},
			[]string{}, []string{}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.options.Format = "csv"
			r := openReader(t, fromString(test.content, test.options))
			if got := r.Columns(); !slices.Equal(got, test.columns) {
				t.Errorf("columns %q, want %q", got, test.columns)
			}
			rec, err := r.Read()
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(rec.Fields, test.fields) || rec.Input != test.input {
				t.Errorf("fields %q, input %q, want %q, %q", rec.Fields, rec.Input, test.fields, test.input)
			}
		})
	}
}

// A header or first row longer than the first sample requires a larger sample.
func TestCSVLongBeginning(t *testing.T) {
	long := strings.Repeat("x", 2*sampleSize)
	tests := []struct {
		name, content string
		options       Options
		want          string
	}{
		{"header", long + ",domain\n1,a.com\n", Options{Candidates: candidates}, "2 a.com\n"},
		{"quoted header", "\"" + strings.Repeat("x\n", sampleSize) + "\",domain\n1,a.com\n", Options{Candidates: candidates}, "65538 a.com\n"},
		{"quoted first row", "\"" + strings.Repeat("x\n", sampleSize) + "\",a.com\nB,b.com\n", Options{Columns: []string{"2"}, Dialect: Dialect{Header: NoHeader}}, "1 a.com\n65538 b.com\n"},
		{"blank lines", strings.Repeat("\n", 2*sampleSize) + "domain\na.com\n", Options{Candidates: candidates}, "131074 a.com\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.options.Format = "csv"
			r := openReader(t, fromString(test.content, test.options))
			if got := summary(readAll(t, r)); got != test.want {
				t.Errorf("got\n%.200s\nwant\n%s", got, test.want)
			}
		})
	}
}

// Files full of stray quotes must not take quadratic time: looking 1 MiB ahead from every line would take hours.
func TestCSVStrayQuotesAreLinear(t *testing.T) {
	patterns := map[string]string{
		"open":            "\"a\n",
		"open, then even": "\"a\n" + strings.Repeat("\"\",\"\"\n", 50),
		"escaped":         "\"\"\"\n",
		"reopened":        "a,\"\n\",\"\n",
		"one in many":     "\"a\n" + strings.Repeat("b\n", 1000),
	}
	for name, pattern := range patterns {
		t.Run(name, func(t *testing.T) {
			content := strings.Repeat(pattern, 1<<19/len(pattern))
			readInTime(t, fromString("domain,n\n"+content, Options{Format: "csv", Candidates: candidates}))
		})
	}
	t.Run("text, reopened", func(t *testing.T) {
		content := strings.Repeat("b\",5\" c,\"d\n", 1<<15)
		readInTime(t, fromString("domain"+strings.Repeat(",n", 30)+"\n"+content, Options{Format: "csv", Candidates: candidates}))
		readInTime(t, fromString(content, Options{Format: "csv", Columns: []string{"1"}, Dialect: Dialect{Header: NoHeader}}))
	})
}

// readInTime fails if reading takes more than a minute.
func readInTime(t *testing.T, o Options) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	r, err := Open(t.Context(), o)
	if err != nil {
		return // Open refused the input
	}
	defer r.Close()
	for n := 0; ; n++ {
		if _, err := r.Read(); err != nil {
			return
		}
		if n%1000 == 0 && time.Now().After(deadline) {
			t.Fatalf("still reading after a minute, at record %d", n)
		}
	}
}
