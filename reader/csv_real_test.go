package reader

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

// The wanted rows are those of pandas 3.1 (read_csv with dtype=str, keep_default_na=False, index_col=False) for
// files that RFC 4180 does not allow.
func TestCSVAsPandas(t *testing.T) {
	tests := []struct {
		name, content string
		columns       []string
		rows          [][]string
	}{
		{"inch marks", "id,name,price\n1,TV 55\" 4K,300\n2,12\" cast iron skillet,30\n",
			[]string{"id", "name", "price"}, [][]string{{"1", `TV 55" 4K`, "300"}, {"2", `12" cast iron skillet`, "30"}}},
		{"inch mark at the end of a field", "id,name,price\n1,TV 55\",300\n2,9\",1\"\n",
			[]string{"id", "name", "price"}, [][]string{{"1", `TV 55"`, "300"}, {"2", `9"`, `1"`}}},
		{"inch mark at the end of a line", "id,name\n1,TV 55\"\n2,x\n",
			[]string{"id", "name"}, [][]string{{"1", `TV 55"`}, {"2", "x"}}},
		{"inch mark before CRLF", "id,name\r\n1,TV 55\"\r\n2,x 5\" y\r\n",
			[]string{"id", "name"}, [][]string{{"1", `TV 55"`}, {"2", `x 5" y`}}},
		{"doubled quotes in an unquoted field", "id,name\n1,TV 55\"\" 4K\n2,\"\"\n",
			[]string{"id", "name"}, [][]string{{"1", `TV 55"" 4K`}, {"2", ""}}},
		{"space before a quote", "id,name\n1, \"a\"\n",
			[]string{"id", "name"}, [][]string{{"1", ` "a"`}}},
		{"text after a closing quote", "id,name\n1,\"a\"b\n2,\"a\"\" \"\"b\" c\n",
			[]string{"id", "name"}, [][]string{{"1", "ab"}, {"2", `a" "b c`}}},
		{"quotes after a closing quote", "id,name\n1,\"a\" and \"b\"\n2,\"a\"b\"c\n",
			[]string{"id", "name"}, [][]string{{"1", `a and "b"`}, {"2", `ab"c`}}},
		{"empty quotes, then text", "id,name\n1,\"\"x\n2,\"\" \n",
			[]string{"id", "name"}, [][]string{{"1", "x"}, {"2", " "}}},
		{"delimiter in the text after a closing quote", "id,name,price\n1,\"a\" b,\"c, d\" e\n",
			[]string{"id", "name", "price"}, [][]string{{"1", "a b", "c, d e"}}},
		{"inch mark after a field over lines", "id,text,name\n1,\"a\nb\",TV 55\" 4K\n2,c,d\n",
			[]string{"id", "text", "name"}, [][]string{{"1", "a\nb", `TV 55" 4K`}, {"2", "c", "d"}}},
		{"field over lines after an inch mark", "id,name,text\n1,TV 55\" 4K,\"a\n5\"\" b\n\"\n2,c,d\n",
			[]string{"id", "name", "text"}, [][]string{{"1", `TV 55" 4K`, "a\n5\" b\n"}, {"2", "c", "d"}}},
		{"inch mark in the header", "id,size \"\n1,2\n",
			[]string{"id", `size "`}, [][]string{{"1", "2"}}},
		{"short rows", "a,b,c\n1,2\n3\n4,5,6\n",
			[]string{"a", "b", "c"}, [][]string{{"1", "2", ""}, {"3", "", ""}, {"4", "5", "6"}}},
		{"short rows with quotes", "a,b,c\n\"1\",\"2\"\n\"3\"\n",
			[]string{"a", "b", "c"}, [][]string{{"1", "2", ""}, {"3", "", ""}}},
		{"trailing delimiters throughout", "a,b\n1,2,\n3,4,\n",
			[]string{"a", "b"}, [][]string{{"1", "2"}, {"3", "4"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := openReader(t, fromString(test.content, Options{Format: "csv", Columns: test.columns[:1]}))
			if got := r.Columns(); !slices.Equal(got, test.columns) {
				t.Errorf("columns %q, want %q", got, test.columns)
			}
			var rows [][]string
			for _, rec := range readAll(t, r) {
				if rec.Err != nil {
					t.Errorf("record %d: %v", rec.Number, rec.Err)
				}
				rows = append(rows, rec.Fields)
			}
			if !slices.EqualFunc(rows, test.rows, slices.Equal) {
				t.Errorf("got %q, want %q", rows, test.rows)
			}
		})
	}
}

// A malformed row has the fields that are certain.
func TestFaultyRowsHaveFields(t *testing.T) {
	long := strings.Repeat("x", maxRecord)
	tests := []struct {
		name, row string
		fault     string // prefix of the reason
		fields    []string
	}{
		{"too many fields", "1,Chair, oak,30", "wrong number of fields: 4, want 3", []string{"1", "Chair", " oak"}},
		{"too many fields, with quotes", `1,"Chair", oak,30`, "wrong number of fields: 4, want 3", []string{"1", "Chair", " oak"}},
		{"stray opening quote", `1,"12 inch skillet,30`, faultUnclosed, []string{"1", `"12 inch skillet`, "30"}},
		{"stray opening quote in the first field", `"12 inch skillet,30,a1`, faultUnclosed, []string{`"12 inch skillet`, "30", "a1"}},
		{"stray opening quote after quoted fields", `"a1","12"" inch ""pan,30`, faultUnclosed, []string{"a1", `"12"" inch ""pan`, "30"}},
		{"stray opening quote before an unknown number of fields", `1,"Chair, oak,30`, faultUnclosed, []string{"1", "", ""}},
		{"invalid UTF-8", "1,caf\xe9,30", faultEncoding, []string{"1", "caf\ufffd", "30"}},
		{"invalid UTF-8 in quotes", "1,\"caf\xe9\"", faultEncoding, []string{"1", "caf\ufffd", ""}},
		{"invalid UTF-8 in an open quote", "1,\"caf\xe9,30", faultUnclosed, []string{"1", "\"caf\ufffd", "30"}},
		{"line too long", "1,a b," + long, faultLongLine, []string{"1", "a b", ""}},
		{"line too long in quotes", `1,"a, ` + long, faultLongLine, []string{"1", "", ""}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			// No quote follows the row, so the quote stays open.
			content := "id,name,domain\n" + test.row + "\n2,b,b.com\n"
			r := openReader(t, fromString(content, Options{Format: "csv", Candidates: candidates, Encoding: "utf-8"}))
			records := readAll(t, r)
			if len(records) != 2 || records[1].Err != nil || records[1].Input != "b.com" {
				t.Fatalf("the row behind is lost:\n%.1000s", summary(records))
			}
			first := records[0]
			if first.Err == nil || !strings.Contains(first.Err.Error(), ":2: "+test.fault) {
				t.Errorf("got the error %v, want %q", first.Err, test.fault)
			}
			if first.Input != "" || !slices.Equal(first.Fields, test.fields) {
				t.Errorf("input %q, fields %.200q, want none and %q", first.Input, first.Fields, test.fields)
			}
		})
	}
}

// The fields of a malformed row are in the order of the run's columns.
func TestFaultyRowsOfSeveralFiles(t *testing.T) {
	first := writeFile(t, "a.csv", "domain\na.com\n")
	second := writeFile(t, "b.csv", "id,domain\n7,b.com,too,many\n")
	r := openReader(t, Options{Paths: []string{first, second}, Candidates: candidates})
	records := readAll(t, r)
	if got := records[1]; got.Err == nil || !slices.Equal(got.Fields, []string{"b.com", "7"}) {
		t.Errorf("got %q, %v", got.Fields, got.Err)
	}
}

func TestShortRowsAreTold(t *testing.T) {
	var log bytes.Buffer
	content := "domain,n,m\na.com,1,2\nb.com,1\n\"c.com\"\nd.com,1,2,3\n"
	readAll(t, openReader(t, fromString(content, Options{Format: "csv", Candidates: candidates, Log: slog.New(slog.NewTextHandler(&log, nil))})))
	if got := log.String(); !strings.Contains(got, "rows=2 first_line=3\n") {
		t.Errorf("the log has %q", got)
	}
}

func TestSeparatorLine(t *testing.T) {
	tests := []struct {
		name, content string
		options       Options
		want          string // the fields of the first record
	}{
		{"semicolon", "sep=;\ndomain;n\na.com;1,5\n", Options{}, "3 a.com/1,5"},
		{"CRLF", "sep=;\r\ndomain;n\r\na.com;1,5\r\n", Options{}, "3 a.com/1,5"},
		{"CR", "sep=;\rdomain;n\ra.com;1,5\r", Options{}, "3 a.com/1,5"},
		{"byte order mark", "\ufeffsep=;\ndomain;n\na.com;1,5\n", Options{}, "3 a.com/1,5"},
		{"UTF-16 with its mark", "\xff\xfes\x00e\x00p\x00=\x00;\x00\n\x00u\x00r\x00l\x00;\x00n\x00\n\x00a\x00;\x001\x00", Options{}, "3 a/1"},
		{"quoted", "\"sep=;\"\ndomain;n\na.com;1,5\n", Options{}, "3 a.com/1,5"},
		{"capitals", "SEP=;\ndomain;n\na.com;1,5\n", Options{}, "3 a.com/1,5"},
		{"tab", "sep=\t\ndomain\tn\na.com\t1,5\n", Options{}, "3 a.com/1,5"},
		{"a delimiter that is not looked for", "sep=^\ndomain^n\na.com^1,5\n", Options{}, "3 a.com/1,5"},
		{"against the look of the rows", "sep=;\ndomain;a,b\na.com;1,5\nb.com;2,5\n", Options{}, "3 a.com/1,5"},
		{"quoted field over lines", "sep=;\ndomain;n\n\"a.com\";\"1\n5\"\n", Options{}, "3 a.com/1\n5"},
		{"delimiter named", "sep=;\ndomain,n\na.com,1;5\n", Options{Dialect: Dialect{Delimiter: ","}}, "3 a.com/1;5"},
		{"no header", "sep=;\na.com;1,5\n", Options{Columns: []string{"1"}, Dialect: Dialect{Header: NoHeader}}, "2 a.com/1,5"},
		{"no delimiter", "sep=\na.com\n", Options{Columns: []string{"1"}, Dialect: Dialect{Header: NoHeader}}, "1 sep="},
		{"two delimiters", "sep=;;\na.com\n", Options{Columns: []string{"1"}, Dialect: Dialect{Header: NoHeader}}, "1 sep=/"},
		{"strict", "sep=;\na.com;1,5\n", Options{Columns: []string{"1"}, Dialect: Dialect{Delimiter: ";", Header: NoHeader, Strict: true}}, "1 sep=/"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.options.Candidates = candidates
			path := writeFile(t, "list", test.content)
			for _, o := range []Options{fromString(test.content, test.options), test.options} {
				if o.Paths == nil {
					o.Paths = []string{path}
				}
				records := readAll(t, openReader(t, o))
				if len(records) == 0 {
					t.Fatal("no records")
				}
				_, line, _ := strings.Cut(place("", records[0].Line), ":")
				if got := line + " " + strings.Join(records[0].Fields[:min(2, len(records[0].Fields))], "/"); !strings.HasPrefix(got, test.want) {
					t.Errorf("got %q, want %q", got, test.want)
				}
			}
		})
	}
}
