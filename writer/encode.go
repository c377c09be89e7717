package writer

import (
	"cmp"
	"io"
)

// encoder writes rows in one format. Without flush, the output does not depend on the number of calls of encode.
type encoder interface {
	encode(rows []Row) error
	flush() error // writes all rows so far to the underlying writer, if the format allows it
	close() error // ends the output, but does not close the underlying writer
}

// newEncoder returns an encoder for a format of ParseFormat, which has the shape of the schema.
func newEncoder(w io.Writer, format Format, schema Schema, metadata map[string]string) (encoder, error) {
	columns := schema.Columns()
	content, compression := format.split()
	if content == Parquet {
		return newParquet(w, columns, metadata)
	}
	out, err := newCompressor(w, compression)
	if err != nil {
		return nil, err
	}
	switch content {
	case CSV:
		return newCSV(out, schema, ','), nil
	case TSV:
		return newCSV(out, schema, '\t'), nil
	default:
		return newJSONL(out, columns), nil
	}
}

// textEncoder is the encoder of the text formats. It appends rows to a buffer.
type textEncoder struct {
	out       compressor
	buf       []byte
	appendRow func(dst []byte, row *Row) []byte
}

// textChunk is the size in bytes at which the buffer is written. Chunks end at the same rows for any batches of rows, because
// the output of a compressor depends on its chunks.
const textChunk = 64 << 10

func (e *textEncoder) encode(rows []Row) error {
	for i := range rows {
		e.buf = e.appendRow(e.buf, &rows[i])
		if len(e.buf) < textChunk {
			continue
		}
		if err := e.pass(); err != nil {
			return err
		}
	}
	return nil
}

func (e *textEncoder) flush() error { return cmp.Or(e.pass(), e.out.Flush()) }
func (e *textEncoder) close() error { return cmp.Or(e.pass(), e.out.Close()) }

// pass writes the buffer to the compressor.
func (e *textEncoder) pass() error {
	_, err := e.out.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}
