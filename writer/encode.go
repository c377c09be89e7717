package writer

import "io"

// encoder writes rows in one format. What it writes depends on the rows alone and not on how they are
// spread over calls of encode, unless flush is called in between.
type encoder interface {
	encode(rows []Row) error
	flush() error // makes what was encoded readable at the other end, as far as the format allows
	close() error // ends the format, not the writer below
}

// newEncoder makes an encoder for a format that ParseFormat knows.
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
		return newCSV(out, columns, ','), nil
	case TSV:
		return newCSV(out, columns, '\t'), nil
	case JSONL:
		return newJSONL(out, columns), nil
	default:
		return nil, &FormatError{Name: string(format)}
	}
}

// textEncoder is the encoder of the formats that are text: it appends one row after the other to a
// buffer.
type textEncoder struct {
	out       compressor
	buf       []byte
	appendRow func(dst []byte, row *Row) []byte
}

// textChunk is how much text is gathered before it is passed on. Chunks end at the same rows whatever
// the batches, so that a compressor sees the same pieces.
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

func (e *textEncoder) flush() error {
	if err := e.pass(); err != nil {
		return err
	}
	return e.out.Flush()
}

func (e *textEncoder) close() error {
	if err := e.pass(); err != nil {
		return err
	}
	return e.out.Close()
}

// pass hands the buffer down.
func (e *textEncoder) pass() error {
	_, err := e.out.Write(e.buf)
	e.buf = e.buf[:0]
	return err
}
