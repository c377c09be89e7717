package readback

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

// results are so many records in two classifications.
func results(records int) (list []writer.Result) {
	for n := range records {
		r := writer.Result{
			Record: int64(n + 1), Input: fmt.Sprintf("site, \"%d\"\r\nnext", n%7000), Status: writer.StatusOK, Classification: "taxonomy_v3",
			Source: "https://a.example", Basis: "service", AnsweredAt: time.Unix(int64(n), 5000), Fields: []string{"carried", "", strconv.Itoa(n)}, Nulls: []bool{false, n%2 == 0, false},
		}
		for k := range n % 4 {
			r.Entries = append(r.Entries, writer.Entry{Value: fmt.Sprintf("A%d > B%d", n%5, k), ID: strconv.Itoa(k), Confidence: float64(n%10) / 10})
		}
		if n%4 == 0 {
			r.Status, r.Error = writer.StatusRejected, fmt.Sprintf("reason %d", n)
		} else if n%9 == 0 {
			r.Entries[0].Confidence = math.NaN()
		}
		list = append(list, r)
		r.Classification, r.Entries = "naics", slices.Clone(r.Entries)
		for k := range r.Entries {
			r.Entries[k] = writer.Entry{Value: "541511", Title: "T", Confidence: 0.5}
		}
		list = append(list, r)
	}
	return list
}

// publish writes results, and returns the output's parts and the rows as they were written.
func publish(t *testing.T, list []writer.Result, schema writer.Schema, format writer.Format, folder bool) (parts []Part, rows []writer.Row) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	if !folder {
		path += "." + string(format)
	}
	sink, err := writer.Open(t.Context(), writer.Options{Path: path, Format: format, Folder: folder, PartRows: 1000, Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		n := len(rows)
		rows = schema.Flatten(rows, r)
		if err := sink.Write(rows[n:]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	if parts, err = List(t.Context(), path, nil); err != nil || folder != (len(parts) > 1) {
		t.Fatalf("%d parts, %v", len(parts), err)
	}
	return parts, rows
}

// text is a row as text. Text formats have no empty text.
func text(r *writer.Row, schema writer.Schema, nulls bool) string {
	levels := append(slices.Clone(r.Levels), make([]string, schema.Levels)...)[:schema.Levels]
	at := ""
	if schema.SourceColumns {
		at = r.Source + r.Basis + r.AnsweredAt.UTC().Format(time.RFC3339Nano)
	}
	s := fmt.Sprintf("%d|%s|%s|%s|%d|%s|%s|%s|%v|%q|%s|%s|%q", r.Record, r.Input, r.Status, r.Classification, r.Rank, r.Value, r.CategoryID, r.Title, r.Confidence, levels, r.Error, at, r.Fields)
	if nulls {
		s += fmt.Sprint(r.Nulls)
	}
	for i := range r.Categories {
		s += "\n" + text(&r.Categories[i], schema, nulls)
	}
	return s
}

// TestRows reads what was written, in each format and shape.
func TestRows(t *testing.T) {
	list := results(1200)
	for _, format := range []writer.Format{"csv", "tsv.gz", "jsonl", "jsonl.zst", "parquet"} {
		for _, shape := range []writer.Shape{writer.ShapeLong, writer.ShapeTop, writer.ShapeNested} {
			if format.CheckShape(shape) != nil {
				continue
			}
			for _, folder := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s %s folder %t", format, shape, folder), func(t *testing.T) {
					t.Parallel()
					schema := writer.Schema{Form: writer.Form{Levels: 3, SourceColumns: true, Shape: shape}, Titles: true, Codes: client.Codes(), Carry: []string{"value", "title", "n"}}
					parts, rows := publish(t, list, schema, format, folder)
					n := 0
					for row, err := range Rows(t.Context(), parts) {
						if err != nil {
							t.Fatal(err)
						}
						if want := rows[n]; text(row, schema, !format.Delimited()) != text(&want, schema, !format.Delimited()) {
							t.Fatalf("got\n%s\nwant\n%s", text(row, schema, true), text(&want, schema, true))
						}
						n++
					}
					if n != len(rows) {
						t.Errorf("%d rows, want %d", n, len(rows))
					}
					checkGroups(t, parts, list, rows, shape)
				})
			}
		}
	}
}

// checkGroups reads some columns of the groups, of which there is one for each result.
func checkGroups(t *testing.T, parts []Part, list []writer.Result, rows []writer.Row, shape writer.Shape) {
	t.Helper()
	n, inFile, firsts := 0, int64(0), 0
	for g, err := range Groups(t.Context(), parts, writer.ColumnRecord, writer.ColumnClassification, writer.ColumnValue) {
		if err != nil {
			t.Fatal(err)
		}
		r := list[n]
		want := max(1, len(r.Entries))
		if shape == writer.ShapeTop {
			want = 1
		}
		if row := g.Rows[want-1]; len(g.Rows) != want || row.Record != r.Record || row.Classification != r.Classification || len(r.Entries) > 0 && row.Value == "" || row.Error != "" || row.Input != "" {
			t.Fatalf("group %d of %+v: got %+v", n, r, g)
		}
		inFile += g.InFile
		if g.First {
			firsts++
		}
		n++
	}
	if n != len(list) || firsts != len(parts) || inFile != int64(len(rows)) {
		t.Errorf("%d groups of %d rows in %d files", n, inFile, firsts)
	}
}

// TestEscapedText reads escaped text as it was before, also that of carried columns.
func TestEscapedText(t *testing.T) {
	texts := strings.Split("=1,+1,-1,@1,'1,\t1,\r1,\n1,\" 1", ",")
	for _, format := range []writer.Format{"csv", "tsv", "csv.gz"} {
		for _, escaped := range []bool{false, true} {
			schema := writer.Schema{Form: writer.Form{Levels: 1, EscapeFormulas: escaped}, Titles: true, Codes: client.Codes(), Carry: texts}
			var list []writer.Result
			for i, text := range texts {
				list = append(list, writer.Result{
					Record: int64(i + 1), Input: text, Status: writer.StatusOK, Classification: "naics", Error: text, Fields: texts,
					Entries: []writer.Entry{{Value: text, ID: text, Title: text, Confidence: -1}},
				})
			}
			parts, rows := publish(t, list, schema, format, false)
			for _, as := range []bool{false, true} {
				parts[0].Escaped = as
				same := true
				n := 0
				for row, err := range Rows(t.Context(), parts) {
					if err != nil {
						t.Fatal(err)
					}
					same = same && text(row, schema, false) == text(&rows[n], schema, false)
					n++
				}
				if same != (as == escaped) || n != len(rows) {
					t.Errorf("%s, escaped %t, read as escaped %t: %d rows, the same %t", format, escaped, as, n, same)
				}
			}
		}
	}
}

// TestOddRows reads rows as other programs write them, all line ends in quotes, and rows that are longer than a record may be.
func TestOddRows(t *testing.T) {
	const header = "record,input,status,classification,rank,value,category_id,confidence,error,own\n"
	long := strings.Repeat("x\r\n", 1<<20)
	for name, tt := range map[string]struct {
		format      writer.Format
		text, input string
	}{
		"quotes":        {writer.CSV, header + "1,\"a \"\"b\"\", c\",ok,c,1,A,,0.5,,x\r\n\n", `a "b", c`},
		"a line end":    {writer.CSV, header + "1,\"a\r\nb\",ok,c,1,A,,0.5,,x", "a\r\nb"},
		"CR alone":      {writer.CSV, header + "1,\"\r\r\n\r\",ok,c,1,A,,0.5,,x", "\r\r\n\r"},
		"an end mark":   {writer.CSV, header + "1,\"\n\x1ar\",ok,c,1,A,,0.5,,\x1a", "\n\x1ar"},
		"a long row":    {writer.CSV, header + "1,\"" + long + "\",ok,c,1,A,,0.5,,x", long},
		"blanks":        {writer.JSONL, ` { "record" : 1, "input": "\u00e9\\\"\n", "status": "ok", "classification": "c", "categories": [ {"rank":1,"value":"A"} , {"rank":2}], "error": null, "own": {"a": [1, "}"]}}`, "é\\\"\n"},
		"a long object": {writer.JSONL, `{"record":1,"input":"` + strings.Repeat("y", 2<<20) + `","status":"ok","classification":"c","categories":[],"error":null}`, strings.Repeat("y", 2<<20)},
	} {
		path := filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(path, []byte(tt.text), 0o666); err != nil {
			t.Fatal(err)
		}
		n := 0
		for row, err := range Rows(t.Context(), []Part{{Path: path, Format: tt.format}}) {
			if n++; err != nil || row.Record != 1 || row.Input != tt.input {
				t.Fatalf("%s: got %.100q, %v", name, fmt.Sprint(row), err)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d rows", name, n)
		}
	}
	parts, _ := publish(t, []writer.Result{{Record: 1, Input: long, Status: writer.StatusOK, Classification: "c", Fields: []string{long}}}, writer.Schema{Carry: []string{"own"}}, writer.Parquet, false)
	for row, err := range Rows(t.Context(), parts) {
		if err != nil || row.Input != long || row.Fields[0] != long {
			t.Errorf("a long row of Parquet: %v", err)
		}
	}
}

// TestDamagedFiles reads files that are no outputs, or damaged: the error names the file.
func TestDamagedFiles(t *testing.T) {
	const header = "record,input,status,classification,rank,value,category_id,confidence,error\n"
	const object = `"input":"a","status":"ok","classification":"c","categories":`
	dir := t.TempDir()
	for name, content := range map[string]string{
		"other.csv": "a,b\n1,2\n", "short.csv": "record,input\n1,a\n", "empty.csv": "", "one.jsonl": `{"record":1}`, "no.parquet": "PAR1",
		"number.csv":   header + "x,a,ok,c,1,A,,0.5,\n",
		"float.csv":    header + "1,a,ok,c,1,A,,high,\n",
		"fewer.csv":    header + "1,a,ok,c\n",
		"more.csv":     header + "1,a,ok,c,1,A,,0.5,,x\n",
		"open.csv":     header + "1,\"a,ok,c,1,A,,0.5,\n",
		"quote.csv":    header + "1,\"a\"b,ok,c,1,A,,0.5,\n",
		"bare.csv":     header + "1,a\"b\",ok,c,1,A,,0.5,\n",
		"bytes.csv":    header + "1,\xff,ok,c,1,A,,0.5,\n",
		"cut.jsonl":    `{"record":1,` + object + `[],"error":null}` + "\n" + `{"record":2,`,
		"member.jsonl": `{"record":1,` + object + `[{"rang":1}],"error":null}`,
		"string.jsonl": `{"record":1,` + object + `[],"error":null}` + "\n" + `"x"`,
		"null.jsonl":   `{"record":1,` + object + `[],"error":null}` + "\n" + `{"record":null,` + object + `[],"error":null}`,
		"zero.csv":     header + "0,a,ok,c,1,A,,0.5,\n",
		"text.jsonl":   `{"record":1,` + object + `"[","error":null}`,
		"list.jsonl":   `{"record":1,` + object + `[1],"error":null}`,
		"rank.jsonl":   `{"record":1,` + object + `[{"rank":"first"}],"error":null}`,
		"many.csv":     header + strings.Repeat("1,a,ok,c,1,A,,0.5,\n", mostRows+2),
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		parts, err := List(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := readAll(t.Context(), parts); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := List(t.Context(), filepath.Join(dir, "none.csv"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func readAll(ctx context.Context, parts []Part) error {
	for _, err := range Groups(ctx, parts) {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestCutOutput cuts an output: the cut is not taken for the end.
func TestCutOutput(t *testing.T) {
	for _, format := range []writer.Format{"csv.gz", "csv.zst", "jsonl.gz", "jsonl.zst", "parquet"} {
		parts, _ := publish(t, results(1000), writer.Schema{}, format, false)
		whole, err := os.ReadFile(parts[0].Path)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{len(whole) / 2, len(whole) - 9, len(whole) - 1} {
			if err := os.WriteFile(parts[0].Path, whole[:size], 0o666); err != nil {
				t.Fatal(err)
			}
			if err := readAll(t.Context(), parts); err == nil {
				t.Errorf("%s of %d bytes cut to %d is taken for whole", format, len(whole), size)
			}
		}
	}
}

// TestSorted reads outputs whose rows another program has sorted: the rows of a record have to stand together.
func TestSorted(t *testing.T) {
	const header = "record,input,status,classification,rank,value,category_id,confidence,error\n"
	const a1, a2, b1, b2, c0 = "1,a,ok,c,1,A,,0.9,\n", "1,a,ok,c,2,B,,0.2,\n", "2,b,ok,c,1,A,,0.8,\n", "2,b,ok,c,2,B,,0.1,\n", "3,,blank,c,,,,,\n"
	for name, tt := range map[string]struct {
		rows   string
		groups int
		sorted bool
	}{
		"by record":                {a1 + a2 + b1 + b2 + c0, 3, true},
		"the ranks the other way":  {a2 + a1 + b2 + b1 + c0, 3, true},
		"by value":                 {c0 + a1 + b1 + a2 + b2, 0, false},
		"by falling confidence":    {a1 + b1 + a2 + b2 + c0, 0, false},
		"by rising confidence":     {b2 + a2 + b1 + a1 + c0, 0, false},
		"a row for each record":    {c0 + b1 + a1, 3, true},
		"only the second category": {a2 + b2, 2, true},
	} {
		path := filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(path, []byte(header+tt.rows), 0o666); err != nil {
			t.Fatal(err)
		}
		n, sorted := 0, true
		for _, err := range Groups(t.Context(), []Part{{Path: path, Format: writer.CSV}}, writer.ColumnRecord, writer.ColumnClassification, writer.ColumnRank) {
			if n++; errors.Is(err, errUnsorted) {
				sorted = false
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if sorted != tt.sorted || sorted && n != tt.groups {
			t.Errorf("%s: %d groups, sorted: %t", name, n, sorted)
		}
	}
}

// TestEnds ends before the first row, between rows, and without rows.
func TestEnds(t *testing.T) {
	parts, _ := publish(t, results(2000), writer.Schema{}, writer.CSV, false)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for g, err := range Groups(ctx, parts) {
		if cancel(); err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		} else if g.Rows[0].Record > ctxStride {
			t.Fatal("the context is not asked")
		}
	}
	if err := readAll(ctx, parts); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	for range Groups(t.Context(), parts) {
		break
	}
	for _, format := range []writer.Format{writer.CSV, writer.JSONL, writer.Parquet} {
		if parts, _ := publish(t, nil, writer.Schema{}, format, false); readAll(t.Context(), parts) != nil {
			t.Errorf("%s without rows: %v", format, readAll(t.Context(), parts))
		}
	}
}

// FuzzRows reads any bytes in each format, without a panic.
func FuzzRows(f *testing.F) {
	const header = "record,input,status,classification,rank,value,category_id,confidence,error\n"
	f.Add([]byte(header+"1,a,ok,c,1,A,,0.5,\n"), uint8(0))
	f.Add([]byte(`{"record":1,"input":"a","status":"ok","classification":"c","categories":[{"rank":1,"value":"A"}],"error":null}`), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, kind uint8) {
		path := filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		format := []writer.Format{writer.CSV, writer.TSV, writer.JSONL, writer.Parquet}[kind%4]
		_ = readAll(t.Context(), []Part{{Path: path, Format: format}}) // any error
	})
}
