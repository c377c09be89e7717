package verify

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/bulkcat/bulkcat/pipeline/objects"
	"github.com/bulkcat/bulkcat/writer"
)

// rowReader reads the rows of one file.
type rowReader interface {
	// columns returns the names of the columns. In place of a list it returns those of the structs
	// in the list, such as "categories.rank".
	columns() []string

	// next returns a row of the file: with a list, a row for each struct, or one row for an empty
	// list. It returns io.EOF after the last row, and another error if the file is damaged. The
	// caller may keep the rows, but not the slice of them.
	next() ([]row, error)

	// types returns the types of the columns; nil if the format has none.
	types() []writer.ValueType

	// expected returns the cell of a value of the input in a carried column.
	expected(column int, text string, null bool) string
}

// file is an open file of the output.
type file struct {
	rowReader
	closers []io.Closer
}

// openFile opens a file of the output. It detects compression by the first bytes. members are the
// expected members of the structs in lists, which JSON names only in lists that are not empty; nil
// if they are unknown.
func openFile(path string, format writer.Format, members []string) (*file, error) {
	body, err := objects.OpenFile(path)
	if err != nil {
		return nil, err
	}
	f := &file{closers: []io.Closer{body}}
	content, _, _ := strings.Cut(string(format), ".")
	if writer.Format(content) == writer.Parquet {
		f.rowReader, err = newParquetReader(body)
	} else {
		err = f.openText(body, writer.Format(content), members)
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *file) openText(body io.ReaderAt, content writer.Format, members []string) error {
	plain, err := f.decompress(body)
	if err != nil {
		return err
	}
	f.rowReader, err = newTextReader(plain, content, members)
	j, isJSON := f.rowReader.(*jsonlReader)
	if err != nil || !isJSON || !j.lacksMembers() {
		return err
	}
	if members = listMembers(j); members == nil {
		members = []string{"rank", "value", "category_id", "confidence"} // all lists are empty
	}
	if plain, err = f.decompress(body); err != nil {
		return err
	}
	f.rowReader, err = newTextReader(plain, content, members)
	return err
}

// decompress returns the text of a file from its beginning.
func (f *file) decompress(body io.ReaderAt) (io.Reader, error) {
	plain, err := decompress(bufio.NewReaderSize(io.NewSectionReader(body, 0, math.MaxInt64), 64<<10))
	if err != nil {
		return nil, err
	}
	f.closers = append(f.closers, plain)
	return plain, nil
}

func newTextReader(plain io.Reader, content writer.Format, members []string) (rowReader, error) {
	switch content {
	case writer.CSV:
		return newCSVReader(plain, ',')
	case writer.TSV:
		return newCSVReader(plain, '\t')
	case writer.JSONL:
		return newJSONLReader(plain, members)
	}
	return nil, fmt.Errorf("unknown format %q", content)
}

func (f *file) close() {
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
