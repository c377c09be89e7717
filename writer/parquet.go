package writer

import (
	"fmt"
	"io"
	"math"
	"slices"
	"unsafe"

	"github.com/parquet-go/parquet-go"
)

// The sizes of the parts of a Parquet file, in rows and in bytes of text before encoding. They do not depend on the calls of
// encode, so the same rows always give the same file.
const (
	// chunkRows and chunkBytes bound the chunk of rows that is written to the columns at once. Pages end only between chunks,
	// so a page may exceed its size by a chunk.
	chunkRows  = 256
	chunkBytes = 128 << 10

	// groupRows and groupBytes bound a row group, whose compressed pages are in memory until it ends. Engines give whole groups
	// to threads and tasks. 128 Ki rows are about DuckDB's unit of work, and an eighth of a part of DefaultPartRows. The bytes
	// matter for long carried columns and long lists.
	groupRows  = 128 << 10
	groupBytes = 32 << 20

	// pageBytes bounds a page of a column before compression. Readers decompress whole pages, and skip pages by the page index,
	// so pages are smaller than the usual 1 MiB. Still smaller pages compress worse.
	pageBytes = 256 << 10

	// pagesBytes bounds the memory of the current pages of all columns. With many carried columns, pages are smaller, down to
	// leastPageBytes.
	pagesBytes     = 16 << 20
	leastPageBytes = 16 << 10
)

// pageSize returns the size of a page in a file with a number of columns, in bytes before compression.
func pageSize(columns int) int {
	return min(pageBytes, max(leastPageBytes, pagesBytes/columns))
}

// parquetEncoder writes Parquet with zstd, and with bounds of column chunks and pages, except for unbounded columns.
type parquetEncoder struct {
	file   *parquet.GenericWriter[any]
	leaves []leaf
	values [][]parquet.Value // of the chunk, by leaf

	chunkLen  int // rows in the chunk
	chunkText int // bytes of text in the chunk
	groupLen  int // rows in the row group, without the chunk
	groupText int // bytes of text in the row group, without the chunk
}

func newParquet(w io.Writer, columns []Column, metadata map[string]string) (encoder, error) {
	leaves := leavesOf(columns)
	if len(leaves) > parquet.MaxColumnIndex {
		return nil, fmt.Errorf("%d columns are more than a Parquet file can have (%d): carry fewer", len(leaves), parquet.MaxColumnIndex)
	}
	codec, err := newPageCodec()
	if err != nil {
		return nil, err
	}
	options := []parquet.WriterOption{
		parquet.NewSchema("bulkcat", newRecordNode(columns)),
		parquet.Compression(codec),
		parquet.PageBufferSize(pageSize(len(leaves))),
		parquet.WriteBufferSize(0), // w has a buffer
		// Some engines cannot read version 2 pages.
		parquet.DataPageVersion(1),
		// The page index has the same bounds, and readers need not read the pages.
		parquet.DataPageStatistics(false),
		// textPage cuts bounds between characters. The library would cut within characters.
		parquet.ColumnIndexSizeLimit(func([]string) int { return math.MaxInt }),
		// Rows are in record order. Engines then skip row groups and pages, and merge parts without sorting.
		parquet.SortingWriterConfig(parquet.SortingColumns(parquet.Ascending("record"))),
	}
	for _, l := range leaves {
		if l.unbounded || l.ID == ColumnCarried && l.unordered() {
			options = append(options, parquet.SkipPageBounds(l.path...))
		}
	}
	for key, value := range metadata { // the library sorts the keys
		options = append(options, parquet.KeyValueMetadata(validUTF8(key), validUTF8(value)))
	}
	return &parquetEncoder{
		file:   parquet.NewGenericWriter[any](w, options...),
		leaves: leaves,
		values: make([][]parquet.Value, len(leaves)),
	}, nil
}

// encode appends the rows to the chunk, column by column, which is faster than row by row.
func (e *parquetEncoder) encode(rows []Row) error {
	for len(rows) > 0 {
		n := e.rowsThatFit(rows)
		for k := range e.leaves {
			l := &e.leaves[k]
			if l.ofList {
				e.values[k] = appendListValues(e.values[k], rows[:n], &l.Column)
			} else {
				e.values[k] = appendValues(e.values[k], rows[:n], &l.Column)
			}
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

// rowsThatFit returns the number of rows that fit into the chunk, at least 1, and counts their text.
func (e *parquetEncoder) rowsThatFit(rows []Row) int {
	for i := range rows {
		if e.chunkText += rows[i].textSize(); e.chunkText >= chunkBytes || e.chunkLen+i+1 == chunkRows {
			return i + 1
		}
	}
	return len(rows)
}

// flush does nothing: Parquet cannot be read before the file is complete.
func (e *parquetEncoder) flush() error { return nil }

func (e *parquetEncoder) close() error {
	if err := e.endChunk(); err != nil {
		return err
	}
	return e.file.Close()
}

// appendValues appends the values of a column. The definition level is 1 for a value and 0 for null.
func appendValues(values []parquet.Value, rows []Row, c *Column) []parquet.Value {
	start := len(values)
	values = slices.Grow(values, len(rows))[:start+len(rows)]
	add := values[start:]
	clear(add) // null
	last := ""
	for i := range rows {
		v, ok := parquet.Value{}, false
		if c.ID != ColumnCarried {
			v, ok = c.valueOf(&rows[i])
		} else if text, is := c.carriedOf(&rows[i]); is && i > 0 && text == last && !add[i-1].IsNull() {
			v, ok = add[i-1], true // rows of a record have the same value
		} else if is {
			v, ok = c.parse(text)
			last = text
		}
		if !ok {
			continue
		}
		if c.Nullable {
			v.SetDefinitionLevel(1)
		}
		add[i] = v
	}
	return values
}

// appendListValues appends the values of a member of the structs in the lists. For an empty list it appends null with definition
// level 0. In other lists, definition levels are one higher than in appendValues, and the repetition level is 0 for the first
// struct and 1 for the others.
func appendListValues(values []parquet.Value, rows []Row, c *Column) []parquet.Value {
	for i := range rows {
		categories := rows[i].Categories
		if len(categories) == 0 {
			values = append(values, parquet.NullValue())
			continue
		}
		start := len(values)
		values = appendValues(values, categories, c)
		for k := start; k < len(values); k++ {
			values[k].SetDefinitionLevel(values[k].DefinitionLevel() + 1)
			if k > start {
				values[k].SetRepetitionLevel(1)
			}
		}
	}
	return values
}

// stringValue returns a value that shares the immutable memory of s, which saves a copy.
func stringValue(s string) parquet.Value {
	return parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// endChunk writes the chunk to the columns, and ends the row group if it is full.
func (e *parquetEncoder) endChunk() error {
	if e.chunkLen == 0 {
		return nil // the library refuses an empty slice
	}
	for k, column := range e.file.ColumnWriters() {
		if _, err := column.WriteRowValues(e.values[k]); err != nil {
			return err
		}
		clear(e.values[k]) // do not retain text
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
