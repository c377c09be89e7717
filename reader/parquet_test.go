package reader

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

var fixtures = flag.String("fixtures", "testdata/parquet", "folder of the files of scripts/fixtures/parquet.py")

// The files of several programs have the records of their CSV (see scripts/fixtures/parquet.py).
func TestParquetOfOtherPrograms(t *testing.T) {
	source := openReader(t, Options{Paths: []string{filepath.Join(*fixtures, "list.csv")}, Candidates: candidates})
	want := readAll(t, source)
	paths, err := filepath.Glob(filepath.Join(*fixtures, "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	paths = append(slices.DeleteFunc(paths, func(path string) bool { return strings.HasSuffix(path, "types.parquet") }), filepath.Join(*fixtures, "spark"))
	if len(paths) < 13 {
		t.Fatalf("only %d files", len(paths))
	}
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			r := openReader(t, Options{Paths: []string{path}, Candidates: candidates})
			if !slices.Equal(r.Columns(), source.Columns()) {
				t.Fatalf("columns %q, want %q", r.Columns(), source.Columns())
			}
			types := []Type{TypeInt64, TypeString, TypeDouble, TypeBool, TypeDateTime, TypeDate, TypeDecimal, TypeString, TypeJSON, TypeJSON}
			for i, c := range r.Schema() {
				if typ := c.Type; typ != types[i] && !(typ == TypeTimestamp && c.Name == "seen") {
					t.Errorf("column %s has type %d, want %d", c.Name, typ, types[i])
				}
			}
			records := readAll(t, r)
			if len(records) != len(want) {
				t.Fatalf("%d records, want %d", len(records), len(want))
			}
			for i, rec := range records {
				fields := slices.Clone(rec.Fields)
				fields[4] = strings.TrimSuffix(fields[4], "Z")
				if rec.Number != want[i].Number || rec.Input != want[i].Input || rec.Err != nil || !slices.Equal(fields, want[i].Fields) {
					t.Errorf("got  %q %q\nwant %q %q", rec.Input, fields, want[i].Input, want[i].Fields)
				}
				if rec.Nulls[7] != (i%4 == 1) || rec.Nulls[8] != (i%5 == 4) || rec.Nulls[0] {
					t.Errorf("record %d: nulls %v", i+1, rec.Nulls)
				}
			}
			for _, f := range r.Files() {
				content, err := os.ReadFile(f.Name)
				if err != nil || !f.Whole || f.Bytes != int64(len(content)) || f.SHA256 != digestOf(string(content)) || f.Format != "parquet" || !slices.Equal(f.Inputs, []string{"domain"}) {
					t.Errorf("%+v (%v), want the whole file of %d bytes", f, err, len(content))
				}
			}
			if read, total := r.Progress(); read != total || total <= 0 {
				t.Errorf("progress %d of %d", read, total)
			}
		})
	}
}

func TestParquetTypes(t *testing.T) {
	want := []struct {
		name string
		typ  Type
		text string
	}{
		{"int8", TypeInt64, "-8"}, {"int16", TypeInt64, "-16"}, {"int32", TypeInt64, "-32"}, {"uint8", TypeInt64, "200"},
		{"uint16", TypeInt64, "60000"}, {"uint32", TypeInt64, "4000000000"}, {"uint64", TypeDecimal, "18446744073709551615"},
		{"float", TypeDouble, "0.1"}, {"double", TypeDouble, "1e-300"}, {"nan", TypeDouble, "NaN"},
		{"decimal256", TypeDecimal, "-12345678901234567890123456789012345678901234.567"}, {"small", TypeDecimal, "-0.0007"},
		{"time32", TypeString, "01:02:03.004"}, {"time64", TypeString, "01:02:03.000005"}, {"date64", TypeDate, "1969-12-31"},
		{"ms", TypeDateTime, "1960-01-01T01:01:01.001"}, {"zone", TypeTimestamp, "2026-07-01T12:00:00Z"}, {"ns", TypeDateTime, "1970-01-01T00:00:00.000000001"},
		{"binary", TypeString, "AP8="}, {"bytes", TypeString, "text"}, {"fixed", TypeString, "abc"}, {"null", TypeString, ""},
		{"large", TypeString, "é"}, {"dictionary", TypeString, "d"}, {"map", TypeJSON, `{"a":1,"b":null}`},
		{"numbered", TypeJSON, `{"7":["2026-01-02"]}`}, {"structs", TypeJSON, `[{"a":[1,2],"b":"x"},{"a":[],"b":null},null]`}, {"domain", TypeString, "a.com"},
	}
	r := openReader(t, Options{Paths: []string{filepath.Join(*fixtures, "types.parquet")}, Candidates: candidates})
	schema, records := r.Schema(), readAll(t, r)
	if len(schema) != len(want) || len(records) != 2 {
		t.Fatalf("%d columns, %d records", len(schema), len(records))
	}
	for i, w := range want {
		if c := schema[i]; c.Name != w.name || c.Type != w.typ || records[0].Fields[i] != w.text {
			t.Errorf("%s: type %d, %q; want type %d, %q", c.Name, c.Type, records[0].Fields[i], w.typ, w.text)
		}
		if !records[1].Nulls[i] || records[1].Fields[i] != "" {
			t.Errorf("%s: %q is not null", w.name, records[1].Fields[i])
		}
	}
	for name, want := range map[string]int{"ms": 3, "zone": 6, "ns": 9, "small": 4, "time64": 0} {
		if i := slices.IndexFunc(schema, func(c Column) bool { return c.Name == name }); schema[i].Scale != want {
			t.Errorf("%s: scale %d, want %d", name, schema[i].Scale, want)
		}
	}
	if c := schema[10]; c.Precision != 50 || c.Scale != 3 {
		t.Errorf("decimal256: %+v", c)
	}
}

func TestParquetColumns(t *testing.T) {
	const path = "testdata/parquet/pyarrow-snappy.parquet"
	tests := []struct {
		name    string
		options Options
		columns string
		fields  string // of the third record
		input   string
	}{
		{"named only", Options{NamedOnly: true, ExtraColumns: []string{"price", "ID"}}, "price id", "0.25 9007199254740995", "site2.example"},
		{"none", Options{NamedOnly: true}, "", "", "site2.example"},
		{"dotted paths", Options{NamedOnly: true, Columns: []string{"shop.url"}, ExtraColumns: []string{"shop.rank", "shop"}}, "shop.rank shop",
			`2 {"url":"https://site2.example/","rank":2}`, "https://site2.example/"},
		{"number as input", Options{NamedOnly: true, Columns: []string{"id"}}, "", "", "9007199254740995"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.options.Paths, test.options.Candidates = []string{path}, candidates
			r := openReader(t, test.options)
			rec := readAll(t, r)[2]
			if got := strings.Join(r.Columns(), " "); got != test.columns {
				t.Errorf("columns %q, want %q", got, test.columns)
			}
			if got := strings.Join(rec.Fields, " "); got != test.fields || rec.Input != test.input || rec.Line != 3 {
				t.Errorf("line %d, input %q, fields %q, want %q, %q", rec.Line, rec.Input, got, test.input, test.fields)
			}
		})
	}
	errorTests := []struct {
		name    string
		options Options
		want    string
	}{
		{"unknown", Options{Columns: []string{"host"}}, `no column "host" (columns: id, domain, price, listed, seen, since, revenue, note, tags, shop)`},
		{"struct", Options{Columns: []string{"shop"}}, `column "shop" has parts, want text (parts: shop.url, shop.rank)`},
		{"list", Options{Columns: []string{"tags"}}, `column "tags" has lists or maps, want text (columns: id, domain, price, listed, seen, since, revenue, note, tags, shop)`},
		{"below a list", Options{Columns: []string{"tags.list.element"}}, `no column "tags.list.element"`},
		{"unknown extra column", Options{Columns: []string{"domain"}, NamedOnly: true, ExtraColumns: []string{"price", "title"}},
			`no column "title" (columns: id, domain, price, listed, seen, since, revenue, note, tags, shop)`},
	}
	for _, test := range errorTests {
		test.options.Paths = []string{path}
		if _, err := Open(t.Context(), test.options); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.name, err, test.want)
		}
	}
}

// Parquet and CSV may be inputs of one run: columns with different types are text.
func TestParquetBesideCSV(t *testing.T) {
	table := writeFile(t, "a.csv", "domain,id,extra\nx.com,1,e\n")
	r := openReader(t, Options{Paths: []string{table, "testdata/parquet/polars.parquet"}, Candidates: candidates, NamedOnly: true, ExtraColumns: []string{"price", "id"}})
	if got, want := r.Schema(), []Column{{Name: "domain"}, {Name: "id"}, {Name: "extra"}, {Name: "price", Type: TypeDouble}}; !slices.Equal(got, want) {
		t.Errorf("columns %v, want %v", got, want)
	}
	records := readAll(t, r)
	if got := strings.Join(records[1].Fields, "|"); len(records) != 41 || got != "|9007199254740993||0" || !slices.Equal(records[1].Nulls, []bool{true, false, true, false}) {
		t.Errorf("%d records, %q, nulls %v", len(records), got, records[1].Nulls)
	}
}

func TestDamagedParquet(t *testing.T) {
	content, err := os.ReadFile("testdata/parquet/pyarrow-snappy.parquet")
	if err != nil {
		t.Fatal(err)
	}
	whole := string(content)
	tests := []struct{ name, file, content, want string }{
		{"cut", "a.parquet", cut(whole, 1), "is a damaged Parquet file (its end is missing)"},
		{"its beginning alone", "a", whole[:64], "is a damaged Parquet file (its end is missing)"},
		{"a broken footer", "a.parquet", cut(whole, 8) + "\x01\x00\x00\x00PAR1", "is a damaged Parquet file"},
		{"a footer larger than the file", "a.parquet", cut(whole, 8) + "\xff\xff\xff\x7fPAR1", "is a damaged Parquet file (its metadata is larger than the file)"},
		{"empty", "a.parquet", "", "it begins like another kind of file"},
		{"text", "a.parquet", "domain\na.com\n", "it begins like another kind of file"},
	}
	for _, test := range tests {
		path := writeFile(t, test.file, test.content)
		wantRefused(t, Options{Paths: []string{path}, Candidates: candidates}, path, test.want)
	}
	wantRefused(t, fromString(whole, Options{Candidates: candidates}), "-", "Parquet is read from its end")

	path := writeFile(t, "a.parquet", flip(whole, len(whole)-100)) // in a page
	r := openReader(t, Options{Paths: []string{path}, Candidates: candidates})
	if _, err := drain(r); !isReadError(err) {
		t.Errorf("a broken page: %v, want a ReadError", err)
	}
}

func isReadError(err error) bool {
	_, ok := errors.AsType[*ReadError](err)
	return ok
}

func TestParquetThatChanges(t *testing.T) {
	content, err := os.ReadFile("testdata/parquet/pyarrow-snappy.parquet")
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.ReadFile("testdata/parquet/types.parquet")
	if err != nil {
		t.Fatal(err)
	}
	path := writeFile(t, "a.parquet", string(content))
	rewrite := func(content []byte) {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{Paths: []string{path}, Candidates: candidates}

	r := openReader(t, o)
	rewrite(other)
	if _, err := r.Read(); err == nil || !strings.Contains(err.Error(), "has changed since the run began") {
		t.Errorf("another file after Open: %v", err)
	}

	rewrite(content)
	r = openReader(t, o)
	if _, err := r.Read(); err != nil {
		t.Fatal(err)
	}
	rewrite(append(slices.Clone(content), "more"...))
	_, err = drain(r)
	if _, changed := errors.AsType[*ChangedError](err); !changed && !isReadError(err) {
		t.Errorf("a file that was appended to: %v", err)
	}
}

// FuzzParquet checks that no content makes the library's panics reach the caller, and that records are whole.
func FuzzParquet(f *testing.F) {
	paths, err := filepath.Glob("testdata/parquet/*.parquet")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		if size := len(content); size > 1<<20 || bytes.HasPrefix(content, []byte(parquetMagic)) && size < 12 {
			return
		}
		path := filepath.Join(t.TempDir(), "in.parquet")
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Open(t.Context(), Options{Paths: []string{path}, Candidates: candidates})
		if err != nil {
			return
		}
		defer r.Close()
		for range 1000 {
			rec, err := r.Read()
			if err != nil {
				if err == io.EOF && !r.Files()[0].Whole {
					t.Error("read to the end, but not whole")
				}
				return
			}
			if len(rec.Fields) != len(r.columns) || len(rec.Nulls) != len(r.columns) {
				t.Fatalf("%d fields, %d nulls, want %d", len(rec.Fields), len(rec.Nulls), len(r.columns))
			}
		}
	})
}

// The error of an input column that is not one value names parts only if they exist.
func TestNestedInputs(t *testing.T) {
	type item struct {
		Name string `parquet:"name"`
	}
	type product struct {
		Item item     `parquet:"item"`
		Tags []string `parquet:"tags"`
		SKU  string   `parquet:"sku"`
	}
	texts := write(t, []struct {
		Title []string `parquet:"title,list"`
	}{{[]string{"a", "b"}}})
	tests := []struct{ name, path, want string }{
		{"texts", texts, texts + ` is a Parquet file with arrays or maps in its only column "title", not a list; write a row for each element`},
		{"repeated texts", write(t, []struct {
			Title []string `parquet:"title"`
		}{{[]string{"a", "b"}}}), `arrays or maps in its only column "title"`},
		{"structs", write(t, []struct {
			Title []item `parquet:"title,list"`
		}{{[]item{{"a"}}}}), `arrays or maps in its only column "title"`},
		{"a map", write(t, []struct {
			Title map[string]string `parquet:"title"`
		}{{map[string]string{"a": "b"}}}), `arrays or maps in its only column "title"`},
		{"another column", write(t, []struct {
			ID    int64    `parquet:"id"`
			Title []string `parquet:"title,list"`
		}{{1, []string{"a", "b"}}}), `column "title" has lists or maps, want text (columns: id, title)`},
		{"a struct", write(t, []struct {
			Title product `parquet:"title"`
		}{{product{item{"a"}, nil, "b"}}}), `column "title" has parts, want text (parts: title.item.name, title.sku)`},
	}
	for _, test := range tests {
		for _, columns := range [][]string{nil, {"title"}} {
			_, err := Open(t.Context(), Options{Paths: []string{test.path}, Columns: columns, Candidates: []string{"title"}})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: got %v, want %s", test.name, err, test.want)
			}
		}
	}
	openReader(t, Options{Paths: []string{tests[len(tests)-1].path}, Columns: []string{"title.item.name"}})
}

// write writes a Parquet file.
func write[T any](t *testing.T, rows []T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "in.parquet")
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	return path
}
