package pipeline_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/bulkcat/bulkcat/pipeline"
)

// A dry run reads the columns of the inputs only. It does not find damage in a carried column, which may be far larger than
// the inputs.
func TestDryRunReadsInputsOnly(t *testing.T) {
	type row struct {
		Title string `parquet:"title"`
		Text  string `parquet:"text"`
	}
	var table bytes.Buffer
	w := parquet.NewGenericWriter[row](&table)
	if _, err := w.Write([]row{{"shoe", "first text"}, {"hat", "second text"}, {"shoe", "third text"}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Replace(table.Bytes(), []byte("second"), []byte("s\xffcond"), 1)
	service := new(counting)
	o := products(t, service)
	path := filepath.Join(t.TempDir(), "in.parquet")
	if err := os.WriteFile(path, damaged, 0o666); err != nil {
		t.Fatal(err)
	}
	o.Input.Paths = []string{path}
	for _, carry := range []string{"all", "text", "title,text", "none"} {
		o.Output.Carry = carry
		f, err := pipeline.DryRun(t.Context(), o)
		if err != nil || f.Records != 3 || f.Invalid != 0 || f.ToAsk() != 2 {
			t.Errorf("carry %s: got %+v, %v", carry, f, err)
		}
	}
	o.Output.Carry = "nothing-of-the-kind"
	if _, err := pipeline.DryRun(t.Context(), o); err == nil {
		t.Error("a column that the input does not have is carried")
	}
	o.Output.Carry = "all"
	if _, err := runSession(t, o); err == nil || !strings.Contains(err.Error(), "the Parquet file is damaged") {
		t.Errorf("a run that carries the damaged column ended with %v", err)
	}
}
