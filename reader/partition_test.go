package reader

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// The values in the paths of a folder's parts are columns, in each format.
func TestPartitions(t *testing.T) {
	type row struct {
		Domain string `parquet:"domain"`
	}
	for _, format := range []string{"csv", "jsonl", "parquet"} {
		t.Run(format, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "outside=1")
			for _, folder := range []string{"country=DE/year=2026", "country=F%20R/domain=x", "country=" + nullPartition + "/year=2025"} {
				path := filepath.Join(dir, folder, "part-0."+format)
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				var err error
				switch format {
				case "csv":
					err = os.WriteFile(path, []byte("domain\na.com\nb.com\n"), 0o666)
				case "jsonl":
					err = os.WriteFile(path, []byte("{\"domain\":\"a.com\"}\n{\"domain\":\"b.com\"}\n"), 0o666)
				default:
					err = parquet.WriteFile(path, []row{{"a.com"}, {"b.com"}})
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			r := openReader(t, Options{Paths: []string{dir}, Candidates: candidates, ExtraColumns: []string{"Country"}})
			if got := r.Columns(); !slices.Equal(got, []string{"domain", "country", "year"}) || len(r.Schema()) != 3 {
				t.Fatalf("columns %q", got)
			}
			want := [][]string{{"a.com", "DE", "2026"}, {"b.com", "DE", "2026"}, {"a.com", "F R", ""}, {"b.com", "F R", ""}, {"a.com", "", "2025"}, {"b.com", "", "2025"}}
			var got [][]string
			for _, rec := range readAll(t, r) {
				got = append(got, rec.Fields)
				if rec.Nulls != nil && (rec.Nulls[1] != (rec.Fields[1] == "") || rec.Nulls[2] != (rec.Fields[2] == "")) {
					t.Errorf("%q has the nulls %v", rec.Fields, rec.Nulls)
				}
			}
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
