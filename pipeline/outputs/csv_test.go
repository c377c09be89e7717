package outputs

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/bulkcat/bulkcat/writer"
)

// TestBlocks cuts texts into blocks of each size: no block ends within a row.
func TestBlocks(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		quoted     bool
		rows       []string
	}{
		{"plain", "a,b\nlong,row\nc\n", true, []string{"a,b\n", "long,row\n", "c\n"}},
		{"quotes", "a,\"b\nc\"\"\n\"\nd,\"\"\n\"\n\",e\n", true, []string{"a,\"b\nc\"\"\n\"\n", "d,\"\"\n", "\"\n\",e\n"}},
		{"JSON", "{\"a\":\"\\\"\"}\n{\"b\":1}\n", false, []string{"{\"a\":\"\\\"\"}\n", "{\"b\":1}\n"}},
		{"no newline at the end", "a\nb", true, []string{"a\n", "b"}},
		{"empty", "", true, nil},
	} {
		for size := 1; size < len(tt.text)+2; size++ {
			s := &blocks{in: iotest.HalfReader(strings.NewReader(tt.text)), size: size, quoted: tt.quoted}
			var got []string
			for {
				block, err := s.next()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, block)
			}
			if strings.Join(got, "") != tt.text {
				t.Fatalf("%s, size %d: got %q", tt.name, size, got)
			}
			at := 0
			for _, block := range got { // each is some whole rows
				for block != "" && at < len(tt.rows) {
					rest, ok := strings.CutPrefix(block, tt.rows[at])
					if !ok {
						t.Fatalf("%s, size %d: got %q", tt.name, size, got)
					}
					block, at = rest, at+1
				}
			}
		}
	}
	failure := errors.New("failed")
	s := &blocks{in: io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(failure)), size: 2}
	var err error
	for err == nil {
		_, err = s.next()
	}
	if !errors.Is(err, failure) {
		t.Errorf("got %v", err)
	}
}

// TestOddText reads rows as other programs write them.
func TestOddText(t *testing.T) {
	names := []string{"record", "input", "status", "classification", "rank", "value", "category_id", "confidence", "error", "own"}
	f := &File{format: writer.CSV, names: names}
	own := columnsOf(t, names)
	var b Batch
	batch := newTextBatch(f, &b, own, everything)
	err := batch.addCSV("1,\"a \"\"b\"\", c\",ok,c,1,A,,0.5,,x\r\n\n2,\"two\nlines\",failed,c,,,,,\"HTTP, 503\",\"x\"\r\n")
	if err != nil || b.Len != 2 || b.Texts[writer.ColumnInput].At(0) != `a "b", c` || b.Texts[writer.ColumnInput].At(1) != "two\nlines" || b.Texts[writer.ColumnError].At(1) != "HTTP, 503" || b.Wholes[writer.ColumnRank][1] != 0 {
		t.Errorf("%+v, %v", b, err)
	}
	for _, row := range []string{"1,a\n", "1,a,ok,c,1,A,,0.5,,x,y\n", "1,\"a,ok\n", "1,\"a\"b,ok,c,1,A,,0.5,,x\n", "1,a\"b,ok,c,1,A,,0.5,,x\n", "1,a\"b\",ok,c,1,A,,0.5,,x\n", "1,a,ok,c,1,A,,0.5,\n"} {
		if err := newTextBatch(f, new(Batch), own, everything).addCSV(row); err == nil {
			t.Errorf("%q is read", row)
		}
	}
	listed := []string{"record", "input", "status", "classification", "categories.rank", "categories.value", "categories.category_id", "categories.confidence", "error", "own"}
	f, own = &File{format: writer.JSONL, names: listed, list: writer.ListPrefix}, columnsOf(t, listed)
	var n Batch
	batch = newTextBatch(f, &n, own, everything)
	err = batch.addJSON(`{ "record" : 1, "input": "\u00e9\\\"\n", "status": "ok", "classification": "c", "categories": [ {"rank":1,"value":"A","category_id":null,"confidence":1e-1} , {"rank":2,"value":"B","category_id":"7","confidence":null}], "error": null, "own": {"a": [1, "}"]}}
{"record":2,"input":null,"status":"empty","classification":"c","categories":[],"error":null,"own":true}`)
	if err != nil || n.Len != 3 || n.Texts[writer.ColumnInput].At(1) != "é\\\"\n" || !slices.Equal(n.Wholes[writer.ColumnRank], []int64{1, 2, 0}) || n.Reals[writer.ColumnConfidence][0] != 0.1 || n.Texts[writer.ColumnCategoryID].At(1) != "7" {
		t.Errorf("%+v, %v", n, err)
	}
	for _, row := range []string{`{`, `[]`, `{"record":1}`, `{"record":1,"own":2}`, `{"record":"\`, `{"record":"\"`, `{"record"`, `{"record":}`, `{"record":1,"input":[1`} {
		if err := newTextBatch(f, new(Batch), own, everything).addJSON(row); err == nil {
			t.Errorf("%q is read", row)
		}
	}
}

// TestCarriageReturns reads text with all line ends back as it was written.
func TestCarriageReturns(t *testing.T) {
	for _, text := range []string{"a\r\nb", "\r", "\r\r\n\r", "\x1a", "\x1ar", strings.Repeat("x\r\n", 50_000)} {
		path := filepath.Join(t.TempDir(), "out.csv")
		if err := os.WriteFile(path, []byte("h\n\""+text+"\"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		if rows := allRows(t, Part{Path: path, Format: writer.CSV}); len(rows) != 1 || rows[0][0] != text {
			t.Errorf("%.20q is read as %.20q", text, rows)
		}
	}
}

// TestRows reads each row with all columns, and says which row is malformed.
func TestRows(t *testing.T) {
	const two = `{"record":1,"categories":[],"own":""}` + "\n" + `{"record":2,"categories":[{"rank":1,"value":null},{"rank":2,"value":"B"}],"own":true}`
	for _, tt := range []struct {
		name   string
		format writer.Format
		text   string
		want   []Row
		err    string
	}{
		{"CSV", writer.CSV, "a,b\r\n1,\"x\"\"\ny\"\r\n\n2,", []Row{{"1", "x\"\ny"}, {"2", ""}}, ""},
		{"another number of fields", writer.CSV, "a,b\n1,2\n1,2,3\n", []Row{{"1", "2"}}, "row 2: "},
		{"a file that ends within a quote", writer.CSV, "a,b\n1,\"2\n", nil, "row 1: a quote is not closed"},
		{"no header", writer.TSV, "\n\n", nil, "there is no header"},
		{"a list and empty text", writer.JSONL, two, []Row{{"1", "", "", EmptyText}, {"2", "1", "", "true"}, {"2", "2", "B", "true"}}, ""},
		{"all lists are empty", writer.JSONL, `{"record":1,"categories":[]}`, []Row{{"1", "", "", "", ""}}, ""},
		{"no rows", writer.JSONL, "", nil, ""},
		{"another column", writer.JSONL, `{"a":1}` + "\n" + `{"b":1}`, []Row{{"1"}}, `row 2: "b" is another column`},
		{"another member", writer.JSONL, two + `{"record":3,"categories":[{"rank":1,"id":""}],"own":1}`, []Row{{"1", "", "", EmptyText}, {"2", "1", "", "true"}, {"2", "2", "B", "true"}}, `row 3: "id" is another column`},
		{"fewer members", writer.JSONL, two + `{"record":3,"categories":[{"rank":1}],"own":1}`, []Row{{"1", "", "", EmptyText}, {"2", "1", "", "true"}, {"2", "2", "B", "true"}}, "row 3: an object has 1 members, not 2"},
		{"two lists", writer.JSONL, `{"a":[],"b":[]}`, nil, `"b" is a second list`},
		{"an object in a cell", writer.JSONL, `{"a":1}{"a":{"b":1}}`, []Row{{"1"}}, "row 2: a value is neither"},
		{"no number", writer.JSONL, `{"a":1}{"a":1.}`, []Row{{"1"}}, "row 2: malformed JSON"},
		{"a file that ends early", writer.JSONL, `{"a":1}{"a":`, []Row{{"1"}}, "row 2: malformed JSON"},
		{"no members", writer.JSONL, `{}`, nil, "the first object has no members"},
	} {
		path := filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(path, []byte(tt.text), 0o666); err != nil {
			t.Fatal(err)
		}
		var got []Row
		f, err := Open(t.Context(), Part{Path: path, Format: tt.format}, nil)
		if err == nil {
			err = f.Rows(func(rows []Row) error { got = append(got, rows...); return nil })
			f.Close()
		}
		if (err != nil) != (tt.err != "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.err)
		}
		if !slices.EqualFunc(got, tt.want, slices.Equal[Row]) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func allRows(t *testing.T, p Part) (all []Row) {
	t.Helper()
	f, err := Open(t.Context(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Rows(func(rows []Row) error { all = append(all, rows...); return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}
