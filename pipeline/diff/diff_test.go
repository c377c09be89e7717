package diff_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	. "github.com/bulkcat/bulkcat/pipeline/diff"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing them")

var paths = []string{"A", "A > B", "A > C", "A > B > D", "E", "E > F", "E > \"G\", H"}

// random gives so many records in two classifications; some inputs repeat, and one in ten differs with the seed.
func random(seed uint64, records int) []writer.Result {
	same, other := rand.New(rand.NewPCG(1, 1)), rand.New(rand.NewPCG(2, seed))
	var list []writer.Result
	for n := range records {
		for _, classification := range []string{"taxonomy_v3", "naics"} {
			r := writer.Result{Record: int64(n + 1), Input: fmt.Sprintf("site-%d.example", same.IntN(records)), Status: writer.StatusOK, Classification: classification}
			draw := same
			if same.IntN(10) == 0 {
				draw = other
			}
			for range 1 + draw.IntN(3) {
				e := writer.Entry{Value: paths[draw.IntN(len(paths))], ID: "7", Confidence: float64(draw.IntN(5)) / 4}
				if classification == "naics" {
					e.Value, e.Title = []string{"541511", "541512", "31-33", "236"}[draw.IntN(4)], "T"
				}
				if draw.IntN(9) == 0 {
					e.Confidence = math.NaN()
				}
				r.Entries = append(r.Entries, e)
			}
			if draw.IntN(8) == 0 {
				r.Status, r.Entries, r.Error = writer.StatusFailed, nil, "HTTP 503"
			}
			if draw == other && other.IntN(3) == 0 {
				r.Input = fmt.Sprintf("only-%d-%d.example", seed, n)
			}
			list = append(list, r)
		}
	}
	return list
}

func write(t *testing.T, list []writer.Result, shape writer.Shape, format writer.Format, folder bool) Side {
	t.Helper()
	schema := writer.Schema{Form: writer.Form{Levels: 2, Shape: shape}, Titles: true, Codes: client.Codes()}
	path := filepath.Join(t.TempDir(), "out")
	sink, err := writer.Open(t.Context(), writer.Options{Path: path, Format: format, Folder: folder, PartRows: 100, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if err := sink.Write(schema.Flatten(nil, r)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	parts, err := readback.List(t.Context(), path, &account.Settings{OutputFormat: string(format)})
	if err != nil {
		t.Fatal(err)
	}
	return Side{Parts: parts}
}

type key struct{ input, classification string }

// best is the category of the highest confidence, and of several the first.
func best(r writer.Result) writer.Entry {
	best := r.Entries[0]
	for _, e := range r.Entries {
		if cmp.Less(best.Confidence, e.Confidence) { // NaN is below all numbers
			best = e
		}
	}
	return best
}

// firstOf keeps the first record of each key.
func firstOf(list []writer.Result) map[key]writer.Result {
	m := make(map[key]writer.Result)
	for _, r := range list {
		k := key{r.Input, r.Classification}
		if _, ok := m[k]; !ok {
			m[k] = r
		}
	}
	return m
}

// expected compares in maps.
func expected(old, fresh []writer.Result) (changes []string, unchanged int64) {
	a, b := firstOf(old), firstOf(fresh)
	show := func(r writer.Result, ok bool) string {
		if !ok {
			return "-"
		}
		if len(r.Entries) == 0 {
			return fmt.Sprintf("%d %s", r.Record, r.Status)
		}
		return fmt.Sprintf("%d %s %s %v", r.Record, r.Status, best(r).Value, best(r).Confidence)
	}
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	for k := range keys {
		x, inOld := a[k]
		y, inNew := b[k]
		kind := Kind("")
		switch {
		case !inOld:
			kind = Added
		case !inNew:
			kind = Removed
		case x.Status != y.Status:
			kind = Status
		case x.Status == writer.StatusFailed:
		case best(x).Value != best(y).Value:
			kind = Category
		case fmt.Sprint(best(x).Confidence) != fmt.Sprint(best(y).Confidence):
			kind = Confidence
		}
		if kind == "" {
			unchanged++
			continue
		}
		changes = append(changes, fmt.Sprintf("%s %v: %s, %s", kind, k, show(x, inOld), show(y, inNew)))
	}
	return changes, unchanged
}

// TestRun compares outputs of all formats and shapes, and wants what a comparison in memory gives.
func TestRun(t *testing.T) {
	old, fresh := random(1, 3000), random(2, 3100)
	want, unchanged := expected(old, fresh)
	slices.Sort(want)
	type form struct {
		shape  writer.Shape
		format writer.Format
		folder bool
	}
	for _, tt := range [][2]form{
		{{"", "parquet", false}, {"", "parquet", false}},
		{{"", "csv", false}, {"nested", "parquet", true}},
		{{"top", "jsonl.zst", true}, {"", "tsv.gz", false}},
		{{"nested", "jsonl", false}, {"top", "csv.gz", true}},
	} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			t.Parallel()
			o := Options{Old: write(t, old, tt[0].shape, tt[0].format, tt[0].folder), New: write(t, fresh, tt[1].shape, tt[1].format, tt[1].folder), Temp: t.TempDir()}
			var got []string
			var last Change
			o.Use = func(c Change) error {
				if len(got) > 0 && compare(last, c) >= 0 {
					t.Errorf("%v is not before %v", last, c)
				}
				last = c
				show := func(v *Version) string {
					switch {
					case v == nil:
						return "-"
					case v.Value == "":
						return fmt.Sprintf("%d %s", v.Record, v.Status)
					}
					return fmt.Sprintf("%d %s %s %v", v.Record, v.Status, v.Value, v.Confidence)
				}
				got = append(got, fmt.Sprintf("%s %v: %s, %s", c.Kind, key{c.Input, c.Classification}, show(c.Old), show(c.New)))
				return nil
			}
			s, err := Run(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("got %d changes, want %d: %s", len(got), len(want), firstOther(got, want))
			}
			moves, levels := int64(0), int64(0)
			for _, m := range s.Moves {
				moves += m.Inputs
			}
			for _, n := range s.Levels {
				levels += n
			}
			if s.Unchanged != unchanged || s.Changed() != int64(len(want)) || moves != s.Unchanged+s.Changed() || levels != s.Changes[Category] ||
				s.Old.Records != 6000 || s.New.Records != 6200 || s.Old.Duplicates == 0 || s.Old.Records-s.Old.Duplicates != int64(len(firstOf(old))) {
				t.Errorf("got %+v", s)
			}
			if left, err := os.ReadDir(o.Temp); err != nil || len(left) > 0 {
				t.Errorf("left %v, %v", left, err)
			}
		})
	}
}

func firstOther(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return "got " + got[i] + ", want " + want[i]
		}
	}
	return "one is longer"
}

func TestSameOutputs(t *testing.T) {
	list := random(1, 500)
	s, err := Run(t.Context(), Options{Old: write(t, list, "", "csv", false), New: write(t, list, "nested", "parquet", true)})
	if err != nil || s.Changed() != 0 || s.Unchanged == 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestFiles compares so many keys that they go to files.
func TestFiles(t *testing.T) {
	old, fresh := random(1, 40_000), random(2, 40_000)
	want, _ := expected(old, fresh)
	n := 0
	_, err := Run(t.Context(), Options{
		Old: write(t, old, "top", "parquet", false), New: write(t, fresh, "top", "parquet", false),
		Use: func(Change) error { n++; return nil },
	})
	if err != nil || n != len(want) {
		t.Errorf("%d changes, want %d: %v", n, len(want), err)
	}
}

func TestLevels(t *testing.T) {
	for _, tt := range []struct {
		classification, old, new string
		level                    int
	}{
		{"taxonomy_v3", "A > B", "C > B", 1},
		{"taxonomy_v3", "A > B", "A > C", 2},
		{"taxonomy_v3", "A", "A > C", 2},
		{"taxonomy_v3", "A > B > C", "A > B", 3},
		{"naics", "541511", "541512", 5},
		{"naics", "541511", "54", 2},
		{"naics", "541511", "31-33", 1},
	} {
		kind, level := KindOf(tt.classification, &Version{Value: tt.old}, &Version{Value: tt.new})
		if kind != Category || level != tt.level {
			t.Errorf("%s to %s: %s at level %d, want %d", tt.old, tt.new, kind, level, tt.level)
		}
	}
}

func TestEnds(t *testing.T) {
	old, fresh := write(t, random(1, 50), "", "csv", false), write(t, random(2, 50), "", "csv", false)
	failure := errors.New("failed")
	if _, err := Run(t.Context(), Options{Old: old, New: fresh, Use: func(Change) error { return failure }}); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ended, Options{Old: old, New: fresh}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	many := write(t, random(1, 40_000), "top", "csv", false)
	if _, err := Run(t.Context(), Options{Old: old, New: many, Temp: filepath.Join(t.TempDir(), "none")}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func exampleChanges() []Change {
	a := &Version{Record: 1, Status: "ok", Value: "A > B", CategoryID: "2", Confidence: 0.5}
	b := &Version{Record: 3, Status: "failed", Confidence: math.NaN()}
	return []Change{
		{Kind: Category, Level: 2, Input: `a, "b"`, Classification: "c", Old: a, New: &Version{Record: 2, Status: "ok", Value: "A > C", Confidence: 0.25}},
		{Kind: Added, Input: "<new>", Classification: "c", New: b},
		{Kind: Removed, Input: "", Classification: "c", Old: a},
	}
}

func TestTables(t *testing.T) {
	for _, tt := range []struct {
		format writer.Format
		want   string
	}{
		{"csv", `change,level,input,classification,old_record,new_record,old_status,new_status,old_value,new_value,old_category_id,new_category_id,old_confidence,new_confidence
category,2,"a, ""b""",c,1,2,ok,ok,A > B,A > C,2,,0.5,0.25
added,,<new>,c,,3,,failed,,,,,,
removed,,,c,1,,ok,,A > B,,2,,0.5,
`},
		{"jsonl", `{"change":"category","level":2,"input":"a, \"b\"","classification":"c","old_record":1,"new_record":2,"old_status":"ok","new_status":"ok","old_value":"A > B","new_value":"A > C","old_category_id":"2","new_category_id":null,"old_confidence":0.5,"new_confidence":0.25}
{"change":"added","level":null,"input":"<new>","classification":"c","old_record":null,"new_record":3,"old_status":null,"new_status":"failed","old_value":null,"new_value":null,"old_category_id":null,"new_category_id":null,"old_confidence":null,"new_confidence":null}
{"change":"removed","level":null,"input":null,"classification":"c","old_record":1,"new_record":null,"old_status":"ok","new_status":null,"old_value":"A > B","new_value":null,"old_category_id":"2","new_category_id":null,"old_confidence":0.5,"new_confidence":null}
`},
	} {
		if got := written(t, tt.format); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tt.format, got, tt.want)
		}
	}
	text := written(t, "parquet")
	read, err := parquet.Read[Row](strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	got, _ := json.Marshal(read)
	want, _ := json.Marshal(rowsOf())
	if !bytes.Equal(got, want) {
		t.Errorf("Parquet: got %s, want %s", got, want)
	}
	for _, format := range []writer.Format{"csv.gz", "jsonl.zst"} {
		if len(written(t, format)) == 0 {
			t.Errorf("%s: nothing", format)
		}
	}
}

func rowsOf() (rows []Row) {
	for _, c := range exampleChanges() {
		rows = append(rows, c.Row())
	}
	return rows
}

// written are the rows of exampleChanges.
func written(t *testing.T, format writer.Format) string {
	t.Helper()
	var out bytes.Buffer
	table, err := writer.NewTable[Row](&out, format)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rowsOf() {
		if err := table.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestText(t *testing.T) {
	s := Summary{
		Old: Counts{Records: 10, Duplicates: 2}, New: Counts{Records: 9}, Unchanged: 4, Level: 1,
		Changes: map[Kind]int64{Added: 1, Category: 3, Confidence: 1}, Levels: []int64{2, 1},
		Moves: []Move{{"taxonomy_v3", "A", "A", 4}, {"taxonomy_v3", "A", "B", 2}, {"taxonomy_v3", Absent, "B", 1}},
	}
	for k := range 20 {
		s.Moves = append(s.Moves, Move{"wide", fmt.Sprintf("C%d", k), "C0", int64(100 + k)})
	}
	var got strings.Builder
	if err := s.WriteText(&got); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/text.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s%v", got.String(), want, err)
	}
}

type nothing struct{}

func (nothing) Attempt(context.Context, client.Request) (client.Answer, error) {
	return client.Answer{}, nil
}

// The account beside an output says the format of its file, and the rule of the run.
func TestSideOf(t *testing.T) {
	dir := t.TempDir()
	input, output := filepath.Join(dir, "in.txt"), filepath.Join(dir, "out.data")
	if err := os.WriteFile(input, []byte("a shoe\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	session, err := pipeline.Open(t.Context(), pipeline.Options{
		Kind: client.Product, Service: pipeline.Service{Attempter: nothing{}, Name: "service"},
		Input: reader.Options{Paths: []string{input}}, Output: pipeline.OutputOptions{Path: output, Format: "csv"},
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = session.Run(t.Context())
	if err := errors.Join(err, session.Close()); err != nil {
		t.Fatal(err)
	}
	side, err := SideOf(t.Context(), output)
	if err != nil || len(side.Parts) != 1 || side.Parts[0].Format != "csv" || side.Kind != client.Product {
		t.Errorf("got %+v, %v", side, err)
	}
	if _, err := SideOf(t.Context(), filepath.Join(dir, "none.csv")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without an output: %v", err)
	}
}

// TestObjects compares objects, one of which is missing at first.
func TestObjects(t *testing.T) {
	b, url := storagetest.New()
	old := write(t, random(1, 20), "", "csv", false)
	fresh := Side{Parts: []readback.Part{{Path: url + "/out.csv", Format: writer.CSV}}}
	if _, err := Run(t.Context(), Options{Old: old, New: fresh}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing object: %v", err)
	}
	text, err := os.ReadFile(old.Parts[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	b.Set("copy/out.csv", string(text))
	fresh.Parts[0].Path = url + "/out.csv"
	if s, err := Run(t.Context(), Options{Old: old, New: fresh}); err != nil || s.Changed() != 0 || s.Unchanged == 0 {
		t.Errorf("%+v, %v", s, err)
	}
}

// compare orders changes by the new record, and those without one by the old record after all others.
func compare(a, b Change) int {
	record := func(v *Version) int64 {
		if v == nil {
			return math.MaxInt64
		}
		return v.Record
	}
	return cmp.Or(cmp.Compare(record(a.New), record(b.New)), cmp.Compare(record(a.Old), record(b.Old)),
		cmp.Compare(len(a.Classification), len(b.Classification)), cmp.Compare(a.Classification, b.Classification), cmp.Compare(a.Input, b.Input))
}

// TestSpellingsAreOneInput compares outputs whose inputs differ only as the lists have them.
func TestSpellingsAreOneInput(t *testing.T) {
	outputOf := func(kind client.Kind, inputs ...string) Side {
		var list []writer.Result
		for i, input := range inputs {
			list = append(list, writer.Result{
				Record: int64(i + 1), Input: input, Status: writer.StatusOK, Classification: "taxonomy_v3",
				Entries: []writer.Entry{{Value: "A", Confidence: 1}},
			})
		}
		side := write(t, list, writer.ShapeLong, writer.CSV, false)
		side.Kind = kind
		return side
	}
	for name, tt := range map[string]struct {
		kind     client.Kind
		old, new string
		same     bool
	}{
		"blanks around a title":     {client.Product, " Garden hose\t", "Garden hose", true},
		"blanks in a title":         {client.Product, "Garden  hose", "Garden hose", true},
		"composed letters":          {client.Product, "Cafe\u0301", "Caf\u00e9", true},
		"titles in another case":    {client.Product, "Garden hose", "garden hose", false},
		"a domain and a URL":        {client.Website, "Example.com ", "https://example.com/", true},
		"spellings of a site":       {client.Website, "http://www.ikea.com/", "ikea.com", true},
		"pages of a site":           {client.Website, "ikea.com/a", "ikea.com/b", false},
		"blanks around no website":  {client.Website, " no website ", "no website", true},
		"blanks of an unknown kind": {"", " Garden hose", "Garden hose ", true},
		"a domain of unknown kind":  {"", "example.com", "https://example.com", false},
	} {
		var changes []Change
		s, err := Run(t.Context(), Options{
			Old: outputOf(tt.kind, tt.old, "gone.example"), New: outputOf(tt.kind, tt.new, " new.example"),
			Use: func(c Change) error { changes = append(changes, c); return nil },
		})
		if err != nil {
			t.Fatal(name, err)
		}
		if same := s.Unchanged == 1; same != tt.same {
			t.Errorf("%s: got %+v", name, s)
		}
		if tt.same && (len(changes) != 2 || changes[0].Input != " new.example" || changes[1].Input != "gone.example") {
			t.Errorf("%s: got the changes %+v, whose inputs must be those of the outputs", name, changes)
		}
	}
}
