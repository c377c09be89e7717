package outputs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/writer"
)

const everything = Columns(1<<writer.NumColumns - 1)

// write writes so many records in two classifications and returns the path of the output.
func write(t *testing.T, schema writer.Schema, format writer.Format, folder bool, records int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	if !folder {
		path += "." + string(format)
	}
	sink, err := writer.Open(writer.Options{Path: path, Format: format, Folder: folder, PartRows: 1000, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	for n := range records {
		result := writer.Result{
			Record: int64(n + 1), Input: fmt.Sprintf("site, \"%d\"", n%7000), Status: writer.StatusOK, Classification: "taxonomy_v3",
			Source: "https://a.example", AnsweredAt: time.Unix(int64(n), 5000), Fields: []string{"carried"},
		}
		for k := range n % 4 {
			result.Entries = append(result.Entries, writer.Entry{Value: fmt.Sprintf("A%d > B%d", n%5, k), ID: strconv.Itoa(k), Confidence: float64(n%10) / 10})
		}
		if n%4 == 0 {
			result.Status, result.Error = writer.StatusRejected, fmt.Sprintf("reason %d", n)
		} else if n%9 == 0 {
			result.Entries[0].Confidence = math.NaN()
		}
		rows := schema.Flatten(nil, result)
		result.Classification = "naics"
		for k := range result.Entries {
			result.Entries[k] = writer.Entry{Value: "541511", Title: "T", Confidence: 0.5}
		}
		if err := sink.Write(schema.Flatten(rows, result)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// byRow reads the columns of an output row by row.
func byRow(t *testing.T, parts []Part) (rows []string) {
	t.Helper()
	for _, p := range parts {
		f, err := Open(t.Context(), p, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if f.Columns() == nil {
			continue
		}
		own := columnsOf(t, f.Columns())
		err = f.Rows(func(read []Row) error {
			for _, r := range read {
				var cells []string
				for i := range own {
					cell := r[i]
					if own[i].ID == writer.ColumnLevel {
						continue
					}
					if own[i].ID == writer.ColumnAnsweredAt && cell != "" {
						at, err := time.Parse(time.RFC3339Nano, cell)
						if err != nil {
							t.Fatal(err)
						}
						cell = strconv.FormatInt(at.UnixMicro(), 10)
					}
					cells = append(cells, cell)
				}
				rows = append(rows, strings.Join(cells, "|"))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

// columnsOf returns the columns with these names, without the carried ones.
func columnsOf(t *testing.T, names []string) []writer.Column {
	t.Helper()
	schema, own, err := writer.SchemaOf(names)
	if err != nil {
		t.Fatal(err)
	}
	return schema.Leaves()[:own]
}

// byBatch reads the columns of an output in batches.
func byBatch(t *testing.T, parts []Part, columns Columns) (rows []string) {
	t.Helper()
	err := Scan(t.Context(), parts, columns, func(b *Batch) error {
		for i := range b.Len {
			var cells []string
			for c := range writer.NumColumns {
				cell := ""
				switch {
				case c == writer.ColumnInput:
					var err error
					if cell, err = b.InputAt(i); err != nil {
						return err
					}
				case len(b.Texts[c].Index) > 0:
					cell = b.Texts[c].At(i)
				case len(b.Wholes[c]) > 0:
					if cell = strconv.FormatInt(b.Wholes[c][i], 10); cell == "0" {
						cell = ""
					}
				case len(b.Reals[c]) > 0:
					if cell = strconv.FormatFloat(b.Reals[c][i], 'g', -1, 64); cell == "NaN" {
						cell = ""
					}
				default:
					continue
				}
				cells = append(cells, cell)
			}
			rows = append(rows, strings.Join(cells, "|"))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestScanGivesTheRows compares both ways to read, in each format and shape.
func TestScanGivesTheRows(t *testing.T) {
	for _, format := range []writer.Format{"csv", "tsv.gz", "jsonl", "jsonl.zst", "parquet"} {
		for _, shape := range []writer.Shape{writer.ShapeLong, writer.ShapeTop, writer.ShapeNested} {
			if shape.CheckFormat(format) != nil {
				continue
			}
			for _, folder := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s folder %t", format, shape, folder), func(t *testing.T) {
					t.Parallel()
					schema := writer.Schema{Levels: 3, Titles: true, Codes: client.Codes(), SourceColumns: true, Carry: []string{"value", "source"}, Shape: shape}
					parts, err := List(t.Context(), write(t, schema, format, folder, 2500), "")
					if err != nil {
						t.Fatal(err)
					}
					want := byRow(t, parts)
					if len(want) < 5000 || folder != (len(parts) > 1) {
						t.Fatalf("%d rows in %d parts", len(want), len(parts))
					}
					for name, columns := range map[string]Columns{"with inputs": everything, "inputs on demand": everything &^ Of(writer.ColumnInput)} {
						if got := byBatch(t, parts, columns); !slices.Equal(got, want) {
							for i := range min(len(got), len(want)) {
								if got[i] != want[i] {
									t.Fatalf("%s: row %d: got %s, want %s", name, i, got[i], want[i])
								}
							}
							t.Fatalf("%s: got %d rows, want %d", name, len(got), len(want))
						}
					}
				})
			}
		}
	}
}

// TestEscapedText reads escaped text as it was before, both ways, also the names of columns.
func TestEscapedText(t *testing.T) {
	texts := strings.Split("=1,+1,-1,@1,'1,\t1,\r1,\n1,\" 1", ",")
	for _, format := range []writer.Format{"csv", "tsv", "csv.gz"} {
		var want []string
		for _, escaped := range []bool{false, true} {
			schema := writer.Schema{Levels: 1, Titles: true, Codes: client.Codes(), Carry: texts, EscapeFormulas: escaped}
			path := filepath.Join(t.TempDir(), "out."+string(format))
			sink, err := writer.Open(writer.Options{Path: path, Schema: schema})
			if err != nil {
				t.Fatal(err)
			}
			for i, text := range texts {
				result := writer.Result{
					Record: int64(i + 1), Input: text, Status: writer.StatusOK, Classification: "naics", Error: text, Fields: texts,
					Entries: []writer.Entry{{Value: text, ID: text, Title: text, Confidence: -1}},
				}
				if err := sink.Write(schema.Flatten(nil, result)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := sink.Close(); err != nil {
				t.Fatal(err)
			}
			part := Part{Path: path, Format: format, Escaped: escaped}
			if plain := strings.Join(byRow(t, []Part{{Path: path, Format: format}}), ","); strings.Contains(plain, "'=1") != escaped {
				t.Errorf("%s: escaped %t, but written as %s", format, escaped, plain)
			}
			rows := byRow(t, []Part{part})
			if want = append(want, rows...); !slices.Equal(rows, want[:len(rows)]) || !slices.Equal(byBatch(t, []Part{part}, everything), rows) {
				t.Errorf("%s, escaped %t: got %q and %q, want %q", format, escaped, rows, byBatch(t, []Part{part}, everything), want[:len(rows)])
			}
			f, err := Open(t.Context(), part, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Columns(); !slices.Equal(got[len(got)-len(texts):], texts) {
				t.Errorf("%s: the columns are %q", format, got)
			}
			if err := f.Rows(func(row []Row) error {
				if !slices.Equal(row[0][len(row[0])-len(texts):], texts) {
					t.Errorf("%s: the row is %q", format, row)
				}
				return nil
			}); err != nil {
				t.Error(err)
			}
			f.Close()
		}
	}
}

// TestManyRowGroups reads more row groups than are decoded at a time.
func TestManyRowGroups(t *testing.T) {
	schema := writer.Schema{}
	parts, err := List(t.Context(), write(t, schema, writer.Parquet, false, 300_000), "")
	if err != nil {
		t.Fatal(err)
	}
	next, rows := int64(1), 0
	err = Scan(t.Context(), parts, Of(writer.ColumnRecord), func(b *Batch) error {
		for _, n := range b.Wholes[writer.ColumnRecord] {
			if n != next && n != next-1 {
				t.Fatalf("record %d after %d", n, next-1)
			}
			next = n + 1
		}
		rows += b.Len
		return nil
	})
	if err != nil || next != 300_001 || rows <= 300_000*2 {
		t.Errorf("%d rows until record %d: %v", rows, next-1, err)
	}
}

func TestScanEnds(t *testing.T) {
	parts, err := List(t.Context(), write(t, writer.Schema{}, writer.Parquet, false, 10), "")
	if err != nil {
		t.Fatal(err)
	}
	failure := errors.New("failed")
	if err := Scan(t.Context(), parts, Of(writer.ColumnRecord), func(*Batch) error { return failure }); !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Scan(ended, parts, Of(writer.ColumnRecord), func(*Batch) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestOtherFiles(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"other.csv": "a,b\n1,2\n", "short.csv": "record,input\n1,a\n", "empty.csv": "", "one.jsonl": `{"record":1}`,
		"number.csv": "record,input,status,classification,rank,value,category_id,confidence,error\nx,a,ok,c,1,A,,0.5,\n",
		"float.csv":  "record,input,status,classification,rank,value,category_id,confidence,error\n1,a,ok,c,1,A,,high,\n",
		"no.parquet": "PAR1",
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		parts, err := List(t.Context(), path, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := Scan(t.Context(), parts, everything, func(*Batch) error { return nil }); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := List(t.Context(), filepath.Join(dir, "none.csv"), ""); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestListFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"part-00002.csv", "part-00010.csv", "part-00001.csv", "_SUCCESS", "_manifest.json", ".hidden", "notes.txt", "part-00001.exe",
		"shard=01-of-02/part-00001.csv", "shard=01-of-02/_SUCCESS", "shard=00-of-02/part-00001.csv", "shard=00-of-02/other",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, nil, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := ListFolder(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range f.Parts {
		rel, _ := filepath.Rel(dir, p.Path)
		got = append(got, filepath.ToSlash(rel))
	}
	want := []string{"part-00001.csv", "part-00002.csv", "part-00010.csv", "shard=00-of-02/part-00001.csv", "shard=01-of-02/part-00001.csv"}
	if !slices.Equal(got, want) || len(f.Others) != 3 || !f.Complete {
		t.Errorf("parts %q, others %q, complete %t", got, f.Others, f.Complete)
	}
	if err := os.Remove(filepath.Join(dir, "_SUCCESS")); err != nil {
		t.Fatal(err)
	}
	if f, err = ListFolder(t.Context(), dir); err != nil || f.Complete {
		t.Errorf("complete %t although a shard is not: %v", f.Complete, err)
	}
}

// FuzzScan scans any bytes in each format, without a panic.
func FuzzScan(f *testing.F) {
	const header = "record,input,status,classification,rank,value,category_id,confidence,error\n"
	f.Add([]byte(header+"1,a,ok,c,1,A,,0.5,\n"), uint8(0))
	f.Add([]byte(`{"record":1,"input":"a","status":"ok","classification":"c","categories":[],"error":null}`), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, kind uint8) {
		format := []writer.Format{writer.CSV, writer.TSV, writer.JSONL, writer.Parquet}[kind%4]
		path := filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		_ = Scan(t.Context(), []Part{{Path: path, Format: format}}, everything, func(b *Batch) error {
			for i := range b.Len {
				if _, err := b.InputAt(i); err != nil {
					return err
				}
			}
			return nil
		})
	})
}
