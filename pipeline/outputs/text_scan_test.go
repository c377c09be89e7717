package outputs

import (
	"errors"
	"io"
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
	own, err := ownColumns(names)
	if err != nil {
		t.Fatal(err)
	}
	var b Batch
	batch := newTextBatch(&b, own, everything)
	err = batch.addCSV("1,\"a \"\"b\"\", c\",ok,c,1,A,,0.5,,x\r\n\n2,\"two\nlines\",failed,c,,,,,\"HTTP, 503\",\"x\"\r\n", ',', len(names))
	if err != nil || b.Len != 2 || b.Texts[writer.ColumnInput].At(0) != `a "b", c` || b.Texts[writer.ColumnInput].At(1) != "two\nlines" || b.Texts[writer.ColumnError].At(1) != "HTTP, 503" || b.Wholes[writer.ColumnRank][1] != 0 {
		t.Errorf("%+v, %v", b, err)
	}
	for _, row := range []string{"1,a\n", "1,a,ok,c,1,A,,0.5,,x,y\n", "1,\"a,ok\n", "1,\"a\"b,ok,c,1,A,,0.5,,x\n", "1,a,ok,c,1,A,,0.5,\n"} {
		if err := newTextBatch(new(Batch), own, everything).addCSV(row, ',', len(names)); err == nil {
			t.Errorf("%q is read", row)
		}
	}
	listed := []string{"record", "input", "status", "classification", "categories.rank", "categories.value", "categories.category_id", "categories.confidence", "error", "own"}
	if own, err = ownColumns(listed); err != nil {
		t.Fatal(err)
	}
	var n Batch
	batch = newTextBatch(&n, own, everything)
	err = batch.addJSON(`{ "record" : 1, "input": "\u00e9\\\"\n", "status": "ok", "classification": "c", "categories": [ {"rank":1,"value":"A","category_id":null,"confidence":1e-1} , {"rank":2,"value":"B","category_id":"7","confidence":null}], "error": null, "own": {"a": [1, "}"]}}
{"record":2,"input":null,"status":"empty","classification":"c","categories":[],"error":null,"own":true}`, jsonMembersOf(listed, own))
	if err != nil || n.Len != 3 || n.Texts[writer.ColumnInput].At(1) != "é\\\"\n" || !slices.Equal(n.Wholes[writer.ColumnRank], []int64{1, 2, 0}) || n.Reals[writer.ColumnConfidence][0] != 0.1 || n.Texts[writer.ColumnCategoryID].At(1) != "7" {
		t.Errorf("%+v, %v", n, err)
	}
	for _, row := range []string{`{`, `[]`, `{"record":1}`, `{"record":1,"own":2}`, `{"record":"\`, `{"record":"\"`, `{"record"`, `{"record":}`, `{"record":1,"input":[1`} {
		if err := newTextBatch(new(Batch), own, everything).addJSON(row, jsonMembersOf(listed, own)); err == nil {
			t.Errorf("%q is read", row)
		}
	}
}
