package writer

import (
	"fmt"
	"io"
	"testing"
	"time"
)

// typicalResults returns n results as for a list of websites: three entries each, with paths of up to three levels of
// about 700 categories.
func typicalResults(n int) []Result {
	results := make([]Result, n)
	for i := range results {
		results[i] = Result{
			Record:         int64(i + 1),
			Input:          fmt.Sprintf("https://www.shop-%d-%x.example/", i*7919, i*i),
			Status:         StatusOK,
			Classification: "taxonomy_v3",
			Source:         "https://api.example.com",
			AnsweredAt:     time.Unix(1_700_000_000+int64(i), int64(i)*1000),
			Fields:         []string{fmt.Sprint(i), []string{"DE", "FR", "US"}[i%3]},
		}
		if i%20 == 0 {
			results[i].Status = StatusFailed
			results[i].Error = "the service answered 503 (attempt 5 of 5)"
			continue
		}
		for k := range 3 {
			c := (i*31 + k*k*17) % 700
			results[i].Entries = append(results[i].Entries, Entry{
				Value:      fmt.Sprintf("Category %d > Subcategory %d > Something Specific %d", c/70, c/7, c),
				Confidence: float64((i*37+k*11)%1000) / 1000,
			})
		}
	}
	return results
}

var typicalSchema = Schema{Form: Form{Levels: 4}, Carry: []string{"id", "country"}}

func BenchmarkFlatten(b *testing.B) {
	results := typicalResults(1000)
	rows := make([]Row, 0, 8)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		rows = typicalSchema.Flatten(rows[:0], results[n%len(results)])
		n++
	}
}

func BenchmarkWrite(b *testing.B) {
	results := typicalResults(10_000)
	for _, format := range []Format{CSV, "csv.gz", "csv.zst", JSONL, "jsonl.zst", Parquet} {
		for _, shape := range []Shape{ShapeLong, ShapeTop, ShapeNested} {
			if format.CheckShape(shape) != nil {
				continue
			}
			b.Run(string(format)+"/"+string(shape), func(b *testing.B) { benchmarkWrite(b, format, shape, results) })
		}
	}
}

func benchmarkWrite(b *testing.B, format Format, shape Shape, results []Result) {
	schema := typicalSchema
	schema.Shape = shape
	sink, err := Open(b.Context(), Options{Path: "-", Format: format, Schema: schema, Stdout: io.Discard})
	if err != nil {
		b.Fatal(err)
	}
	var rows []Row
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		rows = rows[:0]
		for range 64 {
			rows = schema.Flatten(rows, results[n%len(results)])
			n++
		}
		if err := sink.Write(rows); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := sink.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "records/s")
}
