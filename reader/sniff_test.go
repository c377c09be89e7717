package reader

import (
	"strings"
	"testing"
)

func TestFormat(t *testing.T) {
	tests := []struct {
		name, content string
		options       Options
		want          string
	}{
		{"object", `{"domain":"a.com"}`, Options{}, "jsonl"},
		{"object behind blanks and comments", "\n  \n# x\n {\"domain\":\"a.com\"}", Options{}, "jsonl"},
		{"JSON string", "\"a.com\"\n\"b.com\"\n", Options{}, "jsonl"},
		{"JSON string with an escape", `"say \"x\""`, Options{}, "jsonl"},
		{"quoted column name", "\"domain\"\n\"a.com\"\n", Options{}, "csv"},
		{"quoted row", "\"domain\",\"title\"\n\"a.com\",\"A\"\n", Options{}, "csv"},
		{"candidate alone", "Domain\na.com\n", Options{}, "csv"},
		{"candidate among semicolons", "title;URL\nA;a.com\n", Options{}, "csv"},
		{"column alone", "host\na.com\n", Options{Columns: []string{"HOST"}}, "csv"},
		{"column and a delimiter", "host\tname\na.com\tA\n", Options{Columns: []string{"host"}}, "csv"},
		{"no header", "a.com\nb.com\n", Options{Dialect: Dialect{Header: NoHeader}}, "csv"},
		{"delimiter", "domain_a;b\n1;2\n", Options{Columns: []string{"b"}, Dialect: Dialect{Delimiter: ";"}}, "csv"},
		{"titles with commas", "Chair, oak\nTable, pine\n", Options{}, "txt"},
		{"title in brackets", "[New] Chair\n", Options{}, "txt"},
		{"domains", "a.com\nb.com\n", Options{}, "txt"},
		{"broken JSON string", "\"a.com\nb.com\n", Options{}, "txt"},
		{"comments only", "# domain,title\n", Options{}, "txt"},
		{"empty", "", Options{}, "txt"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.options.Candidates = candidates
			r := openReader(t, fromString(test.content, test.options))
			if got := r.Files()[0].Format; got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestFormatByName(t *testing.T) {
	names := map[string]string{
		"a.csv": "csv", "a.TSV": "csv", "dir.txt/a.csv.gz": "csv", "a.jsonl": "jsonl", "a.ndjson.zst": "jsonl",
		"a.json": "jsonl", "a.txt": "txt", "a.dat": "", "a": "", "a.gz": "", "csv": "",
	}
	for name, want := range names {
		got := ""
		if f := formatByName(name); f != nil {
			got = f.name
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestDetectDelimiter(t *testing.T) {
	tests := []struct{ name, content, want string }{
		{"comma", "a,b\n1,2\n", ","},
		{"semicolon", "a;b\n1;2\n", ";"},
		{"tab", "a\tb\n1\t2\n", "\t"},
		{"pipe", "a|b\n1|2\n", "|"},
		{"header only", "a;b;c\n", ";"},
		{"decimal commas", "domain;revenue\nx.com;1,5\ny.com;2,5\n", ";"},
		{"commas in a header of semicolons", "name, full;domain\nA;a.com\nB;b.com\n", ";"},
		{"other delimiters inside quotes", "a,b\n\"1;2;3\",\"x|y\"\n\"4;5;6\",\"x|y\"\n", ","},
		{"more fields among equals", "a;b;c,d\n1;2;3,4\n", ";"},
		{"one column", "domain\na.com\n", ","},
		{"one column of titles", "title\nChair, oak\nTable, pine\n", ","},
		{"first row malformed", "\"a;b\n1;2\n", ","},
		{"empty", "", ","},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := detectDelimiter([]byte(test.content), &Options{}); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestTSVImpliesTab(t *testing.T) {
	path := writeFile(t, "in.tsv", "domain\ttitle\na.com\tA, B\n")
	r := openReader(t, Options{Paths: []string{path}, Candidates: candidates})
	if got, want := strings.Join(readAll(t, r)[0].Fields, "/"), "a.com/A, B"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTXT(t *testing.T) {
	long := strings.Repeat("x", maxRecord+1)
	content := "\ufeff# domains\n\n  a.com \t\n \u00a0\n\t# b.com\nc.com # not a comment\r\ncaf\xe9\n" + long + "\nd.com"
	want := "3 a.com\n6 c.com # not a comment\n7! " + faultEncoding + "\n8! " + faultLongLine + "\n9 d.com\n"
	r := openReader(t, fromString(content, Options{Comment: "#", Format: "txt", Columns: []string{"ignored"}}))
	records := readAll(t, r)
	if got := summary(records); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if len(r.Columns()) != 0 || len(records[0].Fields) != 0 {
		t.Errorf("columns %q, fields %q, want none", r.Columns(), records[0].Fields)
	}
}
