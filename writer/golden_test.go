package writer

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/bulkcat/bulkcat/client"
)

var update = flag.Bool("update", false, "rewrite the files in testdata")

// samples are schemas with results that use all columns.
var samples = []struct {
	name    string
	schema  Schema
	results []Result
}{
	{
		name:   "paths",
		schema: Schema{Form: Form{Levels: 3}, Carry: []string{"id", "status", "a,b"}},
		results: []Result{
			{
				Record: 1, Input: "https://news.example", Status: StatusOK, Classification: "taxonomy_v3",
				Entries: []Entry{{Value: "News > World", ID: "12", Confidence: 0.87}, {Value: "Arts > Music > Jazz > Bebop", Confidence: 1e-7}},
				Fields:  []string{"17", "active", ""},
			},
			{Record: 2, Status: StatusInvalid, Classification: "taxonomy_v3", Error: "the input is empty", Fields: []string{"18", "", "x"}},
			{
				Record: 3, Input: `a "quoted", title` + "\nof <two> lines & more", Status: StatusRejected, Classification: "taxonomy_v3",
				Error: "the service answered 422: \"no\ttitle\"", Fields: []string{"19", " leading", `\.`},
			},
			{Record: 4, Input: "https://dead.example", Status: StatusEmpty, Classification: "taxonomy_v3"},
			{
				Record: 5, Input: "Zürich 東京 \u2028 \xff", Status: StatusOK, Classification: "taxonomy_v3",
				Entries: []Entry{{Value: "Travel", Confidence: math.NaN()}, {Value: "A >  > C", Confidence: 1}},
				Fields:  []string{"20"},
			},
			{Record: 6, Input: "https://later.example", Status: StatusPending, Classification: "taxonomy_v3"},
		},
	},
	{
		name:   "naics",
		schema: Schema{Form: Form{Levels: 5, SourceColumns: true}, Titles: true, Codes: client.Codes()},
		results: []Result{
			{
				Record: 1, Input: "https://software.example", Status: StatusOK, Classification: "naics",
				Entries: []Entry{
					{Value: "541511", ID: "541511", Title: "Custom Computer Programming Services", Confidence: 0.8},
					{Value: "31-33", Title: "Manufacturing", Confidence: 0.1},
				},
				Source: "embedded", Basis: "page", AnsweredAt: time.Date(2026, 3, 1, 10, 0, 0, 500_000_999, time.UTC),
			},
			{Record: 2, Input: "https://down.example", Status: StatusFailed, Classification: "naics", Error: "no answer after 5 attempts"},
		},
	},
	{name: "none", schema: Schema{Form: Form{Levels: 1}}},
}

// The other shapes of the samples, and one with a least confidence.
func init() {
	for i := range samples[:len(samples):len(samples)] {
		for _, shape := range []Shape{ShapeTop, ShapeNested} {
			s := samples[i]
			s.name, s.schema.Shape = s.name+"."+string(shape), shape
			samples = append(samples, s)
		}
	}
	confident := samples[0]
	confident.name, confident.schema.MinConfidence = "paths.confident", 0.9
	samples = append(samples, confident)
}

// formatsOf returns the formats that can represent the shape of a schema, without compression.
func formatsOf(s Schema) []Format {
	if s.Shape == ShapeNested {
		return []Format{JSONL}
	}
	return []Format{CSV, TSV, JSONL}
}

func TestGolden(t *testing.T) {
	for _, s := range samples {
		for _, format := range formatsOf(s.schema) {
			name := s.name + "." + string(format)
			t.Run(name, func(t *testing.T) {
				got := encodeAll(t, format, s.schema, flattenAll(s.schema, s.results))
				compareGolden(t, name, got)
			})
		}
	}
}

// Parquet has the same columns and cells as CSV.
func TestParquetHoldsWhatCSVHolds(t *testing.T) {
	for _, s := range samples {
		if s.schema.Shape == ShapeNested {
			continue // see TestNestedIsLong
		}
		t.Run(s.name, func(t *testing.T) {
			rows := flattenAll(s.schema, s.results)
			got := readParquet(t, encodeAll(t, Parquet, s.schema, rows))
			want := readCSV(t, encodeAll(t, CSV, s.schema, rows))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("Parquet:\n%q\nCSV:\n%q", got, want)
			}
		})
	}
}

func TestParquetSchema(t *testing.T) {
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			file := openParquet(t, encodeAll(t, Parquet, s.schema, flattenAll(s.schema, s.results)))
			var got bytes.Buffer
			describe(&got, "", file.Root())
			for _, group := range file.Metadata().RowGroups {
				for _, c := range group.SortingColumns {
					fmt.Fprintf(&got, "sorted by column %d, descending: %t\n", c.ColumnIdx, c.Descending)
				}
				for _, c := range group.Columns {
					fmt.Fprintln(&got, c.MetaData.PathInSchema, c.MetaData.Codec, c.MetaData.Encoding,
						"statistics:", c.MetaData.Statistics.MaxValue != nil)
				}
			}
			compareGolden(t, s.name+".schema.txt", got.Bytes())
		})
	}
}

// describe writes the columns below a column, which the indent tells.
func describe(out *bytes.Buffer, indent string, column *parquet.Column) {
	for _, c := range column.Columns() {
		repetition := "required"
		switch {
		case c.Optional():
			repetition = "optional"
		case c.Repeated():
			repetition = "repeated"
		}
		fmt.Fprintf(out, "%s%s %s %v\n", indent, c.Name(), repetition, c.Type())
		describe(out, indent+"  ", c)
	}
}

func TestCompressedText(t *testing.T) {
	for _, s := range samples {
		rows := flattenAll(s.schema, s.results)
		for _, content := range formatsOf(s.schema) {
			want := encodeAll(t, content, s.schema, rows)
			t.Run(s.name+"."+string(content), func(t *testing.T) {
				compressed := encodeAll(t, content+".gz", s.schema, rows)
				gz, err := gzip.NewReader(bytes.NewReader(compressed))
				if err != nil {
					t.Fatal(err)
				}
				if mtime := compressed[4:8]; !bytes.Equal(mtime, make([]byte, 4)) || gz.Name != "" {
					t.Errorf("the gzip header has time %x and name %q", mtime, gz.Name)
				}
				compareStream(t, gz, want)

				zst, err := zstd.NewReader(bytes.NewReader(encodeAll(t, content+".zst", s.schema, rows)))
				if err != nil {
					t.Fatal(err)
				}
				defer zst.Close()
				compareStream(t, zst, want)
			})
		}
	}
}

func compareStream(t *testing.T, r io.Reader, want []byte) {
	t.Helper()
	got, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-update rewrites it):\n%s", path, got)
	}
}

func flattenAll(s Schema, results []Result) []Row {
	var rows []Row
	for _, r := range results {
		rows = s.Flatten(rows, r)
	}
	return rows
}

// encodeAll writes rows to a stream in batches of the given sizes, and the rest in one batch.
func encodeAll(t testing.TB, format Format, schema Schema, rows []Row, batches ...int) []byte {
	t.Helper()
	var out bytes.Buffer
	enc, err := newEncoder(&out, format, schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range append(batches, len(rows)) {
		n = min(n, len(rows))
		if err := enc.encode(rows[:n]); err != nil {
			t.Fatal(err)
		}
		rows = rows[n:]
	}
	if err := enc.close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func readCSV(t testing.TB, data []byte) [][]string {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func openParquet(t testing.TB, data []byte) *parquet.File {
	t.Helper()
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// readParquet returns the names of the columns and then the rows, with cells as in CSV.
func readParquet(t testing.TB, data []byte) [][]string {
	t.Helper()
	file := openParquet(t, data)
	fields := file.Schema().Fields()
	header := make([]string, len(fields))
	for i, f := range fields {
		header[i] = f.Name()
	}
	lines := [][]string{header}
	for _, group := range file.RowGroups() {
		reader := group.Rows()
		defer reader.Close()
		buf := make([]parquet.Row, 64)
		for {
			n, err := reader.ReadRows(buf)
			for _, row := range buf[:n] {
				line := make([]string, len(fields))
				for i, v := range row {
					line[i] = parquetCell(fields[i], v)
				}
				lines = append(lines, line)
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	return lines
}

func parquetCell(field parquet.Field, v parquet.Value) string {
	switch {
	case v.IsNull():
		return ""
	case isTimestamp(field.Type()):
		return string(appendTime(nil, v.Int64()))
	case v.Kind() == parquet.Double:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	default:
		return v.String()
	}
}

func isTimestamp(t parquet.Type) bool {
	logical := t.LogicalType()
	if logical == nil {
		return false
	}
	_, ok := logical.Value.(*format.TimestampType)
	return ok
}
