package reader

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/bulkcat/bulkcat/reader/internal/pages"
)

// A row group takes as much memory as its metadata, and no structures of the library: some programs write a row group
// for each row.
func TestParquetManyRowGroups(t *testing.T) {
	const groups = 20_000
	file := rawFile{element: required(format.ByteArray), pages: [][]byte{dataPage(1, 9, format.Plain, plainText("a.com"))}, rows: 1}
	file.change = func(m *format.FileMetaData) {
		for len(m.RowGroups) < groups {
			m.RowGroups = append(m.RowGroups, m.RowGroups[0])
		}
		m.NumRows = groups
	}
	content := file.String()
	before := liveHeap()
	opened, err := pages.Open(strings.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	if heap := int64(liveHeap()-before) / groups; heap > 400 {
		t.Errorf("%d bytes for a row group", heap)
	}
	runtime.KeepAlive(opened)
	values, err := parquetValues(t, content)
	if err != nil || len(values) != groups || values[groups-1] != "a.com" {
		t.Errorf("%d values, error %v", len(values), err)
	}
}

// The buffers of columns count, and not only their pages.
func TestParquetManyColumns(t *testing.T) {
	const columns = 20_000
	file := rawFile{element: required(format.ByteArray), pages: [][]byte{dataPage(1, 9, format.Plain, plainText("a.com"))}, rows: 1}
	file.change = func(m *format.FileMetaData) { widen(m, columns) }
	name := writeFile(t, "wide.parquet", file.String())
	o := Options{Paths: []string{name}, Columns: []string{"v"}}
	_, err := openReader(t, o).Read()
	if err == nil || !strings.Contains(err.Error(), "name the columns that are needed") {
		t.Errorf("error %v", err)
	}
	o.NamedOnly = true
	if got := summary(readAll(t, openReader(t, o))); !strings.Contains(got, "a.com") {
		t.Errorf("got %q", got)
	}
}

// A row with lists that are too long is invalid, and its elements are not kept in memory.
func TestParquetLongLists(t *testing.T) {
	const most = 40 << 20 // bytes: the pages
	type row struct {
		V string   `parquet:"v"`
		A []uint32 `parquet:"a,dict"`
		B []uint32 `parquet:"b,dict"`
		C []uint32 `parquet:"c,dict"`
	}
	long, longer := make([]uint32, 900_000), make([]uint32, 1_100_000)
	var table bytes.Buffer
	w := parquet.NewGenericWriter[row](&table)
	w.Write([]row{{"a.com", long, long, long}, {"b.com", nil, longer, nil}, {"c.com", []uint32{1, 2}, nil, nil}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := openReader(t, Options{Paths: []string{writeFile(t, "lists.parquet", table.String())}, Columns: []string{"v"}})
	before := liveHeap()
	first, err := r.Read()
	if heap := int64(liveHeap() - before); err != nil || heap > most {
		t.Errorf("%d MiB for a row, %v", heap>>20, err)
	}
	records := append([]Record{first}, readAll(t, r)...)
	want := "1! " + faultLongRow + "\n2! " + faultLongRow + "\n3 c.com\n"
	if got := summary(records); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := records[2].Fields[1]; got != "[1,2]" {
		t.Errorf("got %q", got)
	}
}

// Pages of many values in few bytes, in many columns: those of a dictionary are read part by part, and others are refused
// before they take memory.
func TestParquetPagesThatGrow(t *testing.T) {
	const columns, rows = 40, 1 << 20
	run := append(binary.AppendUvarint(nil, rows<<1), 1) // of levels: no nulls
	levels := append(binary.LittleEndian.AppendUint32(nil, uint32(len(run))), run...)
	indexes := binary.AppendUvarint([]byte{2}, rows/8<<1|1) // of two bits
	indexes = append(indexes, bytes.Repeat([]byte{0b_10_01_00_10}, rows/4)...)
	sequence := make([]int64, rows)
	for i := range sequence {
		sequence[i] = int64(i)
	}
	packed, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, sequence)
	if err != nil {
		t.Fatal(err)
	}
	dictionary := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, 7), 8), 9)
	words := dictionaryPage(3, dictionary)
	body := append(levels, indexes...)
	for name, tt := range map[string]struct {
		file    rawFile
		columns int
		most    int64 // bytes of memory
		want    string
	}{
		"indexes": {rawFile{element: optional(format.Int64), rows: rows, pages: [][]byte{words, dataPage(rows, len(body), format.RLEDictionary, body)}}, columns, 40 << 20, ""},
		"differences": {rawFile{element: required(format.Int64), rows: rows, pages: [][]byte{dataPage(rows, len(packed), format.DeltaBinaryPacked, packed)}}, 2 * columns, 400 << 20,
			"need more than 192 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			tt.file.change = func(m *format.FileMetaData) { widen(m, tt.columns) }
			path := writeFile(t, "wide.parquet", tt.file.String())
			before := liveHeap()
			r := openReader(t, Options{Paths: []string{path}, Columns: []string{"v"}})
			first, err := r.Read()
			if heap := int64(liveHeap() - before); heap > tt.most {
				t.Errorf("%d MiB", heap>>20)
			}
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || first.Input != "9" {
				t.Fatalf("got %q, %v", first.Input, err)
			}
			for i := 1; i < rows; i++ {
				rec, err := r.Read()
				if want := []string{"9", "7", "8", "9"}[i%4]; err != nil || rec.Input != want || i%1000 == 0 && rec.Fields[columns-1] != want {
					t.Fatalf("row %d: got %q, %v", i, rec.Input, err)
				}
				if i == 20_000 {
					break
				}
			}
		})
	}
}

// widen adds columns like the only one.
func widen(m *format.FileMetaData, columns int) {
	chunks := &m.RowGroups[0].Columns
	for i := len(*chunks); i < columns; i++ {
		column := m.Schema[1]
		column.Name = fmt.Sprint("c", i)
		m.Schema = append(m.Schema, column)
		*chunks = append(*chunks, (*chunks)[0])
	}
	m.Schema[0].NumChildren = thrift.New(int32(columns))
}

// Pages of a dictionary that are read part by part have the values and the nulls of the whole page.
func TestParquetSplitPages(t *testing.T) {
	type row struct {
		V string  `parquet:"v"`
		A string  `parquet:"a,dict"`
		B *int64  `parquet:"b,dict,optional"`
		C *string `parquet:"c,dict,optional"`
		D *string `parquet:"d,dict,optional"`
		E *string `parquet:"e,dict,optional"`
	}
	const rows = 50_001
	random := rand.New(rand.NewPCG(1, 2))
	var records []row
	only := "only"
	for i := range rows {
		r := row{V: fmt.Sprint(i), A: fmt.Sprint("a", random.IntN(3000)), D: &only}
		if n := int64(random.IntN(5)); n > 0 {
			r.B = &n
		}
		if i/1000%3 > 0 {
			text := fmt.Sprint("c", i/500)
			r.C = &text
		}
		records = append(records, r)
	}
	for _, version := range []int{1, 2} {
		for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Zstd} {
			var table bytes.Buffer
			w := parquet.NewGenericWriter[row](&table, parquet.DataPageVersion(version), parquet.PageBufferSize(64<<20), parquet.Compression(codec))
			if _, err := w.Write(records); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			r := openReader(t, Options{Paths: []string{writeFile(t, "split.parquet", table.String())}, Columns: []string{"v"}})
			for i, want := range records {
				rec, err := r.Read()
				if err != nil {
					t.Fatal(version, codec, i, err)
				}
				texts := []string{want.V, want.A, "", "", only, ""}
				nulls := []bool{false, false, want.B == nil, want.C == nil, false, true}
				if want.B != nil {
					texts[2] = fmt.Sprint(*want.B)
				}
				if want.C != nil {
					texts[3] = *want.C
				}
				if !slices.Equal(rec.Fields, texts) || !slices.Equal(rec.Nulls, nulls) {
					t.Fatalf("version %d, %v, row %d: got %q %v, want %q %v", version, codec, i, rec.Fields, rec.Nulls, texts, nulls)
				}
			}
			if _, err := r.Read(); err != io.EOF {
				t.Errorf("version %d, %v: after the last row: %v", version, codec, err)
			}
		}
	}
}
