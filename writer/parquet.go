package writer

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// The sizes of what a Parquet file is made of. They are counted in rows and in bytes of text before
// encoding, never in calls of encode, so that the same rows always make the same file.
const (
	// chunkRows and chunkBytes bound what is gathered before it goes to the columns. The library ends
	// pages only between chunks, so this is also how far a page may exceed its size.
	chunkRows  = 256
	chunkBytes = 128 << 10

	// groupRows and groupBytes bound a row group. Its compressed pages are held in memory until it ends,
	// because Parquet stores a group column by column. 128 Ki rows is what engines read well in
	// parallel; the bytes matter only where long columns are carried.
	groupRows  = 128 << 10
	groupBytes = 64 << 20

	// pageBytes bounds a page of a column before compression.
	pageBytes = 256 << 10
)

// parquetEncoder writes Parquet: zstd throughout, statistics per column chunk and page index.
type parquetEncoder struct {
	file    *parquet.GenericWriter[any]
	columns []Column
	values  [][]parquet.Value // the chunk, by column
	text    []byte            // what the chunk's strings point into

	chunkLen   int   // rows in the chunk
	groupLen   int   // rows in the row group, without the chunk
	groupBytes int64 // text in the row group, without the chunk
}

func newParquet(w io.Writer, columns []Column, metadata map[string]string) (encoder, error) {
	if len(columns) > parquet.MaxColumnIndex {
		return nil, fmt.Errorf("%d columns are more than a Parquet file can have (%d): carry fewer", len(columns), parquet.MaxColumnIndex)
	}
	codec, err := newPageCodec()
	if err != nil {
		return nil, err
	}
	options := []parquet.WriterOption{
		parquet.NewSchema("bulkcat", newRecordNode(columns)),
		parquet.Compression(codec),
		parquet.PageBufferSize(pageBytes),
		parquet.WriteBufferSize(0), // what is below has a buffer
		// Version 2 pages still cannot be read by some engines.
		parquet.DataPageVersion(1),
		// The page index holds the same bounds, and readers need not visit the pages to see them.
		parquet.DataPageStatistics(false),
	}
	for key, value := range metadata { // the library sorts them
		options = append(options, parquet.KeyValueMetadata(validUTF8(key), validUTF8(value)))
	}
	return &parquetEncoder{
		file:    parquet.NewGenericWriter[any](w, options...),
		columns: columns,
		values:  make([][]parquet.Value, len(columns)),
	}, nil
}

func (e *parquetEncoder) encode(rows []Row) error {
	for i := range rows {
		for k := range e.columns {
			e.values[k] = append(e.values[k], e.value(&rows[i], &e.columns[k]))
		}
		if e.chunkLen++; e.chunkLen < chunkRows && len(e.text) < chunkBytes {
			continue
		}
		if err := e.endChunk(); err != nil {
			return err
		}
	}
	return nil
}

// flush does nothing: a row of Parquet cannot be read before the file ends.
func (e *parquetEncoder) flush() error { return nil }

func (e *parquetEncoder) close() error {
	if err := e.endChunk(); err != nil {
		return err
	}
	return e.file.Close()
}

// value is what a column shows of a row. Only the definition level tells a value from null: 1 and 0.
func (e *parquetEncoder) value(row *Row, c *Column) parquet.Value {
	var v parquet.Value
	var ok bool
	switch c.Type {
	case TypeInt64:
		var n int64
		n, ok = row.integer(c)
		v = parquet.Int64Value(n)
	case TypeDouble:
		var x float64
		x, ok = row.confidence()
		v = parquet.DoubleValue(x)
	case TypeTimestamp:
		ok = !row.AnsweredAt.IsZero()
		v = parquet.Int64Value(row.AnsweredAt.UnixMicro())
	default:
		s := row.text(c)
		ok = s != ""
		v = e.stringValue(s)
	}
	switch {
	case !c.Nullable:
		return v
	case !ok:
		return parquet.NullValue()
	default:
		v.SetDefinitionLevel(1)
		return v
	}
}

// stringValue copies s, because rows belong to the caller once encode has returned.
func (e *parquetEncoder) stringValue(s string) parquet.Value {
	start := len(e.text)
	e.text = append(e.text, s...)
	return parquet.ByteArrayValue(e.text[start:])
}

// endChunk hands the chunk to the columns, and ends the row group when it is full.
func (e *parquetEncoder) endChunk() error {
	if e.chunkLen == 0 {
		return nil // the columns do not take an empty slice
	}
	for k, column := range e.file.ColumnWriters() {
		if _, err := column.WriteRowValues(e.values[k]); err != nil {
			return err
		}
		e.values[k] = e.values[k][:0]
	}
	e.groupLen += e.chunkLen
	e.groupBytes += int64(len(e.text))
	e.chunkLen, e.text = 0, e.text[:0]
	if e.groupLen < groupRows && e.groupBytes < groupBytes {
		return nil
	}
	e.groupLen, e.groupBytes = 0, 0
	return e.file.Flush()
}
