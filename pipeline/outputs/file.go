package outputs

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// File is an open file of an output.
type File struct {
	body    reader.Source
	format  writer.Format // without compression
	escaped bool          // Part.Escaped
	names   []string
	list    string       // begins the names of the columns in the list of JSONL; "" for none
	parquet *parquetFile // nil for other formats
}

// Row is a row of an output as text, by column; "" is null, or no text in CSV. Numbers are as in a text file, or as Go
// formats them. A row of the shape nested is several Rows, one for each category, with the columns of the shape long.
type Row []string

// EmptyText is the cell of empty text in a format that distinguishes it from null. No other cell has these bytes,
// which are not UTF-8.
const EmptyText = "\xff"

// MaxRows is the most Rows that a row of the shape nested may have; answers have fewer entries.
const MaxRows = 1 << 16

// Open opens a file of an output. It detects compression by the first bytes. members are the expected members of the
// structs in lists, which JSON names only in lists that are not empty; nil if they are unknown.
func Open(ctx context.Context, p Part, members []string) (*File, error) {
	body, err := storage.Open(ctx, p.Path)
	if err != nil {
		return nil, err
	}
	content, _, _ := strings.Cut(string(p.Format), ".")
	f := &File{body: body, format: writer.Format(content), escaped: p.Escaped}
	if f.format == writer.Parquet {
		f.parquet, err = openParquet(body)
		if err == nil {
			f.names = f.parquet.names
		}
	} else {
		err = f.readNames(members)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Columns returns the names of the columns; nil for JSONL without rows. In place of a list it returns those of the
// structs in the list, such as "categories.rank".
func (f *File) Columns() []string { return f.names }

// Types returns the types of the columns; nil if the format has none.
func (f *File) Types() []writer.ValueType {
	if f.parquet == nil {
		return nil
	}
	return f.parquet.values
}

// Rows calls use with each row of the file: one Row, or several for a list. An error other than that of use says that the
// file is damaged; use has got the rows before. The caller may keep the Rows, but not the slice of them.
func (f *File) Rows(use func([]Row) error) error {
	if f.parquet != nil {
		return f.parquet.rows(use)
	}
	return f.textRows(use)
}

// Close closes the file.
func (f *File) Close() { _ = f.body.Close() } // only read from

// zstdWindow is larger than any window of the writer.
const zstdWindow = 8 << 20

func decompress(r *bufio.Reader) (io.ReadCloser, error) {
	magic, _ := r.Peek(4) // the next Read returns the error
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}): // RFC 1952 §2.3.1
		return gzip.NewReader(r)
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}): // RFC 8878 §3.1.1
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	return io.NopCloser(r), nil
}
