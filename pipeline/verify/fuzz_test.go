package verify

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/writer"
)

// FuzzReadback verifies any bytes as an output in each text format: verification ends without a
// panic, and each row has a cell for each column.
func FuzzReadback(f *testing.F) {
	const header = "record,input,status,classification,rank,value,category_id,confidence,level_1,error\n"
	const titled = "record,input,status,classification,rank,value,category_id,title,confidence,level_1,error\n"
	f.Add([]byte(header+"1,a,ok,taxonomy_v3,1,A,,0.5,A,\n"), uint8(0))
	f.Add([]byte(titled+"1,a,empty,taxonomy_v3,,,,,,,\n1,a,ok,naics,1,54,54,T,0.5,54,\n2,b,empty,naics,,,,,,,\n"), uint8(0))
	f.Add([]byte(header+"1,\"a\r\nb\",empty,naics,,,,,,\n3,x"), uint8(0))
	f.Add([]byte("record\tinput\n1\t\"\n"), uint8(1))
	f.Add([]byte(`{"record":1,"input":null,"rank":1e400}`+"\n{}"), uint8(2))
	f.Add([]byte(`{"record":[1]}`), uint8(2))
	f.Add([]byte(`{}`), uint8(2))
	f.Add([]byte(`{"record":1,"categories":[]}`+"\n"+`{"record":1,"categories":[{"rank":1,"value":"A"},{"rank":2,"value":"B"}]}`), uint8(2))
	f.Add([]byte(`{"record":1,"categories":[{"rank":1,"value":"A"}],"error":null}`+"\n"+`{"record":1,"categories":[{}],"error":null}`), uint8(2))
	f.Add([]byte(`{"record":1,"a":[],"b":[{"c":1}]}`), uint8(2))
	f.Add([]byte{0x1f, 0x8b}, uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, kind uint8) {
		format := []writer.Format{writer.CSV, writer.TSV, writer.JSONL}[kind%3]
		path := filepath.Join(t.TempDir(), "out."+string(format))
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if in, err := readback.Open(t.Context(), readback.Part{Path: path, Format: format}); err == nil {
			defer in.Close()
			for r, err := in.Read(); err == nil; r, err = in.Read() {
				if r.Err == nil && len(r.Fields) != len(in.Columns()) {
					t.Fatalf("%d cells of %d columns", len(r.Fields), len(in.Columns()))
				}
			}
		}
		if r, err := Run(t.Context(), Options{Output: path}); err != nil || r.Balanced {
			t.Fatalf("balanced %t without an account, %v", r.Balanced, err)
		}
	})
}
