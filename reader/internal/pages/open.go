package pages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Bounds of memory in bytes.
const (
	maxPage     = 100 << 20 // DuckDB writes pages of up to 100,000,000 bytes
	maxReserved = 192 << 20 // of the buffers, current pages and dictionaries of all columns that are read
	maxFooter   = 64 << 20  // some 300,000 column chunks
)

// magic begins and ends a Parquet file; magicEncrypted begins and ends a file whose metadata is encrypted.
const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
)

// footerEnd is the size of the end of a file in bytes: the size of the metadata, and the magic.
const footerEnd = 8

// ErrEncrypted is the error of a file with encrypted columns or metadata.
var ErrEncrypted = errors.New("the Parquet file is encrypted")

// ErrDamaged is the cause of all errors of files that violate the Parquet format.
var ErrDamaged = errors.New("the Parquet file is damaged")

// UnsupportedError says that a valid file has a feature that this package does not read.
type UnsupportedError struct {
	Column string
	Reason string // the feature of the file, such as "is compressed with LZO"
	Advice string // how to write the file again
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("column %q %s; %s", e.Column, e.Reason, e.Advice)
}

func damagedf(form string, args ...any) error {
	return fmt.Errorf("%w: "+form, append([]any{ErrDamaged}, args...)...)
}

// Guard turns a panic of the library, which some damaged files cause, into an [ErrDamaged]. Callers defer it.
func Guard(err *error) {
	if reason := recover(); reason != nil {
		*err = damagedf("%v", reason)
	}
}

// File is a Parquet file. Its methods may be called concurrently.
type File struct {
	Root    *parquet.Column // of the schema
	NumRows int64           // of all row groups
	Groups  []int64         // the number of rows of each row group

	body     io.ReaderAt
	end      int64 // of the pages: the offset of the metadata
	meta     footer
	leaves   []*format.SchemaElement
	columns  []*parquet.Column // parallel to leaves
	reserved atomic.Int64
}

// footer is the part of a file's metadata that reading the rows needs.
type footer struct {
	Version    int32                      `thrift:"1,required"`
	Schema     []format.SchemaElement     `thrift:"2,required"`
	NumRows    int64                      `thrift:"3,required"`
	RowGroups  []footerGroup              `thrift:"4,required"`
	Encryption format.EncryptionAlgorithm `thrift:"8,optional"`
}

type footerGroup struct {
	Columns []footerChunk `thrift:"1,required"`
	NumRows int64         `thrift:"3,required"`
}

type footerChunk struct {
	FilePath string         `thrift:"1,optional"`
	Meta     footerMetadata `thrift:"3,optional"`
}

type footerMetadata struct {
	Type           format.Type             `thrift:"1,required"`
	Codec          format.CompressionCodec `thrift:"4,required"`
	NumValues      int64                   `thrift:"5,required"`
	DataPage       int64                   `thrift:"9,required"`
	DictionaryPage int64                   `thrift:"11,optional"`
}

// boundedReader refuses lists with more elements than bytes are left: the library first reserves memory for all elements, and one
// wrong bit in a size would end the program.
type boundedReader struct {
	thrift.BytesReader
	size int
}

func (r *boundedReader) ReadList() (thrift.List, error) {
	l, err := r.BytesReader.ReadList()
	if err == nil && int(l.Size) > r.size-r.BytesRead() {
		err = io.ErrUnexpectedEOF
	}
	return l, err
}

// Discard is used by the library to skip unknown fields.
func (r *boundedReader) Discard(n int) (int, error) {
	return r.BytesReader.(interface{ Discard(int) (int, error) }).Discard(n)
}

// Open reads the metadata of a file. The error is [ErrEncrypted], an [*UnsupportedError], an error of body, or it wraps
// [ErrDamaged].
func Open(body io.ReaderAt, size int64) (f *File, err error) {
	defer Guard(&err)
	f = &File{body: body}
	data, err := f.readFooter(size)
	if err != nil {
		return nil, err
	}
	if err := thrift.NewDecoder(&boundedReader{new(thrift.CompactProtocol).NewReaderFromBytes(data), len(data)}).Decode(&f.meta); err != nil {
		return nil, damagedf("its metadata: %v", err)
	}
	if f.meta.Encryption.Value != nil {
		return nil, ErrEncrypted
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	schema, err := f.openSchema()
	if err != nil {
		return nil, damagedf("its metadata: %v", err)
	}
	f.Root = schema.Root()
	f.addColumns(f.Root)
	return f, nil
}

// addColumns adds the leaves below a column, in the order of the schema.
func (f *File) addColumns(c *parquet.Column) {
	if c.Leaf() {
		f.columns = append(f.columns, c)
	}
	for _, below := range c.Columns() {
		f.addColumns(below)
	}
}

// readFooter returns the metadata of a file, and sets the end of the pages.
func (f *File) readFooter(size int64) ([]byte, error) {
	var end [footerEnd]byte
	if size < int64(len(magic))+footerEnd {
		return nil, damagedf("its end is missing")
	}
	if err := readFull(f.body, end[:], size-footerEnd); err != nil {
		return nil, err
	}
	switch string(end[4:]) {
	case magicEncrypted:
		return nil, ErrEncrypted
	case magic:
	default:
		return nil, damagedf("its end is missing")
	}
	length := int64(binary.LittleEndian.Uint32(end[:]))
	f.end = size - footerEnd - length
	if f.end < int64(len(magic)) {
		return nil, damagedf("its metadata is larger than the file")
	}
	if length > maxFooter {
		return nil, damagedf("its metadata is larger than 64 MiB")
	}
	data := make([]byte, length)
	return data, readFull(f.body, data, f.end)
}

func readFull(r io.ReaderAt, p []byte, offset int64) error {
	n, err := r.ReadAt(p, offset)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// check checks the metadata, and sets the leaves and the numbers of rows.
func (f *File) check() error {
	for i := range f.meta.Schema {
		e := &f.meta.Schema[i]
		if !e.Type.Valid {
			continue
		}
		if e.Type.V < format.Boolean || e.Type.V > format.FixedLenByteArray || e.Type.V == format.FixedLenByteArray && e.TypeLength.V <= 0 {
			return damagedf("column %q has the type %d with %d bytes", e.Name, int(e.Type.V), e.TypeLength.V)
		}
		f.leaves = append(f.leaves, e)
	}
	for _, g := range f.meta.RowGroups {
		if g.NumRows < 0 || g.NumRows > math.MaxInt64-f.NumRows || len(g.Columns) != len(f.leaves) {
			return damagedf("a row group has %d rows and %d columns", g.NumRows, len(g.Columns))
		}
		f.NumRows += g.NumRows
		f.Groups = append(f.Groups, g.NumRows)
		for i, c := range g.Columns {
			if err := checkChunk(f.leaves[i], c, g.NumRows); err != nil {
				return err
			}
		}
	}
	if f.meta.NumRows != f.NumRows && f.meta.NumRows != 0 { // some programs leave it at 0
		return damagedf("its row groups have %d rows, not %d", f.NumRows, f.meta.NumRows)
	}
	return nil
}

func checkChunk(leaf *format.SchemaElement, c footerChunk, rows int64) error {
	m := c.Meta
	switch {
	case c.FilePath != "":
		return &UnsupportedError{leaf.Name, "is in another file", "name the files that have the rows"}
	case m.Type != leaf.Type.V || m.NumValues < rows:
		return damagedf("column %q has %d values of type %v in %d rows", leaf.Name, m.NumValues, m.Type, rows)
	case m.Codec != format.Lz4 && parquet.LookupCompressionCodec(m.Codec).String() == "UNSUPPORTED":
		return &UnsupportedError{leaf.Name, fmt.Sprintf("is compressed with %v (codec %d)", m.Codec, int(m.Codec)), "write the file with zstd"}
	}
	return nil
}

// openSchema opens a file with the schema alone: the library's structures take 2 KiB for a column chunk.
func (f *File) openSchema() (*parquet.File, error) {
	meta := format.FileMetaData{Version: f.meta.Version, Schema: f.meta.Schema}
	data, err := thrift.Marshal(new(thrift.CompactProtocol), &meta)
	if err != nil {
		return nil, err
	}
	content := append([]byte(magic), data...)
	content = append(binary.LittleEndian.AppendUint32(content, uint32(len(data))), magic...)
	return parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
}

// LogicalType returns the logical type of a leaf; nil if it has none. The library's types lack some logical types.
func (f *File) LogicalType(leaf *parquet.Column) format.LogicalTypeValue {
	return f.leaves[leaf.Index()].LogicalType.Value
}
