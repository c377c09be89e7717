package verify

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/writer"
)

// shapes are settings with the number of rows and of records with a category. The entries of the
// answers have the confidences 0.9, 0.8 and 0.7.
var shapes = []struct {
	schema   writer.Schema
	rows, ok int64
}{
	{writer.Schema{Shape: writer.ShapeTop}, 8, 5},
	{writer.Schema{Shape: writer.ShapeNested}, 8, 5},
	{writer.Schema{Top: 2}, 12, 5},
	{writer.Schema{MinConfidence: 0.85}, 8, 5},
	{writer.Schema{MinConfidence: 0.95}, 8, 0},
	{writer.Schema{MinConfidence: 0.95, Shape: writer.ShapeNested}, 8, 0},
	{writer.Schema{Top: 2, MinConfidence: 0.75, Shape: writer.ShapeNested}, 8, 5},
}

func TestShapesAreBalanced(t *testing.T) {
	for _, shape := range shapes {
		for _, format := range formats {
			if shape.schema.Shape.CheckFormat(format) != nil {
				continue
			}
			for _, classifications := range [][]string{{client.TaxonomyV3}, {client.TaxonomyV3, client.NAICS}} {
				t.Run(fmt.Sprintf("%s top=%d from=%v %s %d", shape.schema.Shape, shape.schema.Top, shape.schema.MinConfidence, format, len(classifications)), func(t *testing.T) {
					t.Parallel() // it waits for the disk
					f := newShapedFixture(t, shape.schema, format, format == writer.JSONL, classifications...)
					r, n := f.verify(), int64(len(classifications))
					for _, finding := range r.Findings {
						t.Error(finding)
					}
					if r.Records != 8 || r.Rows != n*shape.rows || r.Statuses[writer.StatusOK] != n*shape.ok || r.Stored != n*7 {
						t.Errorf("got %+v", r.Figures)
					}
				})
			}
		}
	}
}

// TestTamperedShapesAreFound changes outputs of one row per record:
//
//	0 record 1, 1 record 2 (empty), 2 record 3 (rejected), 3 record 4, 4 record 5 (invalid), ...
func TestTamperedShapesAreFound(t *testing.T) {
	all := []struct {
		name   string
		tamper func(rows []writer.Row) []writer.Row
		want   string
	}{
		{"row removed", func(r []writer.Row) []writer.Row { return slices.Delete(r, 1, 2) }, "records"},
		{"row doubled", func(r []writer.Row) []writer.Row { return slices.Insert(r, 1, r[0]) }, "rows"},
		{"row without a category doubled", func(r []writer.Row) []writer.Row { return slices.Insert(r, 1, r[1]) }, "rows"},
		{"status changed", func(r []writer.Row) []writer.Row { r[1].Status = writer.StatusPending; return r }, "status, by the store"},
		{"carried value changed", func(r []writer.Row) []writer.Row { r[7].Fields[1] = "Last"; return r }, "note, by the input file"},
		{"error added", func(r []writer.Row) []writer.Row { r[1].Error = "why"; return r }, "error"},
	}
	top := append(slices.Clone(all), []struct {
		name   string
		tamper func(rows []writer.Row) []writer.Row
		want   string
	}{
		{"another category", func(r []writer.Row) []writer.Row {
			r[0].Value = "Top 1 > Sub > Leaf"
			r[0].Levels[0] = "Top 1"
			return r
		}, "value, by the store"},
		{"another rank", func(r []writer.Row) []writer.Row { r[0].Rank = 2; return r }, "rank"},
		{"category removed", func(r []writer.Row) []writer.Row {
			r[0].Rank, r[0].Value, r[0].Levels, r[0].Status = 0, "", nil, writer.StatusEmpty
			return r
		}, "status, by the store"},
	}...)
	nested := append(slices.Clone(all), []struct {
		name   string
		tamper func(rows []writer.Row) []writer.Row
		want   string
	}{
		{"first category removed", func(r []writer.Row) []writer.Row { r[0].Categories = r[0].Categories[1:]; return r }, "rank"},
		{"last category removed", func(r []writer.Row) []writer.Row { r[0].Categories = r[0].Categories[:2]; return r }, "entries, by the store"},
		{"all categories removed", func(r []writer.Row) []writer.Row { r[0].Categories = nil; return r }, "rank"},
		{"category doubled", func(r []writer.Row) []writer.Row {
			r[0].Categories = append(r[0].Categories, r[0].Categories[2])
			return r
		}, "rank"},
		{"categories swapped", func(r []writer.Row) []writer.Row { slices.Reverse(r[0].Categories); return r }, "rank"},
		{"category of a record without one", func(r []writer.Row) []writer.Row { r[1].Categories = r[0].Categories[:1]; return r }, "categories.rank"},
		{"value changed", func(r []writer.Row) []writer.Row { r[3].Categories[1].Value = "Top 1 > Sub > Other"; return r }, "value, by the store"},
		{"confidence changed", func(r []writer.Row) []writer.Row { r[3].Categories[1].Confidence = 0.81; return r }, "confidence, by the store"},
		{"level changed", func(r []writer.Row) []writer.Row { r[3].Categories[1].Levels = []string{"x"}; return r }, "categories.level_1"},
	}...)
	for _, shape := range []struct {
		shape      writer.Shape
		tamperings []struct {
			name   string
			tamper func(rows []writer.Row) []writer.Row
			want   string
		}
	}{{writer.ShapeTop, top}, {writer.ShapeNested, nested}} {
		for _, format := range uncompressed {
			if shape.shape.CheckFormat(format) != nil {
				continue
			}
			f := newShapedFixture(t, writer.Schema{Shape: shape.shape}, format, false)
			for _, tt := range shape.tamperings {
				t.Run(fmt.Sprintf("%s %s %s", shape.shape, format, tt.name), func(t *testing.T) {
					f.t = t
					rows := f.rows()
					defer f.rewrite(f.rows())
					f.rewrite(tt.tamper(rows))
					wantFinding(t, f.verify(), tt.want)
				})
			}
			f.t = t
			if r := f.verify(); !r.Balanced {
				t.Errorf("%s %s: written anew as it was: %v", shape.shape, format, r.Findings)
			}
		}
	}
}

// Entries that the settings leave out are found, also without the store.
func TestEntriesBeyondTheSettingsAreFound(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*record.Settings)
		want   string
	}{
		{"top", func(s *record.Settings) { s.Top = 2 }, "categories"},
		{"confidence", func(s *record.Settings) { s.MinConfidence = 0.75 }, "confidence"},
		{"shape top", func(s *record.Settings) { s.Shape = "top" }, "rows"},
		{"shape nested", func(s *record.Settings) { s.Shape = "nested" }, "columns"},
	} {
		f := newFixture(t, writer.Parquet, false)
		tt.change(&f.account.Settings)
		r, err := Run(t.Context(), Options{Output: f.output, Account: f.account})
		f.check(err)
		wantFinding(t, r, tt.want)
	}
}

// Without an account, the columns of the shape nested come from the file, in which the first lists
// may be empty.
func TestNestedWithoutAccount(t *testing.T) {
	for _, format := range []writer.Format{writer.Parquet, writer.JSONL, "jsonl.zst"} {
		for _, least := range []float64{0, 0.85, 0.95} {
			f := newShapedFixture(t, writer.Schema{Shape: writer.ShapeNested, MinConfidence: least}, format, false, client.NAICS)
			rows := f.rows()
			slices.Reverse(rows)
			for i := range rows {
				rows[i].Record = int64(i + 1)
			}
			f.rewrite(rows[1:]) // begins with records without an answer, after the last
			r, err := Run(t.Context(), Options{Output: f.output})
			f.check(err)
			var what []string
			for _, finding := range r.Findings {
				what = append(what, finding.What)
			}
			if got := strings.Join(what, " "); got != "account records" || r.Rows != 7 {
				t.Errorf("%s from %v: %d rows, %v", format, least, r.Rows, r.Findings)
			}
		}
	}
}

// TestOddLists reads JSON that no writer of lists makes: it is a finding, and no panic.
func TestOddLists(t *testing.T) {
	const before, after = `{"record":1,"input":"a","status":"ok","classification":"c","categories":`, `,"error":null}` + "\n"
	const whole = before + `[{"rank":1,"value":"A","category_id":null,"confidence":0.5}]` + after
	for _, list := range []string{
		`null`, `"text"`, `[1]`, `[{}]`, `[[]]`, `[{"rank":1}]`, `[{"rank":[],"value":"A","category_id":null,"confidence":0.5}]`,
		`[{"value":"A","rank":1,"category_id":null,"confidence":0.5}]`, `[{"rank":1`, `[`,
		`[` + strings.Repeat(`{"rank":1,"value":"A","category_id":null,"confidence":0.5},`, outputs.MaxRows) + `{"rank":1,"value":"A","category_id":null,"confidence":0.5}]`,
	} {
		path := filepath.Join(t.TempDir(), "out.jsonl")
		if err := os.WriteFile(path, []byte(whole+before+list+after), 0o666); err != nil {
			t.Fatal(err)
		}
		r, err := Run(t.Context(), Options{Output: path})
		if err != nil {
			t.Fatal(err)
		}
		wantFinding(t, r, "content")
	}
}
