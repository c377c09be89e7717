package writer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/bulkcat/bulkcat/client"
)

// randomResults returns results of two classifications with 0 to 6 entries, some without a confidence.
func randomResults(rng *rand.Rand, n int) []Result {
	results := make([]Result, n)
	for i := range results {
		r := &results[i]
		*r = Result{
			Record: int64(i/2 + 1), Input: "in " + strconv.Itoa(i/2), Status: StatusOK, Classification: []string{"taxonomy_v3", "naics"}[i%2],
			Source: "embedded", AnsweredAt: time.Unix(1_700_000_000+int64(i), 0), Fields: []string{strconv.Itoa(rng.IntN(5)), ""},
		}
		for range rng.IntN(7) {
			confidence := float64(rng.IntN(101)) / 100
			if rng.IntN(10) == 0 {
				confidence = math.NaN()
			}
			r.Entries = append(r.Entries, Entry{Value: strings.Repeat("A > ", rng.IntN(4)) + "B", ID: strconv.Itoa(rng.IntN(9)), Title: "T", Confidence: confidence})
		}
		switch {
		case len(r.Entries) > 0:
		case rng.IntN(2) == 0:
			r.Status = StatusEmpty
		default:
			r.Status, r.Error = StatusRejected, "no such site"
		}
	}
	return results
}

// limits are the settings of Top and MinConfidence in the tests of shapes.
var limits = []struct {
	top           int
	minConfidence float64
}{{}, {top: 2}, {minConfidence: 0.7}, {top: 1, minConfidence: 0.3}, {minConfidence: 2}}

// eachLimit calls test with a schema of the shape long and random results, for each of the limits.
func eachLimit(t *testing.T, test func(t *testing.T, long Schema, results []Result)) {
	results := randomResults(rand.New(rand.NewPCG(3, 4)), 3000)
	for _, limit := range limits {
		t.Run(strconv.Itoa(limit.top)+" from "+strconv.FormatFloat(limit.minConfidence, 'g', -1, 64), func(t *testing.T) {
			test(t, Schema{
				Form: Form{Levels: 3, SourceColumns: true, Top: limit.top, MinConfidence: limit.minConfidence}, Titles: true, Codes: client.Codes(), Carry: []string{"id", "rank"},
			}, results)
		})
	}
}

// The rows of the shape top are the rows of the shape long with the highest confidence, for each record and classification.
func TestTopIsBestOfLong(t *testing.T) {
	eachLimit(t, func(t *testing.T, long Schema, results []Result) {
		top := long
		top.Shape = ShapeTop
		var want []Row
		for _, row := range flattenAll(long, results) {
			last := len(want) - 1
			switch {
			case last < 0 || want[last].Record != row.Record || want[last].Classification != row.Classification:
				want = append(want, row)
			case cmp.Less(want[last].Confidence, row.Confidence):
				want[last] = row
			}
		}
		for _, format := range []Format{CSV, JSONL, Parquet} {
			if got := encodeAll(t, format, top, flattenAll(top, results)); !bytes.Equal(got, encodeAll(t, format, long, want)) {
				t.Errorf("%s: the rows differ", format)
			}
		}
		if len(want) != len(results) {
			t.Errorf("%d rows of %d results", len(want), len(results))
		}
	})
}

// The categories of the highest confidences remain if the service does not sort them.
func TestUnsorted(t *testing.T) {
	none := math.NaN()
	for _, tt := range []struct {
		name        string
		confidences []float64
		sorted      bool
		top         int64   // rank in the shape top
		two         []int64 // ranks with Top 2
	}{
		{"sorted", []float64{0.9, 0.5, 0.1}, true, 1, []int64{1, 2}},
		{"equal", []float64{0.5, 0.5, 0.5}, true, 1, []int64{1, 2}},
		{"the second", []float64{0.1, 0.9, 0.5}, false, 2, []int64{2, 3}},
		{"the last", []float64{0.1, 0.2, 0.3}, false, 3, []int64{2, 3}},
		{"the first of the highest", []float64{0.1, 0.9, 0.9}, false, 2, []int64{2, 3}},
		{"none first", []float64{none, 0.1, 0.9}, false, 3, []int64{2, 3}},
		{"all but the first", []float64{none, 0.9, 0.1}, true, 2, []int64{2, 3}},
		{"none in between", []float64{0.2, none, 0.9}, false, 3, []int64{1, 3}},
		{"some have none", []float64{0.9, none, 0.1}, true, 1, []int64{1, 3}},
		{"all have none", []float64{none, none, none}, true, 1, []int64{1, 2}},
		{"infinite", []float64{math.Inf(1), 0.1, 0.9}, false, 3, []int64{2, 3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var entries []Entry
			for _, c := range tt.confidences {
				entries = append(entries, Entry{Value: "A", Confidence: c})
			}
			if got := IsSorted(entries); got != tt.sorted {
				t.Errorf("sorted: %t", got)
			}
			ranks := func(s Schema) (list []int64) {
				for _, row := range s.Flatten(nil, Result{Entries: entries}) {
					list = append(list, row.Rank)
				}
				return list
			}
			if got := ranks(Schema{Form: Form{Shape: ShapeTop}}); !slices.Equal(got, []int64{tt.top}) {
				t.Errorf("top: ranks %v", got)
			}
			if got := ranks(Schema{Form: Form{Top: 2}}); !slices.Equal(got, tt.two) {
				t.Errorf("two: ranks %v", got)
			}
		})
	}
}

// The rows and the structs of the shape nested are the rows of the shape long, in each format.
func TestNestedIsLong(t *testing.T) {
	eachLimit(t, func(t *testing.T, long Schema, results []Result) {
		checkNestedIsLong(t, long, results)
	})
	for _, s := range samples {
		if s.schema.Shape == ShapeNested {
			s.schema.Shape = ShapeLong
			t.Run(s.name, func(t *testing.T) { checkNestedIsLong(t, s.schema, s.results) })
		}
	}
}

func checkNestedIsLong(t *testing.T, long Schema, results []Result) {
	t.Helper()
	nested := long
	nested.Shape = ShapeNested
	rows := flattenAll(nested, results)
	if len(rows) != len(results) {
		t.Errorf("%d rows of %d results", len(rows), len(results))
	}
	want := readCSV(t, encodeAll(t, CSV, long, flattenAll(long, results)))
	if got := readNestedJSON(t, encodeAll(t, JSONL, nested, rows), want[0]); !slices.EqualFunc(got, want[1:], slices.Equal) {
		t.Errorf("JSONL: the rows differ, got\n%.1000q\nwant\n%.1000q", got, want[1:])
	}
	if got := readNestedParquet(t, encodeAll(t, Parquet, nested, rows), want[0]); !slices.EqualFunc(got, want[1:], slices.Equal) {
		t.Errorf("Parquet: the rows differ, got\n%.1000q\nwant\n%.1000q", got, want[1:])
	}
}

// explode returns a row with the given columns for each element, or one row if there are none.
func explode(columns []string, row map[string]string, elements []map[string]string) [][]string {
	if len(elements) == 0 {
		elements = []map[string]string{nil}
	}
	var lines [][]string
	for _, element := range elements {
		line := make([]string, len(columns))
		for i, name := range columns {
			line[i] = row[name] + element[name]
		}
		lines = append(lines, line)
	}
	return lines
}

func readNestedJSON(t *testing.T, data []byte, columns []string) [][]string {
	t.Helper()
	cells := func(object map[string]any) map[string]string {
		row := make(map[string]string)
		for name, value := range object {
			switch v := value.(type) {
			case string:
				row[name] = v
			case json.Number:
				row[name] = v.String()
			}
		}
		return row
	}
	var lines [][]string
	for d := json.NewDecoder(bytes.NewReader(data)); ; {
		d.UseNumber()
		var object map[string]any
		err := d.Decode(&object)
		if err == io.EOF {
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		var elements []map[string]string
		for _, e := range object["categories"].([]any) {
			elements = append(elements, cells(e.(map[string]any)))
		}
		lines = append(lines, explode(columns, cells(object), elements)...)
	}
}

func readNestedParquet(t *testing.T, data []byte, columns []string) [][]string {
	t.Helper()
	file := openParquet(t, data)
	paths := file.Schema().Columns()
	times := make([]bool, len(paths))
	for i, path := range paths {
		leaf, _ := file.Schema().Lookup(path...)
		times[i] = isTimestamp(leaf.Node.Type())
	}
	cell := func(v parquet.Value) string {
		switch {
		case v.IsNull():
			return ""
		case times[v.Column()]:
			return string(appendTime(nil, v.Int64()))
		case v.Kind() == parquet.Double:
			return strconv.FormatFloat(v.Double(), 'g', -1, 64)
		}
		return v.String()
	}
	var lines [][]string
	for _, group := range file.RowGroups() {
		rows := group.Rows()
		defer rows.Close()
		buf := make([]parquet.Row, 64)
		for {
			n, err := rows.ReadRows(buf)
			for _, values := range buf[:n] {
				row := make(map[string]string)
				var elements []map[string]string
				for column, list := range values.Range {
					path := paths[column]
					for i, v := range list {
						switch {
						case len(path) == 1:
							row[path[0]] = cell(v)
						case v.DefinitionLevel() > 0:
							if i == len(elements) {
								elements = append(elements, make(map[string]string))
							}
							elements[i][path[3]] = cell(v)
						}
					}
				}
				lines = append(lines, explode(columns, row, elements)...)
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

// The bytes of the shape nested do not depend on the batches, nor on the memory of the results.
func TestNestedBatches(t *testing.T) {
	schema := typicalSchema
	schema.Shape = ShapeNested
	rows := flattenAll(schema, typicalResults(1500))
	for _, format := range []Format{JSONL, "jsonl.zst", Parquet} {
		want := encodeAll(t, format, schema, rows)
		if got := encodeAll(t, format, schema, rows, slices.Repeat([]int{7, 0, 300}, 10)...); !bytes.Equal(got, want) {
			t.Errorf("%s: the bytes differ", format)
		}
	}
}

func TestFlattenWithLimits(t *testing.T) {
	result := Result{
		Record: 1, Status: StatusOK, Classification: "taxonomy_v3",
		Entries: []Entry{{Value: "A", Confidence: 0.4}, {Value: "B", Confidence: 0.9}, {Value: "C", Confidence: math.NaN()}, {Value: "D", Confidence: 0.5}},
	}
	for _, tt := range []struct {
		name   string
		schema Schema
		want   string // the values with their ranks
		status Status
		err    string
	}{
		{"all", Schema{}, "A1 B2 C3 D4", StatusOK, ""},
		{"the best two", Schema{Form: Form{Top: 2}}, "B2 D4", StatusOK, ""},
		{"more than there are", Schema{Form: Form{Top: 9}}, "A1 B2 C3 D4", StatusOK, ""},
		{"confident ones keep their ranks", Schema{Form: Form{MinConfidence: 0.5}}, "B2 D4", StatusOK, ""},
		{"the best of the confident ones", Schema{Form: Form{MinConfidence: 0.45, Top: 1}}, "B2", StatusOK, ""},
		{"the shape top has one", Schema{Form: Form{Shape: ShapeTop, Top: 3}}, "B2", StatusOK, ""},
		{"none is confident", Schema{Form: Form{MinConfidence: 0.95}}, "", StatusEmpty, "no category has a confidence of 0.95 or more"},
		{"none is confident, top", Schema{Form: Form{MinConfidence: 0.95, Shape: ShapeTop}}, "", StatusEmpty, "no category has a confidence of 0.95 or more"},
	} {
		for _, shape := range []Shape{tt.schema.Shape, ShapeNested} {
			if shape == ShapeNested && tt.schema.Shape == ShapeTop {
				continue
			}
			t.Run(tt.name+" "+string(shape), func(t *testing.T) {
				tt.schema.Shape = shape
				rows := tt.schema.Flatten(nil, result)
				if rows[0].Status != tt.status || rows[0].Error != tt.err {
					t.Errorf("status %q, error %q", rows[0].Status, rows[0].Error)
				}
				if shape == ShapeNested {
					if len(rows) != 1 || rows[0].Rank != 0 {
						t.Errorf("%d rows, rank %d", len(rows), rows[0].Rank)
					}
					rows = rows[0].Categories
				}
				var got []string
				for _, r := range rows {
					if r.Rank != 0 {
						got = append(got, r.Value+strconv.FormatInt(r.Rank, 10))
					}
				}
				if strings.Join(got, " ") != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		}
	}
}

func TestNestedNeedsLists(t *testing.T) {
	for _, format := range []Format{CSV, TSV, "csv.gz", "tsv.zst"} {
		path := filepath.Join(t.TempDir(), "out."+string(format))
		_, err := Open(t.Context(), Options{Path: path, Schema: Schema{Form: Form{Shape: ShapeNested}}})
		if shape, ok := errors.AsType[*ShapeError](err); !ok || !strings.Contains(shape.Error(), "write Parquet or JSONL") {
			t.Errorf("%s: %v", format, err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); left != nil {
			t.Errorf("%s: %q is left", format, left)
		}
	}
	for shape, want := range map[Shape]string{"": "", "long": "", "top": "", "nested": "has no lists", "wide": `unknown shape "wide": choose long, top or nested`} {
		got := ""
		CheckForm(Form{Shape: shape}, CSV, func(wrong bool, member, message string, args ...any) {
			if wrong {
				got += member + " " + fmt.Errorf(message, args...).Error()
			}
		})
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", shape, got, want)
		}
	}
}

// A carried column is renamed if the list, or a member of its structs, has the same name. Such a member is a column in shape
// long.
func TestNestedNamesOfCarriedColumns(t *testing.T) {
	schema := Schema{Form: Form{Shape: ShapeNested}, Carry: []string{"categories", "rank"}}
	var names []string
	for _, c := range schema.Columns() {
		names = append(names, c.Name)
	}
	if got := strings.Join(names, " "); got != "record input status classification categories error input_categories input_rank" {
		t.Errorf("columns %s", got)
	}
}

// Long lists end a row group, so that the memory of a group is bounded.
func TestNestedRowGroups(t *testing.T) {
	schema := Schema{Form: Form{Shape: ShapeNested, Levels: 1}}
	entries := slices.Repeat([]Entry{{Value: strings.Repeat("long ", 200), Confidence: 0.5}}, 100)
	perGroup := groupBytes / (2 * len(entries) * len(entries[0].Value))
	var rows []Row
	for i := range 5 * perGroup / 2 {
		rows = schema.Flatten(rows, Result{Record: int64(i + 1), Status: StatusOK, Entries: entries})
	}
	file := openParquet(t, encodeAll(t, Parquet, schema, rows))
	if n := len(file.RowGroups()); n != 3 || file.NumRows() != int64(len(rows)) {
		t.Errorf("%d row groups and %d rows, want 3 and %d", n, file.NumRows(), len(rows))
	}
	first, last := file.RowGroups()[0].NumRows(), file.RowGroups()[2].NumRows()
	if first > int64(perGroup)+1 || last == 0 {
		t.Errorf("the first group has %d rows, want at most %d, and the last %d", first, perGroup+1, last)
	}
}
