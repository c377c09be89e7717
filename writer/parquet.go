package writer

import (
	"fmt"
	"io"
	"math"
	"slices"
	"unsafe"

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
	groupBytes = 32 << 20

	// pageBytes bounds a page of a column before compression.
	pageBytes = 256 << 10
)

// parquetEncoder writes Parquet: zstd throughout, bounds per column chunk and page for all columns but
// those of categories.
type parquetEncoder struct {
	file    *parquet.GenericWriter[any]
	columns []Column
	values  [][]parquet.Value // the chunk, by column

	chunkLen  int // rows in the chunk
	chunkText int // bytes of text in the chunk
	groupLen  int // rows in the row group, without the chunk
	groupText int // bytes of text in the row group, without the chunk
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
		// The library cuts bounds within characters: ours are cut before they come to it.
		parquet.ColumnIndexSizeLimit(func([]string) int { return math.MaxInt }),
	}
	for _, c := range columns {
		if c.categorical() { // every page has nearly all of them: bounds would tell nothing, and take time
			options = append(options, parquet.SkipPageBounds(c.Name))
		}
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

// encode gathers the rows column by column: what a column shows of a row is decided once for all rows,
// which takes half the time of going row by row.
func (e *parquetEncoder) encode(rows []Row) error {
	for len(rows) > 0 {
		n := e.room(rows)
		for k := range e.columns {
			e.values[k] = appendValues(e.values[k], rows[:n], &e.columns[k])
		}
		e.chunkLen += n
		rows = rows[n:]
		if e.chunkLen < chunkRows && e.chunkText < chunkBytes {
			continue
		}
		if err := e.endChunk(); err != nil {
			return err
		}
	}
	return nil
}

// room is how many of the rows the chunk has room for, one at least. It counts their text.
func (e *parquetEncoder) room(rows []Row) int {
	for i := range rows {
		if e.chunkText += rows[i].textSize(); e.chunkText >= chunkBytes || e.chunkLen+i+1 == chunkRows {
			return i + 1
		}
	}
	return len(rows)
}

// flush does nothing: a row of Parquet cannot be read before the file ends.
func (e *parquetEncoder) flush() error { return nil }

func (e *parquetEncoder) close() error {
	if err := e.endChunk(); err != nil {
		return err
	}
	return e.file.Close()
}

// appendValues appends what a column shows of the rows. Only the definition level tells a value from
// null: 1 and 0.
func appendValues(values []parquet.Value, rows []Row, c *Column) []parquet.Value {
	start := len(values)
	values = slices.Grow(values, len(rows))[:start+len(rows)]
	add := values[start:]
	null := parquet.NullValue()
	switch c.Type {
	case TypeInt64:
		for i := range rows {
			add[i] = null
			if n, ok := rows[i].integer(c); ok {
				add[i] = parquet.Int64Value(n)
			}
		}
	case TypeDouble:
		for i := range rows {
			add[i] = null
			if x, ok := rows[i].confidence(); ok {
				add[i] = parquet.DoubleValue(x)
			}
		}
	case TypeTimestamp:
		for i := range rows {
			add[i] = null
			if t := rows[i].AnsweredAt; !t.IsZero() {
				add[i] = parquet.Int64Value(t.UnixMicro())
			}
		}
	default:
		for i := range rows {
			add[i] = null
			if s := rows[i].text(c); s != "" || !c.Nullable {
				add[i] = stringValue(s)
			}
		}
	}
	if c.Nullable {
		for i := range add {
			if !add[i].IsNull() {
				add[i].SetDefinitionLevel(1)
			}
		}
	}
	return values
}

// stringValue points into s, which nobody can change: to copy it takes a twentieth of all time.
func stringValue(s string) parquet.Value {
	return parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(s), len(s)))
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
		clear(e.values[k]) // keep no text alive
		e.values[k] = e.values[k][:0]
	}
	e.groupLen += e.chunkLen
	e.groupText += e.chunkText
	e.chunkLen, e.chunkText = 0, 0
	if e.groupLen < groupRows && e.groupText < groupBytes {
		return nil
	}
	e.groupLen, e.groupText = 0, 0
	return e.file.Flush()
}
