package verify

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// typedRun categorizes a file of other programs, with all columns carried.
func typedRun(t *testing.T, input string, format writer.Format, shape writer.Shape) (output string, account *record.Account, source *reader.Reader) {
	t.Helper()
	output = filepath.Join(t.TempDir(), "out."+string(format))
	session, err := pipeline.Open(t.Context(), pipeline.SessionOptions{
		Kind: client.Website, Classifications: []string{client.TaxonomyV3},
		Service: pipeline.Service{Categorizer: byHost{}, Name: "embedded", Free: true},
		Input:   reader.Options{Paths: []string{input}, Columns: []string{"domain"}},
		Output:  pipeline.OutputOptions{Path: output, Levels: 1, Carry: "all", Shape: shape},
		Limits:  limits.Options{Rate: math.Inf(1)},
		Program: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if account, err = session.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if source, err = reader.Open(reader.Options{Paths: []string{input}, Columns: []string{"domain"}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { source.Close() })
	return output, account, source
}

// Carried columns of all types are equal to those of the input.
func TestTypedColumnsAreBalanced(t *testing.T) {
	for _, name := range []string{"types.parquet", "pandas.parquet", "pyarrow-int96.parquet", "polars.parquet", "spark"} {
		for _, format := range uncompressed {
			for _, shape := range []writer.Shape{writer.ShapeLong, writer.ShapeNested} {
				if shape.CheckFormat(format) != nil {
					continue
				}
				t.Run(fmt.Sprintf("%s %s %s", name, format, shape), func(t *testing.T) {
					t.Parallel() // it waits for the disk
					output, account, source := typedRun(t, filepath.Join("../../reader/testdata/parquet", name), format, shape)
					r, err := Run(t.Context(), Options{Output: output, Account: account, Input: source})
					if err != nil {
						t.Fatal(err)
					}
					for _, finding := range r.Findings {
						t.Error(finding)
					}
					if r.Inputs != r.Records || r.Records == 0 || account.Counts.Misfits != 0 {
						t.Errorf("%d records, %d compared, %d values do not fit", r.Records, r.Inputs, account.Counts.Misfits)
					}
				})
			}
		}
	}
}

// A value that became null, and a null that became empty text, are found in columns of all types.
func TestTamperedTypesAreFound(t *testing.T) {
	const input = "../../reader/testdata/parquet/types.parquet"
	for _, format := range []writer.Format{writer.Parquet, writer.JSONL} {
		output, account, source := typedRun(t, input, format, writer.ShapeLong)
		schema := account.Settings.Schema()
		schema.Carry = source.Columns()
		if format == writer.Parquet {
			f, err := outputs.Open(t.Context(), outputs.Part{Path: output, Format: format}, nil)
			if err != nil {
				t.Fatal(err)
			}
			schema.CarryTypes = f.Types()[len(f.Types())-len(schema.Carry):]
			f.Close()
		}
		record, err := source.Read()
		if err != nil {
			t.Fatal(err)
		}
		for i, name := range schema.Carry {
			for number, null := range []bool{true, false} { // of records 1 and 2
				if null == (name == "null") || !null && schema.CarryTypes != nil && schema.CarryTypes[i].Type != writer.TypeString {
					continue // null in the input, or without empty text
				}
				fields, nulls := slices.Clone(record.Fields), slices.Clone(record.Nulls)
				if number == 1 {
					clear(fields)
					for k := range nulls {
						nulls[k] = true
					}
				}
				nulls[i] = null
				row := writer.Result{Record: int64(number + 1), Status: writer.StatusEmpty, Classification: client.TaxonomyV3, Fields: fields, Nulls: nulls}
				sink, err := writer.Open(writer.Options{Path: output, Schema: schema})
				if err == nil {
					err = sink.Write(schema.Flatten(nil, row))
				}
				if err == nil {
					_, err = sink.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
				again, err := reader.Open(reader.Options{Paths: []string{input}, Columns: []string{"domain"}})
				if err != nil {
					t.Fatal(err)
				}
				r, err := Run(t.Context(), Options{Output: output, Input: again})
				if err != nil {
					t.Fatal(err)
				}
				wantFinding(t, r, name+", by the input file")
				again.Close()
			}
		}
	}
}

// An output whose types are not those of the account is found.
func TestOtherTypesAreFound(t *testing.T) {
	output, account, _ := typedRun(t, "../../reader/testdata/parquet/types.parquet", writer.Parquet, writer.ShapeLong)
	account.Carried[0].Type = writer.ValueType{}
	r, err := Run(t.Context(), Options{Output: output, Account: account})
	if err != nil {
		t.Fatal(err)
	}
	wantFinding(t, r, "type of int8")
}
