package reader

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

func TestJSONLRecords(t *testing.T) {
	long := strings.Repeat("x", maxRecord)
	tests := []struct {
		name, content string
		want          string // see summary
	}{
		{"objects", `{"domain":"a.com"}` + "\n" + ` {"n": 1, "domain" : "b.com"} ` + "\n", "1 a.com\n2 b.com\n"},
		{"no line feed at the end", `{"domain":"a.com"}`, "1 a.com\n"},
		{"CRLF and blank lines", "\r\n" + `{"domain":"a.com"}` + "\r\n \t\r\n" + `{"domain":"b.com"}` + "\r\n", "2 a.com\n4 b.com\n"},
		{"bare strings", `"a.com"` + "\n" + `"b\u002ecom"` + "\n", "1 a.com\n2 b.com\n"},
		{"bare strings among objects", `{"domain":"a.com"}` + "\n" + `"b.com"` + "\n", "1 a.com\n2 b.com\n"},
		{"byte order mark", "\ufeff" + `{"domain":"a.com"}` + "\n", "1 a.com\n"},
		{"escapes", `{"d\u006fmain":"\"\u00e9\ud83d\ude00\n\u0000"}`, "1 \"é😀\n\x00\n"},
		{"lone surrogate", `{"domain":"a\ud800b"}`, "1 a\ufffdb\n"},
		{"last of equal keys", `{"domain":"a.com","domain":"b.com"}`, "1 b.com\n"},
		{"number", `{"domain":1.50}`, "1 1.50\n"},
		{"large number", `{"domain":12345678901234567890}`, "1 12345678901234567890\n"},
		{"nothing", `{"domain":""}` + "\n" + `{"domain":null}` + "\n{}\n", "1 \n2 \n3 \n"},
		{"nested values are passed over", `{"x":{"domain":"no","y":["}\"",{}]},"domain":"a.com"}`, "1 a.com\n"},

		{"input of another type", `{"domain":"a"}` + "\n" + `{"domain":{"x":1}}` + "\n" + `{"domain":["a"]}` + "\n" + `{"domain":true}` + "\n",
			"1 a\n2! column \"domain\" is an object, want a string\n3! column \"domain\" is an array, want a string\n4! column \"domain\" is a boolean, want a string\n"},
		{"line of another type", `{"domain":"a"}` + "\n1\nnull\n[\"a\"]\nfalse\n",
			"1 a\n2! the line is a number, want an object or a string\n3! the line is null, want an object or a string\n" +
				"4! the line is an array, want an object or a string\n5! the line is a boolean, want an object or a string\n"},
		{"broken JSON", `{"domain":"a"}` + "\n" + `{"domain":"b"` + "\n" + `{"domain":"c"}` + "\n",
			"1 a\n2! broken JSON: unexpected end of JSON input\n3 c\n"},
		{"broken first line", `{"domain":` + "\n" + `{"domain":"c"}` + "\n", "1! broken JSON: unexpected end of JSON input\n2 c\n"},
		{"trailing garbage", `{"domain":"a"}` + "\n" + `{"domain":"b"} {}` + "\n" + `{"domain":"c"},` + "\n" + `{"domain":"d"}` + "\n",
			"1 a\n2! broken JSON: invalid character '{' after top-level value\n3! broken JSON: invalid character ',' after top-level value\n4 d\n"},
		{"control character", `{"domain":"a"}` + "\n" + "{\"domain\":\"a\x00\"}\n",
			"1 a\n2! broken JSON: invalid character '\\x00' in string literal\n"},
		{"invalid UTF-8", `{"domain":"a"}` + "\n" + "{\"domain\":\"é caf\xe9\"}\n" + `{"domain":"c"}`, "1 a\n2! " + faultEncoding + "\n3 c\n"},
		{"line too long", `{"domain":"a"}` + "\n" + `{"domain":"` + long + `"}` + "\n" + `{"domain":"c"}`, "1 a\n2! " + faultLongLine + "\n3 c\n"},
		{"too deep", `{"domain":"a"}` + "\n" + `{"x":` + strings.Repeat("[", 20000) + "\n" + `{"domain":"c"}`,
			"1 a\n2! broken JSON: invalid character '[' exceeded max depth\n3 c\n"},
		{"objects after bare strings only", strings.Repeat("\"a\"\n", sampleRecords) + `{"domain":"b"}`,
			bareStrings(sampleRecords) + "1001! the line is an object, but the input column is not known; name it\n"},
		{"empty", "", ""},
		{"blank", "\n \n", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := openReader(t, fromString(test.content, Options{Format: "jsonl", Candidates: candidates}))
			if got := summary(readAll(t, r)); got != test.want {
				t.Errorf("got\n%.2000s\nwant\n%.2000s", got, test.want)
			}
		})
	}
}

func bareStrings(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d a\n", i+1)
	}
	return b.String()
}

func TestJSONLFields(t *testing.T) {
	tests := []struct {
		name, content string
		options       Options
		columns       []string
		fields        []string // of the last record
		input         string
	}{
		{"keys in order of appearance", `{"b":1,"domain":"x"}` + "\n" + `{"a":"2","domain":"y","b":null}`, Options{},
			[]string{"b", "domain", "a"}, []string{"", "y", "2"}, "y"},
		{"values as compact JSON", `{"domain":"x","o":{ "k" : [ 1, "a b" ] },"t":true,"n":1.0e3,"s":""}`, Options{},
			[]string{"domain", "o", "t", "n", "s"}, []string{"x", `{"k":[1,"a b"]}`, "true", "1.0e3", ""}, "x"},
		{"bare strings have no columns", `"a"`, Options{}, []string{}, []string{}, "a"},
		{"fields of an input of another type", `{"domain":[ 1 ],"n":2}`, Options{Columns: []string{"domain"}}, []string{"domain", "n"}, []string{"[1]", "2"}, ""},
		{"invalid UTF-8", `{"id":"7","domain":"é"}` + "\n{\"id\":\"8\",\"domain\":\"\xe9\"}", Options{}, []string{"id", "domain"}, []string{"8", "\ufffd"}, ""},
		{"dotted path", `{"shop":{"site":{"url":"x"}},"n":1}`, Options{Columns: []string{"shop.site.url"}},
			[]string{"shop", "n"}, []string{`{"site":{"url":"x"}}`, "1"}, "x"},
		{"dotted path to nothing", `{"a":{"b":"x"}}` + "\n" + `{"a":"s"}`, Options{Columns: []string{"a.b"}}, []string{"a"}, []string{"s"}, ""},
		{"key with a dot before a path", `{"a":{"b":"path"},"a.b":"key"}`, Options{Columns: []string{"a.b"}},
			[]string{"a", "a.b"}, []string{`{"b":"path"}`, "key"}, "key"},
		{"last of equal keys on a path", `{"a":{"b":"1"},"a":{"b":"2","b":"3"}}`, Options{Columns: []string{"a.b"}},
			[]string{"a"}, []string{`{"b":"2","b":"3"}`}, "3"},
		{"column in another case", `{"Domain":"x"}`, Options{Columns: []string{"domain"}}, []string{"Domain"}, []string{"x"}, "x"},
		{"extra columns", `{"domain":"x"}` + strings.Repeat("\n{}", sampleRecords) + "\n" + `{"domain":"y","late":7,"o":{"p":"q"}}`,
			Options{ExtraColumns: []string{"late", "o.p", "never", "domain"}},
			[]string{"domain", "late", "o.p", "never"}, []string{"y", "7", "q", ""}, "y"},
		{"extra column is the input", strings.Repeat("{}\n", sampleRecords) + `{"late":"y"}`,
			Options{Columns: []string{"late"}, ExtraColumns: []string{"late"}}, []string{"late"}, []string{"y"}, "y"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.options.Format, test.options.Candidates = "jsonl", candidates
			r := openReader(t, fromString(test.content, test.options))
			if got := r.Columns(); !slices.Equal(got, test.columns) {
				t.Errorf("columns %q, want %q", got, test.columns)
			}
			records := readAll(t, r)
			last := records[len(records)-1]
			if !slices.Equal(last.Fields, test.fields) || last.Input != test.input {
				t.Errorf("fields %q, input %q, want %q, %q", last.Fields, last.Input, test.fields, test.input)
			}
		})
	}
}

func TestJSONLUnknownKeys(t *testing.T) {
	var content strings.Builder
	content.WriteString(strings.Repeat(`{"domain":"x"}`+"\n", sampleRecords))
	for i := range 30 {
		fmt.Fprintf(&content, `{"domain":"x","k%02d":1,"other":2}`+"\n", i)
	}
	r := openReader(t, fromString(content.String(), Options{Candidates: candidates, ExtraColumns: []string{"k00"}}))
	readAll(t, r)
	names, records := r.UnknownKeys()
	if len(names) != 20 || names[0] != "other" || names[1] != "k01" || names[19] != "k19" || records != 30 {
		t.Errorf("got %q in %d records, want 20 names from other, k01 to k19 in 30", names, records)
	}
}

// JSON arrays and values of several lines have the records of the same values as lines.
func TestJSONDocuments(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"array on one line", `[{"domain":"a"},{"domain":"b"}]`, "1 a\n1 b\n"},
		{"array over lines", "\n\n [\n" + `{"domain":"a"},` + "\n{\n" + `"domain": "b"` + "\n}\n]\n", "4 a\n5 b\n"},
		{"array of strings", "[\n \"a\",\n \"b\"\n]", "2 a\n3 b\n"},
		{"empty array", "[ ]", ""},
		{"objects over lines", "{\n" + `"domain":"a"` + "\n}\n{\n" + `"domain":"b"` + "\n}", "1 a\n4 b\n"},
		{"values of other types", "[{\"domain\":\"a\"},\n1,\n[\"x\"],\nnull,{\"domain\":[]}]",
			"1 a\n2! the value is a number, want an object or a string\n3! the value is an array, want an object or a string\n" +
				"4! the value is null, want an object or a string\n4! column \"domain\" is an array, want a string\n"},
		{"invalid UTF-8", "[\n{\"domain\":\"a\"},{\"domain\":\"\xe9\"}]", "2 a\n2! " + faultEncoding + "\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, format := range []string{"", "jsonl"} { // "": by the content
				r := openReader(t, fromString(test.content, Options{Format: format, Candidates: candidates, Encoding: "utf-8"}))
				if got := summary(readAll(t, r)); got != test.want || r.Files()[0].Format != "json" {
					t.Errorf("%s: got\n%s\nwant\n%s", r.Files()[0].Format, got, test.want)
				}
			}
		})
	}
}

// A document is streamed: an array of any length takes little memory, and keeps the lines of its records.
func TestLongJSONArray(t *testing.T) {
	for _, around := range [][2]string{{"", ""}, {`{"n":NaN,"rows":`, `,"others":[{"a":1}]}`}} {
		t.Run(around[0], func(t *testing.T) { testLongJSONArray(t, around[0], around[1]) })
	}
}

func testLongJSONArray(t *testing.T, start, end string) {
	const records = 200_000
	content := start + "[\n" + strings.Repeat("{\"domain\":\"a.com\",\n\"x\":\""+strings.Repeat("x", 90)+"\"},\n", records-1) + "{\"domain\":\"last\"}\n]" + end + "\n"
	before := liveHeap()
	watch := &heapWatch{source: strings.NewReader(content)}
	var log bytes.Buffer
	r := openReader(t, Options{Paths: []string{"-"}, Stdin: watch, Columns: []string{"domain"}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	var last Record
	for {
		rec, err := r.Read()
		if err != nil {
			if err != io.EOF {
				t.Fatal(err)
			}
			break
		}
		last = rec
	}
	if last.Number != records || last.Input != "last" || last.Line != 2*records {
		t.Errorf("the last record is %d, %q on line %d", last.Number, last.Input, last.Line)
	}
	if warned := strings.Contains(log.String(), "a further member"); warned != (end != "") {
		t.Errorf("the log has %s", log.String())
	}
	if watch.samples < 3 || watch.peak > before+24<<20 {
		t.Errorf("%d MB were held in %d looks", (watch.peak-before)>>20, watch.samples)
	}
}

func TestBrokenJSONDocuments(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"no end", "[\n{\"domain\":\"a\"}\n", "stdin:2: the data is cut short"},
		{"cut in a value", "[\n{\"domain\":\"a\"},\n{\"dom", "cut short"},
		{"no comma", "[{\"domain\":\"a\"}\n{\"domain\":\"b\"}]", "broken JSON: expected comma after array element"},
		{"no end below a key", "{\"a\":[\n{\"domain\":\"a\"}\n]", "stdin:3: the data is cut short"},
		{"no end of an array below a key", "{\"a\":[\n{\"domain\":\"a\"},\n", "cut short"},
		{"data behind", "[{\"domain\":\"a\"}]\n{\"domain\":\"b\"}", "stdin:2: broken JSON: data after the end of the array"},
		{"long value", "[{\"domain\":\"a\"},\n\"" + strings.Repeat("x", maxRecord+1) + "\"]", errLongValue.Error()},
		{"endless value", "[{\"domain\":\"a\"},\n\"" + strings.Repeat("x", 8*maxRecord), errLongValue.Error()},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := openReader(t, fromString(test.content, Options{Candidates: candidates}))
			n, err := drain(r)
			if !isReadError(err) || n != 1 || !strings.Contains(err.Error(), test.want) {
				t.Errorf("after %d records: got %v, want a ReadError with %q", n, err, test.want)
			}
		})
	}
}

func TestJSONTypes(t *testing.T) {
	const content = `{"domain":"a","i":1,"d":1.5,"n":1,"b":true,"s":"x","o":{"k":1},"l":[1],"mixed":1,"big":12345678901234567890,"never":null,"late":null}
{"domain":"b","i":-9223372036854775808,"d":1e300,"n":0.5,"b":null,"s":"","o":null,"l":[],"mixed":"1","big":1,"late":7}
`
	for _, form := range []string{content, "[" + strings.ReplaceAll(strings.TrimSpace(content), "\n", ",\n") + "]"} {
		r := openReader(t, fromString(form, Options{Candidates: candidates}))
		want := []Column{{Name: "domain"}, {Name: "i", Type: TypeInt64}, {Name: "d", Type: TypeDouble}, {Name: "n", Type: TypeDouble}, {Name: "b", Type: TypeBool},
			{Name: "s"}, {Name: "o", Type: TypeJSON}, {Name: "l", Type: TypeJSON}, {Name: "mixed"}, {Name: "big"}, {Name: "never"}, {Name: "late", Type: TypeInt64}}
		if got := r.Schema(); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		records := readAll(t, r)
		if got, want := fmt.Sprint(records[1].Nulls), "[false false false false true false true false false false true false]"; got != want {
			t.Errorf("nulls %s, want %s", got, want)
		}
	}
}

// Extra columns that are dotted paths have types, too, and files are compared with each other.
func TestTypesOfPathsAndFiles(t *testing.T) {
	a := writeFile(t, "a.jsonl", `{"domain":"a","shop":{"rank":1,"name":"x"},"id":1,"size":1,"empty":null,"small":1.2345678901234567e-7}`+"\n")
	b := writeFile(t, "b.jsonl", `{"domain":"b","shop":{"rank":2.5,"name":null},"id":"b","size":0.5,"empty":true,"small":12.345678901234567890}`+"\n")
	r := openReader(t, Options{Paths: []string{a, b}, Candidates: candidates, ExtraColumns: []string{"shop.rank", "shop.name", "shop.none"}})
	want := []Column{
		{Name: "domain"}, {Name: "shop", Type: TypeJSON}, {Name: "id"}, {Name: "size", Type: TypeDouble}, {Name: "empty", Type: TypeBool},
		{Name: "small"}, {Name: "shop.rank", Type: TypeDouble}, {Name: "shop.name"}, {Name: "shop.none"},
	}
	if got := r.Schema(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	r = openReader(t, Options{Paths: []string{a}, Candidates: candidates})
	if got := r.Schema()[5]; got.Type != TypeDouble {
		t.Errorf("got %v, want a double: it has 17 digits", got)
	}
}

// Types of two files are united; a column without values in one file has the type of the other.
func TestCommonTypes(t *testing.T) {
	none, text := Column{Type: typeNull}, Column{Type: TypeString}
	whole, number := Column{Type: TypeInt64}, Column{Type: TypeDouble}
	millis, micros := Column{Type: TypeTimestamp, Scale: 3}, Column{Type: TypeTimestamp, Scale: 6}
	local := Column{Type: TypeDateTime, Scale: 6}
	cents, mills := Column{Type: TypeDecimal, Precision: 9, Scale: 2}, Column{Type: TypeDecimal, Precision: 9, Scale: 3}
	for _, test := range []struct{ a, b, want Column }{
		{none, none, none}, {none, whole, whole}, {none, text, text}, {whole, whole, whole}, {whole, number, number},
		{whole, text, text}, {whole, cents, text}, {millis, micros, micros}, {micros, local, text}, {cents, mills, text}, {cents, none, cents},
	} {
		if got := common(test.a, test.b); got != test.want {
			t.Errorf("%v and %v: got %v, want %v", test.a, test.b, got, test.want)
		}
		if got := common(test.b, test.a); got != test.want {
			t.Errorf("%v and %v: got %v, want %v", test.b, test.a, got, test.want)
		}
	}
}

// The number of columns is bounded for objects with data as keys.
func TestKeysThatAreData(t *testing.T) {
	var b strings.Builder
	for i := range 2 * maxColumns {
		fmt.Fprintf(&b, "%s\"m%d\":1", map[bool]string{true: "{\"url\":\"b.com\",", false: ","}[i == 0], i)
	}
	b.WriteString("}\n")
	for i := range 3 * maxColumns {
		fmt.Fprintf(&b, "{\"url\":\"a.com\",\"k%d\":1,\"l%d\":2}\n", i, i)
	}
	r := openReader(t, fromString(b.String(), Options{Candidates: candidates}))
	if n := len(r.Columns()); n != maxColumns {
		t.Errorf("%d columns", n)
	}
	if n := len(readAll(t, r)); n != 3*maxColumns+1 {
		t.Errorf("%d records", n)
	}
	if names, records := r.UnknownKeys(); len(names) == 0 || records < maxColumns {
		t.Errorf("%d records have unknown keys such as %v", records, names)
	}
}
