package verify

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/bulkcat/bulkcat/writer"
)

// rowReader reads the rows of one file. next returns io.EOF after the last row, and another error
// if the file is damaged. The caller may keep the row.
type rowReader interface {
	columns() []string
	next() (row, error)
}

// file is an open file of the output.
type file struct {
	rowReader
	closers []io.Closer
}

// openFile opens a file of the output. It detects compression by the first bytes.
func openFile(path string, format writer.Format) (*file, error) {
	body, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	f := &file{closers: []io.Closer{body}}
	content, _, _ := strings.Cut(string(format), ".")
	if writer.Format(content) == writer.Parquet {
		f.rowReader, err = newParquetReader(body)
	} else {
		err = f.openText(body, writer.Format(content))
	}
	if err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

func (f *file) openText(body io.Reader, content writer.Format) error {
	plain, err := decompress(bufio.NewReaderSize(body, 64<<10))
	if err != nil {
		return err
	}
	f.closers = append(f.closers, plain)
	f.rowReader, err = newTextReader(plain, content)
	return err
}

func newTextReader(plain io.Reader, content writer.Format) (rowReader, error) {
	switch content {
	case writer.CSV:
		return newCSVReader(plain, ',')
	case writer.TSV:
		return newCSVReader(plain, '\t')
	case writer.JSONL:
		return newJSONLReader(plain)
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
