package outputs

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/bulkcat/bulkcat/pipeline/objects"
	"github.com/bulkcat/bulkcat/writer"
)

// rowReader reads the rows of a file.
type rowReader interface {
	columns() []string // see File.Columns
	next() ([]Row, error)
	types() []writer.ValueType // see File.Types
	expected(column int, text string, null bool) string
}

// File is an open file of an output, with rows as text.
type File struct {
	rows    rowReader
	closers []io.Closer
}

// Row is a row of an output as text, by column; "" is null, or no text in CSV. Numbers are as in a text file, or as Go
// formats them. A row of the shape nested is several Rows, one for each category, with the columns of the shape long.
type Row []string

// EmptyText is the cell of empty text in a format that distinguishes it from null. No other cell has these bytes,
// which are not UTF-8.
const EmptyText = "\xff"

// MaxRows is the most Rows that a row of the shape nested may have; answers have fewer entries.
const MaxRows = 1 << 16

// Columns returns the names of the columns; nil for JSONL without rows. In place of a list it returns those of the
// structs in the list, such as "categories.rank".
func (f *File) Columns() []string { return f.rows.columns() }

// Next returns a row of the file as one Row, or as several for a list. It returns io.EOF after the last row, and
// another error if the file is damaged. The caller may keep the Rows, but not the slice of them.
func (f *File) Next() ([]Row, error) { return f.rows.next() }

// Types returns the types of the columns; nil if the format has none.
func (f *File) Types() []writer.ValueType { return f.rows.types() }

// Expected returns the cell that a value of the input has in a carried column.
func (f *File) Expected(column int, text string, null bool) string {
	return f.rows.expected(column, text, null)
}

// OpenFile opens a file of an output. It detects compression by the first bytes. members are the
// expected members of the structs in lists, which JSON names only in lists that are not empty; nil
// if they are unknown.
func OpenFile(ctx context.Context, p Part, members []string) (*File, error) {
	body, err := objects.OpenFile(ctx, p.Path)
	if err != nil {
		return nil, err
	}
	f := &File{closers: []io.Closer{body}}
	content, _, _ := strings.Cut(string(p.Format), ".")
	if writer.Format(content) == writer.Parquet {
		f.rows, err = newParquetReader(body)
	} else {
		err = f.openText(body, textFormat{writer.Format(content), p.Escaped}, members)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// textFormat is a text format without its compression.
type textFormat struct {
	content writer.Format
	escaped bool // Part.Escaped
}

func (f *File) openText(body io.ReaderAt, format textFormat, members []string) error {
	plain, err := f.decompress(body)
	if err != nil {
		return err
	}
	f.rows, err = newTextReader(plain, format, members)
	j, isJSON := f.rows.(*jsonlReader)
	if err != nil || !isJSON || !j.lacksMembers() {
		return err
	}
	if members = listMembers(j); members == nil {
		members = []string{"rank", "value", "category_id", "confidence"} // all lists are empty
	}
	if plain, err = f.decompress(body); err != nil {
		return err
	}
	f.rows, err = newTextReader(plain, format, members)
	return err
}

// decompress returns the text of a file from its beginning.
func (f *File) decompress(body io.ReaderAt) (io.Reader, error) {
	plain, err := decompress(bufio.NewReaderSize(io.NewSectionReader(body, 0, math.MaxInt64), 64<<10))
	if err != nil {
		return nil, err
	}
	f.closers = append(f.closers, plain)
	return plain, nil
}

func newTextReader(plain io.Reader, format textFormat, members []string) (rowReader, error) {
	switch format.content {
	case writer.CSV:
		return newCSVReader(plain, ',', format.escaped)
	case writer.TSV:
		return newCSVReader(plain, '\t', format.escaped)
	case writer.JSONL:
		return newJSONLReader(plain, members)
	}
	return nil, fmt.Errorf("unknown format %q", format.content)
}

// Close closes the file.
func (f *File) Close() {
	for _, c := range f.closers {
		_ = c.Close() // only read from
	}
}

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
