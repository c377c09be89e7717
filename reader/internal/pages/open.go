package pages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// magic begins and ends a Parquet file; magicEncrypted ends a file whose metadata is encrypted.
const (
	magic          = "PAR1"
	magicEncrypted = "PARE"
)

// endSize is the size of the end of a file in bytes: the size of the metadata, and the magic.
const endSize = 8

// ErrEncrypted is the error of a file with encrypted columns or metadata.
var ErrEncrypted = errors.New("the Parquet file is encrypted")

// Unsupported is the feature of a valid file that this package does not read, and how to write the file again.
type Unsupported string

func (u Unsupported) Error() string { return string(u) }

// Damage says how a file violates the Parquet format.
type Damage struct{ Reason error }

func (d *Damage) Error() string { return "the Parquet file is damaged: " + d.Reason.Error() }
func (d *Damage) Unwrap() error { return d.Reason }

func damagef(form string, args ...any) error { return &Damage{fmt.Errorf(form, args...)} }

// Guard turns a panic of the library, which some damaged files cause, into a [*Damage]. Callers defer it.
func Guard(err *error) {
	if reason := recover(); reason != nil {
		*err = damagef("%v", reason)
	}
}

// File is a Parquet file.
type File struct {
	Root    *parquet.Column // of the schema
	NumRows int64           // of all row groups

	body     io.ReaderAt
	end      int64 // of the pages: the offset of the metadata
	meta     footer
	leaves   []*format.SchemaElement
	reserved int64 // bytes of memory for the columns that are read
}

// footer is the part of a file's metadata that reading the rows needs.
type footer struct {
	Version    int32                      `thrift:"1,required"`
	Schema     []format.SchemaElement     `thrift:"2,required"`
	NumRows    int64                      `thrift:"3,required"`
	RowGroups  []rowGroup                 `thrift:"4,required"`
	Encryption format.EncryptionAlgorithm `thrift:"8,optional"`
}

type rowGroup struct {
	Columns []columnChunk `thrift:"1,required"`
	NumRows int64         `thrift:"3,required"`
}

type columnChunk struct {
	FilePath string   `thrift:"1,optional"`
	Meta     metadata `thrift:"3,optional"`
}

type metadata struct {
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

// Open reads the metadata of a file. The error is [ErrEncrypted], a [*Damage], [Unsupported], or an error of body.
func Open(body io.ReaderAt, size int64) (f *File, err error) {
	defer Guard(&err)
	f = &File{body: body}
	data, err := f.readFooter(size)
	if err != nil {
		return nil, err
	}
	if err := thrift.NewDecoder(&boundedReader{new(thrift.CompactProtocol).NewReaderFromBytes(data), len(data)}).Decode(&f.meta); err != nil {
		return nil, damagef("its metadata: %v", err)
	}
	if f.meta.Encryption.Value != nil {
		return nil, ErrEncrypted
	}
	if err := f.check(); err != nil {
		return nil, err
	}
	schema, err := f.openSchema()
	if err != nil {
		return nil, damagef("its metadata: %v", err)
	}
	f.Root = schema.Root()
	return f, nil
}

// readFooter returns the metadata of a file, and sets the end of the pages.
func (f *File) readFooter(size int64) ([]byte, error) {
	end, err := io.ReadAll(io.NewSectionReader(f.body, max(size-endSize, 0), endSize))
	switch {
	case err != nil:
		return nil, err
	case bytes.HasSuffix(end, []byte(magicEncrypted)):
		return nil, ErrEncrypted
	case len(end) < endSize || !bytes.HasSuffix(end, []byte(magic)):
		return nil, damagef("its end is missing")
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if f.end = size - endSize - length; f.end < int64(len(magic)) {
		return nil, damagef("its metadata is larger than the file")
	}
	return io.ReadAll(io.NewSectionReader(f.body, f.end, length))
}

// check checks the metadata, and sets the leaves and the number of rows.
func (f *File) check() error {
	for i := range f.meta.Schema {
		e := &f.meta.Schema[i]
		if !e.Type.Valid {
			continue
		}
		if e.Type.V < format.Boolean || e.Type.V > format.FixedLenByteArray || e.Type.V == format.FixedLenByteArray && e.TypeLength.V <= 0 {
			return damagef("column %q has the type %d with %d bytes", e.Name, int(e.Type.V), e.TypeLength.V)
		}
		f.leaves = append(f.leaves, e)
	}
	for _, g := range f.meta.RowGroups {
		if g.NumRows < 0 || len(g.Columns) != len(f.leaves) {
			return damagef("a row group has %d rows and %d columns", g.NumRows, len(g.Columns))
		}
		f.NumRows += g.NumRows
		for i, c := range g.Columns {
			switch leaf, m := f.leaves[i], c.Meta; {
			case c.FilePath != "":
				return Unsupported(fmt.Sprintf("column %q is in another file; name the files that have the rows", leaf.Name))
			case m.Type != leaf.Type.V || m.NumValues < g.NumRows:
				return damagef("column %q has %d values of type %v in %d rows", leaf.Name, m.NumValues, m.Type, g.NumRows)
			case m.Codec != format.Lz4 && parquet.LookupCompressionCodec(m.Codec).String() == "UNSUPPORTED":
				return Unsupported(fmt.Sprintf("column %q is compressed with %v (codec %d); write the file with zstd", leaf.Name, m.Codec, int(m.Codec)))
			}
		}
	}
	if f.meta.NumRows != f.NumRows && f.meta.NumRows != 0 { // some programs leave it at 0
		return damagef("its row groups have %d rows, not %d", f.NumRows, f.meta.NumRows)
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
