package reader

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/bulkcat/bulkcat/reader/pages"
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
	file.change = func(m *format.FileMetaData) {
		chunks := &m.RowGroups[0].Columns
		for i := len(*chunks); i < columns; i++ {
			column := m.Schema[1]
			column.Name = fmt.Sprint("c", i)
			m.Schema = append(m.Schema, column)
			*chunks = append(*chunks, (*chunks)[0])
		}
		m.Schema[0].NumChildren = thrift.New[int32](columns)
	}
	name := writeFile(t, "wide.parquet", file.String())
	o := Options{Paths: []string{name}, Columns: []string{"v"}}
	_, err := openReader(t, o).Read()
	var unsupported *pages.UnsupportedError
	if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "name the columns that are needed") {
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
