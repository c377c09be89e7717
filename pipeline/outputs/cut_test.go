package outputs

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/bulkcat/bulkcat/reader/pages"
	"github.com/bulkcat/bulkcat/writer"
)

// TestCutOutput cuts an output: both ways to read it fail, and neither takes the cut for the end.
func TestCutOutput(t *testing.T) {
	schema := writer.Schema{}
	for _, format := range []writer.Format{"csv.gz", "csv.zst", "jsonl.gz", "jsonl.zst", "parquet"} {
		path := write(t, schema, format, false, 2000)
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{len(whole) / 2, len(whole) - 9, len(whole) - 1} {
			if err := os.WriteFile(path, whole[:size], 0o666); err != nil {
				t.Fatal(err)
			}
			part := Part{Path: path, Format: format}
			if err := Scan(t.Context(), []Part{part}, everything, func(*Batch) error { return nil }); err == nil {
				t.Errorf("%s of %d bytes cut to %d: Scan takes it for whole", format, len(whole), size)
			}
			if err := readAll(part); err == nil {
				t.Errorf("%s of %d bytes cut to %d: Rows takes it for whole", format, len(whole), size)
			}
		}
	}
}

func readAll(p Part) error {
	f, err := Open(context.Background(), p, nil)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Rows(func([]Row) error { return nil })
}

// shortGroup is a row group that ends before its last row.
type shortGroup struct{ parquet.RowGroup }

func (g shortGroup) NumRows() int64 { return g.RowGroup.NumRows() + 1 }

func TestRowGroupThatEndsEarly(t *testing.T) {
	f, err := os.Open(write(t, writer.Schema{}, writer.Parquet, false, 10))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := openParquet(f)
	if err != nil {
		t.Fatal(err)
	}
	p.groups[0] = shortGroup{p.groups[0]}
	err = p.rows(func([]Row) error { return nil })
	if !errors.Is(err, pages.ErrDamaged) {
		t.Errorf("got %v", err)
	}
}
