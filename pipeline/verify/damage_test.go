package verify

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/writer"
)

// manyRecords is an input of a hundred records.
func manyRecords() string {
	var list strings.Builder
	list.WriteString("url,note\n")
	for i := range 100 {
		fmt.Fprintf(&list, "%s.example/%d,note %d\n", []string{"one", "two", "three", "none", "rejected"}[i*7%5], i, i%11)
	}
	return list.String()
}

// damagesEach are the damages of an output: there are more than 200 in all.
const damagesEach = 30

// TestDamages makes single damages in outputs, half of them with an account that has the hash of the damaged
// file: each is found, and named by the first record that differs.
func TestDamages(t *testing.T) {
	for name, change := range map[string]func(*pipeline.Options){
		"out.csv":     nil,
		"out.tsv.gz":  nil,
		"out.jsonl":   func(o *pipeline.Options) { o.Classifications = []string{client.NAICS, client.TaxonomyV3} },
		"out.parquet": nil,
		"nested.parquet": func(o *pipeline.Options) {
			o.Output.Shape, o.Output.MinConfidence = writer.ShapeNested, 0.75
		},
		"csv/":     func(o *pipeline.Options) { o.Output.Format, o.Output.PartRows = writer.CSV, 30 },
		"parquet/": func(o *pipeline.Options) { o.Output.PartRows, o.Output.SourceColumns = 50, false },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, name, func(o *pipeline.Options) {
				if err := os.WriteFile(o.Input.Paths[0], []byte(manyRecords()), 0o666); err != nil {
					t.Fatal(err)
				}
				o.KeepGoing = true // the first answers may all be rejections
				if change != nil {
					change(o)
				}
			})
			if r := f.verify(); !r.Balanced {
				t.Fatalf("got %+v", r)
			}
			d := damages{fixture: f, random: rand.New(rand.NewPCG(5, 1)), before: make(map[string][]byte)}
			for _, out := range f.account.Outputs {
				d.before[out.Path], _ = os.ReadFile(out.Path)
			}
			d.written, d.schema = f.rows()
			for i := range damagesEach {
				d.one(i%5, i/5%2 == 1)
			}
			if r := f.verify(); !r.Balanced {
				t.Errorf("repaired: %+v", r)
			}
		})
	}
}

// damages makes damages in an output.
type damages struct {
	*fixture
	random *rand.Rand
	before map[string][]byte // the files of the run

	written []writer.Row // by the run
	schema  writer.Schema
}

// one makes a damage, verifies the output and repairs it.
func (d *damages) one(kind int, adapt bool) {
	d.t.Helper()
	what, first := "", int64(0)
	if kind == 0 {
		what = d.changeByte(adapt)
	} else {
		rows := rowsOf(nil)
		_ = rows.Write(d.written) // a copy
		what, rows, first = d.changeRows(kind, rows)
		d.rewrite(rows, d.schema, adapt)
	}
	r := d.verify()
	named := slices.ContainsFunc(r.Findings, func(f Finding) bool {
		return f.Record > 0 && (first == 0 || f.Record == first) || f.What == "columns"
	})
	if r.Balanced || !named {
		d.t.Errorf("%s, adapted %t: balanced %t, want record %d: %v", what, adapt, r.Balanced, first, r.Findings)
	}
	for name, text := range d.before {
		d.check(os.WriteFile(name, text, 0o666))
	}
	var files []writer.File
	for _, o := range d.account.Outputs {
		files = append(files, fileOf(o))
	}
	d.adapt(files...)
}

func fileOf(o account.Output) writer.File {
	return writer.File{Path: o.Path, Bytes: o.Bytes, SHA256: o.SHA256, Rows: o.Rows, FirstRecord: o.FirstRecord, LastRecord: o.LastRecord}
}

func (d *damages) changeByte(adapt bool) string {
	out := d.account.Outputs[d.random.IntN(len(d.account.Outputs))]
	text := bytes.Clone(d.before[out.Path])
	at := d.random.IntN(len(text))
	text[at] ^= byte(1 + d.random.IntN(255))
	d.check(os.WriteFile(out.Path, text, 0o666))
	if adapt {
		var files []writer.File
		for _, o := range d.account.Outputs {
			file := fileOf(o)
			if o.Path == out.Path {
				sum := sha256.Sum256(text)
				file.SHA256 = hex.EncodeToString(sum[:])
			}
			files = append(files, file)
		}
		d.adapt(files...)
	}
	return fmt.Sprintf("byte %d of %s", at, out.Path)
}

// changeRows changes rows, and returns the first record that differs.
func (d *damages) changeRows(kind int, rows []writer.Row) (what string, _ []writer.Row, first int64) {
	i := d.random.IntN(len(rows) - 1)
	switch kind {
	case 1:
		first = rows[i].Record
		return fmt.Sprintf("row %d removed", i), slices.Delete(rows, i, i+1), first
	case 2:
		for d.partOf(rows[i].Record) != d.partOf(rows[i+1].Record) {
			i = d.random.IntN(len(rows) - 1)
		}
		rows[i], rows[i+1] = rows[i+1], rows[i]
		return fmt.Sprintf("rows %d and the next swapped", i), rows, rows[i+1].Record
	case 3:
		for rows[i].Rank == 0 && len(rows[i].Categories) == 0 {
			i = d.random.IntN(len(rows))
		}
		if confidence := &rows[i].Confidence; rows[i].Rank > 0 {
			*confidence += 0.001
		} else {
			rows[i].Categories[0].Confidence += 0.001
		}
		return fmt.Sprintf("confidence of row %d changed", i), rows, rows[i].Record
	}
	last := rows[i]
	last.Record = rows[len(rows)-1].Record + int64(d.random.IntN(2))
	return "row appended", append(rows, last), last.Record
}

func (d *damages) partOf(number int64) int {
	return slices.IndexFunc(d.account.Outputs, func(o account.Output) bool { return number <= o.LastRecord })
}
