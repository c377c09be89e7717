package writer

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

var allFormats = []Format{CSV, "csv.gz", "csv.zst", TSV, JSONL, "jsonl.gz", "jsonl.zst", Parquet}

// The bytes do not depend on the sizes of the batches.
func TestBatchesMakeNoDifference(t *testing.T) {
	rows := flattenAll(typicalSchema, typicalResults(1500))
	random := rand.New(rand.NewPCG(1, 2))
	batches := map[string][]int{
		"one by one": slices.Repeat([]int{1}, len(rows)),
		"empty ones": {0, 0, 100, 0},
		"at random":  make([]int, 100),
	}
	for i := range batches["at random"] {
		batches["at random"][i] = random.IntN(400)
	}
	for _, format := range allFormats {
		want := encodeAll(t, format, typicalSchema, rows)
		for name, sizes := range batches {
			if got := encodeAll(t, format, typicalSchema, rows, sizes...); !bytes.Equal(got, want) {
				t.Errorf("%s, %s: the bytes differ", format, name)
			}
		}
	}
}

// Row groups keep both bounds, for batches of any size.
func TestParquetRowGroups(t *testing.T) {
	short := make([]Row, groupRows+10)
	for i := range short {
		short[i] = Row{Record: int64(i + 1), Status: StatusEmpty}
	}
	long := make([]Row, groupBytes/(64<<10)+10)
	for i := range long {
		long[i] = Row{Record: int64(i + 1), Input: strings.Repeat(strconv.Itoa(i%10), 64<<10)}
	}
	for name, rows := range map[string][]Row{"many rows": short, "long rows": long} {
		t.Run(name, func(t *testing.T) {
			data := encodeAll(t, Parquet, Schema{}, rows)
			if other := encodeAll(t, Parquet, Schema{}, rows, slices.Repeat([]int{777}, len(rows)/777)...); !bytes.Equal(data, other) {
				t.Error("batches of 777 rows make another file")
			}
			file := openParquet(t, data)
			if n := len(file.RowGroups()); n != 2 {
				t.Errorf("%d row groups, want 2", n)
			}
			// A page may exceed its bound by a chunk, and a chunk may exceed its bound by a row.
			for _, column := range file.Metadata().RowGroups[0].Columns {
				pages := int64(0)
				for _, s := range column.MetaData.EncodingStats {
					pages += int64(s.Count)
				}
				if size := column.MetaData.TotalUncompressedSize / pages; size > pageBytes+2*chunkBytes {
					t.Errorf("pages of %s have %d bytes on average", column.MetaData.PathInSchema, size)
				}
			}
			if file.NumRows() != int64(len(rows)) {
				t.Errorf("%d rows, want %d", file.NumRows(), len(rows))
			}
		})
	}
}

func TestParquetMetadata(t *testing.T) {
	metadata := map[string]string{"bulkcat.b": "2", "bulkcat.a": "1", "bulkcat.c": "\xff"}
	var first []byte
	for range 20 { // the order of a map varies
		var out bytes.Buffer
		enc, err := newEncoder(&out, Parquet, Schema{}, metadata)
		if err != nil {
			t.Fatal(err)
		}
		if err := enc.close(); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = out.Bytes()
		}
		if !bytes.Equal(out.Bytes(), first) {
			t.Fatal("the same metadata makes another file")
		}
	}
	file := openParquet(t, first)
	for key, want := range map[string]string{"bulkcat.a": "1", "bulkcat.b": "2", "bulkcat.c": "\uFFFD"} {
		if got, _ := file.Lookup(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

// The names have a meaning in Parquet's notation of paths.
func TestParquetColumnNames(t *testing.T) {
	schema := Schema{Carry: []string{"a,b", "a.b", "", "zstd,optional", "ü", "a b", "-", "\n"}}
	rows := schema.Flatten(nil, Result{Record: 1, Fields: []string{"1", "2", "3", "4", "5", "6", "7", "8"}})
	lines := readParquet(t, encodeAll(t, Parquet, schema, rows))
	for i, c := range schema.Columns() {
		if lines[0][i] != c.Name || (c.ID == ColumnCarried && lines[1][i] != strconv.Itoa(c.index+1)) {
			t.Errorf("column %q is read back as %q with %q", c.Name, lines[0][i], lines[1][i])
		}
	}
}

func TestParquetTooManyColumns(t *testing.T) {
	if _, err := newEncoder(new(bytes.Buffer), Parquet, Schema{Carry: make([]string, 1<<16)}, nil); err == nil {
		t.Error("65,536 carried columns are accepted")
	}
}

// awkward are strings that need quotes or escapes in a format.
var awkward = []string{
	"", " ", "a", `"`, `""`, ",", "\t", "\n", "\r", "\r\n", `\.`, `\`, "a b", " a", "a ", "\u00a0x", "\u2028\u2029",
	"<a href='x'>&</a>", "A > B", "\x00\x01\x1f\x7f", "\b\f", "é\xff", "\U0001F600", "\ufeffbom", "'=1+1", "null", "-1e5",
}

func TestCSVFieldsAsEncodingCSVWritesThem(t *testing.T) {
	for _, comma := range []byte{',', '\t'} {
		for _, s := range awkward {
			checkCSVField(t, validUTF8(s), comma)
		}
	}
}

func checkCSVField(t *testing.T, s string, comma byte) {
	t.Helper()
	var want bytes.Buffer
	w := csv.NewWriter(&want)
	w.Comma = rune(comma)
	if err := w.Write([]string{"x", s, "y"}); err != nil {
		t.Fatal(err)
	}
	w.Flush()
	got := "x" + string(comma) + string((&csvLines{comma: comma}).appendField(nil, s)) + string(comma) + "y\n"
	if got != want.String() {
		t.Errorf("%q is written as %q, want %q", s, got, want.String())
	}
}

func TestJSONStringsAsEncodingJSONWritesThem(t *testing.T) {
	for _, s := range awkward {
		checkJSONString(t, validUTF8(s))
	}
	for c := range 256 {
		checkJSONString(t, validUTF8(string([]byte{'a', byte(c), 'b'})))
	}
}

func checkJSONString(t *testing.T, s string) {
	t.Helper()
	var want bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		t.Fatal(err)
	}
	if got := string(appendString(nil, s)); got+"\n" != want.String() {
		t.Errorf("%q is written as %s, want %s", s, got, &want)
	}
}

func TestDoubles(t *testing.T) {
	column := definitions[ColumnConfidence].column(0)
	for _, x := range []float64{0, 1, 0.1, 0.87, 1e-7, 1e21, 1e300, math.SmallestNonzeroFloat64, math.MaxFloat64, -0.5, 1.0 / 3} {
		text, _ := column.appendNumber(nil, &Row{Rank: 1, Confidence: x})
		var back float64
		if err := json.Unmarshal(text, &back); err != nil || back != x {
			t.Errorf("%v is written as %s, which JSON reads as %v, %v", x, text, back, err)
		}
	}
}

// FuzzText flattens arbitrary strings, and reads the row back from the text formats.
func FuzzText(f *testing.F) {
	for i, s := range awkward {
		f.Add(s, awkward[len(awkward)-1-i], "name"+s, float64(i)/7, int64(i), i%2 == 0)
	}
	f.Add("541511", "Title", "title", math.Inf(1), int64(1)<<60, true)
	f.Fuzz(func(t *testing.T, a, b, name string, confidence float64, seconds int64, naics bool) {
		schema := Schema{Form: Form{Levels: 3, SourceColumns: true}, Carry: []string{name, b}}
		if naics {
			schema.Titles, schema.Codes = true, map[string]func([]string, string, int) []string{b: client.Codes()["naics"]}
		}
		rows := schema.Flatten(nil, Result{
			Record: 1, Input: a, Status: StatusOK, Classification: b, Error: b, Source: a,
			Entries: []Entry{{Value: a, ID: name, Title: b, Confidence: confidence}, {Value: b}},
			Fields:  []string{b, a}, AnsweredAt: time.Unix(seconds, 0),
		})
		header, cells := expected(schema, rows)
		checkCSV(t, schema, rows, header, cells)
		checkJSONL(t, schema, rows, header, cells)
		for _, s := range []string{a, b, name} {
			checkCSVField(t, validUTF8(s), ',')
			checkJSONString(t, validUTF8(s))
		}
	})
}

// expected returns the names of the columns and the values of the cells: nil, a string or a float64.
func expected(schema Schema, rows []Row) (header []string, cells [][]any) {
	columns := schema.Columns()
	for _, c := range columns {
		header = append(header, c.Name)
	}
	for _, row := range rows {
		var line []any
		for _, c := range columns {
			var cell any
			switch c.Type {
			case TypeInt64:
				if n, ok := c.valueOf(&row); ok {
					cell = float64(n.Int64())
				}
			case TypeDouble:
				if x, ok := c.valueOf(&row); ok {
					cell = x.Double()
				}
			case TypeTimestamp:
				if !row.AnsweredAt.IsZero() {
					cell = row.AnsweredAt.Format("2006-01-02T15:04:05.000000Z07:00")
				}
			case TypeString:
				if text := c.textOf(&row); text != "" || !c.Nullable {
					cell = text
				}
			}
			line = append(line, cell)
		}
		cells = append(cells, line)
	}
	return header, cells
}

func checkCSV(t *testing.T, schema Schema, rows []Row, header []string, cells [][]any) {
	t.Helper()
	// encoding/csv reads CR LF inside quotes as LF.
	fold := func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }
	lines := readCSV(t, encodeAll(t, CSV, schema, rows))
	for i, name := range header {
		if lines[0][i] != fold(name) {
			t.Errorf("CSV: column %q is read as %q", name, lines[0][i])
		}
		for k, line := range cells {
			want := ""
			switch cell := line[i].(type) {
			case string:
				want = fold(cell)
			case float64:
				want = strconv.FormatFloat(cell, 'g', -1, 64)
			}
			if got := lines[k+1][i]; got != want {
				t.Errorf("CSV: %s of row %d is read as %q, want %q", name, k+1, got, want)
			}
		}
	}
}

func checkJSONL(t *testing.T, schema Schema, rows []Row, header []string, cells [][]any) {
	t.Helper()
	lines := bytes.SplitAfter(encodeAll(t, JSONL, schema, rows), []byte("\n"))
	if len(lines) != len(rows)+1 {
		t.Fatalf("JSONL: %d lines for %d rows", len(lines)-1, len(rows))
	}
	for k, want := range cells {
		var got map[string]any
		if err := json.Unmarshal(lines[k], &got); err != nil {
			t.Fatalf("JSONL: %v in %s", err, lines[k])
		}
		if len(got) != len(header) {
			t.Errorf("JSONL: %d members, want %d", len(got), len(header))
		}
		for i, name := range header {
			if got[name] != want[i] {
				t.Errorf("JSONL: %s of row %d is read as %#v, want %#v", name, k+1, got[name], want[i])
			}
		}
	}
}
