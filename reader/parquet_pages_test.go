package reader

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// rawFile is a Parquet file with one column v, and with whatever pages a test needs.
type rawFile struct {
	element format.SchemaElement // of the column
	codec   format.CompressionCodec
	pages   [][]byte
	rows    int64 // the number of values too
	change  func(*format.FileMetaData)
	trailer string // after the metadata, within its size
}

func (f rawFile) String() string {
	content := []byte(parquetMagic)
	for _, p := range f.pages {
		content = append(content, p...)
	}
	f.element.Name = "v"
	meta := format.FileMetaData{
		Version: 1, NumRows: f.rows,
		Schema: []format.SchemaElement{{Name: "root", NumChildren: thrift.New[int32](1)}, f.element},
		RowGroups: []format.RowGroup{{NumRows: f.rows, Columns: []format.ColumnChunk{{MetaData: format.ColumnMetaData{
			Type: f.element.Type.V, Codec: f.codec, NumValues: f.rows, PathInSchema: []string{"v"}, Encoding: []format.Encoding{format.Plain},
			DataPageOffset: 4, TotalCompressedSize: int64(len(content) - 4), TotalUncompressedSize: int64(len(content) - 4),
		}}}}},
	}
	if f.change != nil {
		f.change(&meta)
	}
	end := append(marshal(&meta), f.trailer...)
	content = append(content, end...)
	return string(binary.LittleEndian.AppendUint32(content, uint32(len(end)))) + parquetMagic
}

func marshal(v any) []byte {
	data, err := thrift.Marshal(new(thrift.CompactProtocol), v)
	if err != nil {
		panic(err)
	}
	return data
}

// dataPage returns a data page of version 1. The size is that without compression; the body is stored.
func dataPage(n, size int, e format.Encoding, body []byte) []byte {
	return append(marshal(&format.PageHeader{
		Type: format.DataPage, UncompressedPageSize: int32(size), CompressedPageSize: int32(len(body)), CRC: int32(crc32.ChecksumIEEE(body)),
		DataPageHeader: thrift.New(format.DataPageHeader{NumValues: int32(n), Encoding: e, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE}),
	}), body...)
}

func dictionaryPage(n int, body []byte) []byte {
	return append(marshal(&format.PageHeader{
		Type: format.DictionaryPage, UncompressedPageSize: int32(len(body)), CompressedPageSize: int32(len(body)),
		DictionaryPageHeader: thrift.New(format.DictionaryPageHeader{NumValues: int32(n), Encoding: format.Plain}),
	}), body...)
}

// required is a column without nulls, optional one with nulls.
func required(t format.Type) format.SchemaElement {
	return format.SchemaElement{Type: thrift.New(t), RepetitionType: thrift.New(format.Required)}
}

func optional(t format.Type) format.SchemaElement {
	return format.SchemaElement{Type: thrift.New(t), RepetitionType: thrift.New(format.Optional)}
}

func plainText(values ...string) (data []byte) {
	for _, v := range values {
		data = append(binary.LittleEndian.AppendUint32(data, uint32(len(v))), v...)
	}
	return data
}

// parquetValues returns the values of the column v.
func parquetValues(t *testing.T, content string) (values []string, err error) {
	t.Helper()
	r, err := Open(t.Context(), Options{Paths: []string{writeFile(t, "a.parquet", content)}, Columns: []string{"v"}})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		rec, err := r.Read()
		if err == io.EOF {
			return values, nil
		}
		if err != nil {
			return values, err
		}
		switch {
		case rec.Err != nil:
			values = append(values, "fault: "+rec.Err.(*RowError).Reason)
		case rec.Nulls[0]:
			values = append(values, "null")
		default:
			values = append(values, rec.Fields[0])
		}
	}
}

func TestParquetPages(t *testing.T) {
	short := plainText("a", "b")
	long := strings.Repeat("x", maxRecord+1)
	wide, err := new(delta.BinaryPackedEncoding).EncodeInt64(nil, []int64{-1 << 31, 1<<31 - 1, -1 << 31, 7})
	if err != nil {
		t.Fatal(err)
	}
	float16 := required(format.FixedLenByteArray)
	float16.TypeLength, float16.LogicalType.Value = thrift.New[int32](2), new(format.Float16Type)
	nulls := append(marshal(&format.PageHeader{Type: format.DataPageV2, UncompressedPageSize: 2, CompressedPageSize: 2, DataPageHeaderV2: thrift.New(format.DataPageHeaderV2{
		NumValues: 3, NumNulls: 3, NumRows: 3, Encoding: format.Plain, DefinitionLevelsByteLength: 2})}), 3<<1, 0)
	indexes := dataPage(3, 3, format.RLEDictionary, []byte{1, 3, 0b101})
	tests := []struct {
		name string
		file rawFile
		want []string
	}{
		{"Snappy and a page of nulls only", rawFile{element: optional(format.Float), codec: format.Snappy, pages: [][]byte{nulls}, rows: 3}, []string{"null", "null", "null"}},
		{"a dictionary that the metadata does not name, and a size that is too small", rawFile{element: required(format.ByteArray), rows: 3,
			pages:  [][]byte{dictionaryPage(2, short), indexes},
			change: func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.TotalCompressedSize -= 15 }}, []string{"b", "a", "b"}},
		{"a struct without members", rawFile{element: required(format.ByteArray), pages: [][]byte{dataPage(2, len(short), format.Plain, short)}, rows: 2,
			change: func(m *format.FileMetaData) {
				m.Schema[0].NumChildren.V = 2
				m.Schema = append(m.Schema, format.SchemaElement{Name: "empty", RepetitionType: thrift.New(format.Optional), NumChildren: thrift.New[int32](0)})
			}}, []string{"a", "b"}},
		{"a row group without rows", rawFile{element: required(format.ByteArray), pages: [][]byte{dataPage(2, len(short), format.Plain, short)}, rows: 2,
			change: func(m *format.FileMetaData) {
				empty := m.RowGroups[0]
				empty.Columns, empty.NumRows = []format.ColumnChunk{{MetaData: format.ColumnMetaData{Type: format.ByteArray, PathInSchema: []string{"v"}}}}, 0
				m.RowGroups = slices.Insert(m.RowGroups, 0, empty)
			}}, []string{"a", "b"}},
		{"a page without values, and an index page", rawFile{element: required(format.ByteArray), rows: 2, pages: [][]byte{
			dataPage(0, 0, format.Plain, nil), marshal(&format.PageHeader{Type: format.IndexPage}), dataPage(2, len(short), format.Plain, short)}}, []string{"a", "b"}},
		{"FLOAT16", rawFile{element: float16, pages: [][]byte{dataPage(5, 10, format.Plain, []byte{0x66, 0x2e, 0, 0xc1, 1, 0, 0, 0xfc, 1, 0x7e})}, rows: 5},
			[]string{"0.0999755859375", "-2.5", "5.960464477539063e-08", "-Inf", "NaN"}},
		{"booleans in runs of any length", rawFile{element: required(format.Boolean), pages: [][]byte{dataPage(6, 8, format.RLE, []byte{4, 0, 0, 0, 3 << 1, 1, 3, 0b010})}, rows: 6},
			[]string{"true", "true", "true", "false", "true", "false"}},
		{"differences of more than 32 bits", rawFile{element: required(format.Int32), pages: [][]byte{dataPage(4, len(wide), format.DeltaBinaryPacked, wide)}, rows: 4},
			[]string{"-2147483648", "2147483647", "-2147483648", "7"}},
		{"a value of more than 1 MiB", rawFile{element: required(format.ByteArray), rows: 2, pages: [][]byte{
			dataPage(2, len(long)+9, format.Plain, plainText(long, "b"))}}, []string{"fault: " + faultLongRow, "b"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := parquetValues(t, test.file.String())
			if err != nil || !slices.Equal(got, test.want) {
				t.Errorf("got %q, %v; want %q", got, err, test.want)
			}
		})
	}
}

// The library's structure has no key without a value.
func TestParquetKeyWithoutValue(t *testing.T) {
	type pair struct {
		Key string `thrift:"1,required"`
	}
	type metadata struct {
		Version   int32                  `thrift:"1,required"`
		Schema    []format.SchemaElement `thrift:"2,required"`
		NumRows   int64                  `thrift:"3,required"`
		RowGroups []format.RowGroup      `thrift:"4,required"`
		Pairs     []pair                 `thrift:"5,optional"`
	}
	element := required(format.ByteArray)
	element.Name = "v"
	end := marshal(&metadata{Version: 1, Schema: []format.SchemaElement{{Name: "root", NumChildren: thrift.New[int32](1)}, element}, Pairs: []pair{{"lonely"}}})
	content := parquetMagic + string(end) + string(binary.LittleEndian.AppendUint32(nil, uint32(len(end)))) + parquetMagic
	if values, err := parquetValues(t, content); err != nil || len(values) > 0 {
		t.Errorf("%q, %v", values, err)
	}
}

// Pages that would take much memory, and pages that have less or more than they say, are errors of the column.
func TestParquetPagesRefused(t *testing.T) {
	short := plainText("a", "b")
	many := make([]byte, 1<<20)
	broken := dataPage(2, len(short), format.Plain, short)
	broken[len(broken)-1]++
	text, number := required(format.ByteArray), required(format.Int64)
	tests := []struct {
		name string
		file rawFile
		want string
	}{
		{"fewer indexes", rawFile{element: text, rows: 9, pages: [][]byte{dictionaryPage(2, short), dataPage(9, 3, format.RLEDictionary, []byte{1, 3, 0b101})}}, "does not have the number of values"},
		{"indexes without a dictionary", rawFile{element: text, rows: 3, pages: [][]byte{dataPage(3, 3, format.RLEDictionary, []byte{1, 3, 0b101})}}, "there is none"},
		{"more texts", rawFile{element: text, rows: 1, pages: [][]byte{dataPage(1, len(short), format.Plain, short)}}, "does not have the number of values"},
		{"fewer numbers", rawFile{element: number, rows: 3, pages: [][]byte{dataPage(3, 16, format.Plain, many[:16])}}, "does not have the number of values"},
		{"fewer pages", rawFile{element: number, rows: 3, pages: [][]byte{dataPage(2, 16, format.Plain, many[:16])}}, "unexpected EOF"},
		{"more values than the metadata has", rawFile{element: number, rows: 1, pages: [][]byte{dataPage(2, 16, format.Plain, many[:16])}}, "a page has 2 values, and the metadata has 1"},
		{"a negative number of values", rawFile{element: number, rows: 2, pages: [][]byte{dataPage(-2, 16, format.Plain, many[:16])}}, `row group 1, column "v"`},
		{"a negative size", rawFile{element: number, rows: 2, pages: [][]byte{dataPage(2, -16, format.Plain, many[:16])}}, `row group 1, column "v"`},
		{"levels beyond the page", rawFile{element: optional(format.Int64), rows: 2, pages: [][]byte{dataPage(2, 22, format.Plain, append([]byte{19, 0, 0, 0, 4, 1}, many[:16]...))}}, `row group 1, column "v"`},
		{"a run beyond the page", rawFile{element: optional(format.Int64), rows: 8, pages: [][]byte{dataPage(8, 6, format.Plain, []byte{2, 0, 0, 0, 5, 0})}}, `row group 1, column "v"`},
		{"a checksum", rawFile{element: text, pages: [][]byte{broken}, rows: 2}, "does not have its checksum"},
		{"an encoding of the future", rawFile{element: number, pages: [][]byte{dataPage(2, 16, 42, many[:16])}, rows: 2}, "in the encoding"},
	}
	codecs := []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Brotli, &parquet.Zstd, &parquet.Lz4Raw}
	for _, codec := range codecs {
		data, err := codec.Encode(nil, many)
		if err != nil {
			t.Fatal(err)
		}
		add := func(size int, want string) {
			n := size / 8
			tests = append(tests, struct {
				name string
				file rawFile
				want string
			}{fmt.Sprintf("%v with %d bytes", codec, size), rawFile{element: number, codec: codec.CompressionCodec(), rows: int64(n), pages: [][]byte{dataPage(n, size, format.Plain, data)}}, want})
		}
		place := `row group 1, column "v"`
		add(250<<20, map[bool]string{true: place, false: "has a page of 250 MiB, more than 100"}[codec == &parquet.Uncompressed])
		add(2<<20, place) // less than the header says
		add(24, place)    // more
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := writeFile(t, "a.parquet", test.file.String())
			before := liveHeap()
			r, err := Open(t.Context(), Options{Paths: []string{path}, Columns: []string{"v"}})
			if err == nil {
				_, err = drain(r)
			}
			if err == io.EOF || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
			if used := int64(liveHeap() - before); used > 8<<20 {
				t.Errorf("%d MiB of memory", used>>20)
			}
		})
	}
}

// In a damaged file, the columns of a list of structs may have different numbers of elements.
func TestParquetUnequalElements(t *testing.T) {
	number := func(size int, levels ...byte) []byte { // a page: sizes and runs of the levels, and zeros
		return dataPage(size/8, len(levels)+size, format.Plain, append(levels, make([]byte, size)...))
	}
	v := dataPage(1, 5, format.Plain, plainText("a"))
	a := number(16, 2, 0, 0, 0, 1<<1|1, 0b10, 2, 0, 0, 0, 2<<1, 1)
	b := number(8, 2, 0, 0, 0, 1<<1, 0, 2, 0, 0, 0, 1<<1, 1)
	file := rawFile{element: required(format.ByteArray), rows: 1, pages: [][]byte{v, a, b}, change: func(m *format.FileMetaData) {
		list := format.SchemaElement{Name: "list", RepetitionType: thrift.New(format.Repeated), NumChildren: thrift.New[int32](2)}
		m.Schema[0].NumChildren.V = 2
		m.Schema = append(m.Schema, list)
		at := int64(len(parquetMagic) + len(v))
		for n, page := range [][]byte{a, b} {
			element := required(format.Int64)
			element.Name = string(rune('a' + n))
			m.Schema = append(m.Schema, element)
			m.RowGroups[0].Columns = append(m.RowGroups[0].Columns, format.ColumnChunk{MetaData: format.ColumnMetaData{
				Type: format.Int64, PathInSchema: []string{"list", element.Name}, NumValues: int64(2 - n), DataPageOffset: at}})
			at += int64(len(page))
		}
	}}
	if _, err := parquetValues(t, file.String()); !isReadError(err) {
		t.Errorf("got %v, want a ReadError", err)
	}
}

func TestParquetRefused(t *testing.T) {
	short := plainText("a", "b")
	file := rawFile{element: required(format.ByteArray), pages: [][]byte{dataPage(2, len(short), format.Plain, short)}, rows: 2}
	tests := []struct {
		name   string
		change func(*format.FileMetaData)
		end    string
		want   string
	}{
		{"encrypted with a plain footer", func(m *format.FileMetaData) { m.EncryptionAlgorithm.Value = new(format.AesGcmV1) }, strings.Repeat("s", 28), "is an encrypted Parquet file, not a list; decrypt it"},
		{"LZO", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Codec = format.LZO }, "", `column "v" is compressed with LZO (codec 3); write the file with zstd`},
		{"in another file", func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].FilePath = "b.parquet" }, "", `column "v" is in another file`},
		{"more rows in the file", func(m *format.FileMetaData) { m.NumRows = 5 }, "", "is a damaged Parquet file (its row groups have 2 rows, not 5)"},
		{"more rows than values", func(m *format.FileMetaData) { m.RowGroups[0].NumRows, m.NumRows = 1<<40, 1<<40 }, "", "is a damaged Parquet file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file.change, file.trailer = test.change, test.end
			if _, err := parquetValues(t, file.String()); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// Numbers that do not get smaller by compression became zeros.
func TestParquetLZ4(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var want []string
	var plain []byte
	for range 1000 {
		n := random.Uint64() >> 1
		plain = binary.LittleEndian.AppendUint64(plain, n)
		want = append(want, fmt.Sprint(n))
	}
	block := make([]byte, lz4.CompressBlockBound(len(plain)))
	n, err := new(lz4.Compressor).CompressBlock(plain, block)
	if err != nil || n == 0 {
		t.Fatal(n, err)
	}
	block = block[:n]
	hadoop := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(len(plain))), uint32(n))
	for name, stored := range map[string]struct {
		codec format.CompressionCodec
		body  []byte
	}{"LZ4_RAW": {format.Lz4Raw, block}, "LZ4 in Hadoop's blocks": {format.Lz4, append(hadoop, block...)}, "LZ4 without them": {format.Lz4, block}} {
		t.Run(name, func(t *testing.T) {
			f := rawFile{element: required(format.Int64), codec: stored.codec, rows: 1000, pages: [][]byte{dataPage(1000, len(plain), format.Plain, stored.body)}}
			if got, err := parquetValues(t, f.String()); err != nil || !slices.Equal(got, want) {
				t.Errorf("%d values, %v", len(got), err)
			}
		})
	}
}

// A damaged file has all of its rows, or is an error.
func TestParquetDamage(t *testing.T) {
	paths, err := filepath.Glob("testdata/parquet/*.parquet")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		read := func(content []byte) (int64, error) {
			r, err := Open(t.Context(), Options{Paths: []string{writeFile(t, "a.parquet", string(content))}, Candidates: candidates})
			if err != nil {
				return 0, err
			}
			defer r.Close()
			n, err := drain(r)
			if err == io.EOF {
				err = nil
			}
			return n, err
		}
		want, err := read(content)
		if err != nil {
			t.Fatal(path, err)
		}
		for i := range 20 {
			if n, err := read(content[:len(content)*i/20]); err == nil {
				t.Errorf("%s: cut at %d of 20: %d rows and no error", path, i, n)
			}
		}
		for range 50 {
			at, bit := random.IntN(len(content)), random.IntN(8)
			content[at] ^= 1 << bit
			if n, err := read(content); err == nil && n != want {
				t.Errorf("%s: bit %d of byte %d: %d rows of %d and no error", path, bit, at, n, want)
			} else if end := io.EOF; errors.Is(err, end) {
				t.Errorf("%s: bit %d of byte %d: an error that is an end: %v", path, bit, at, err)
			}
			content[at] ^= 1 << bit
		}
	}
}
