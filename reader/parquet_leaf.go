package reader

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/bulkcat/bulkcat/reader/pages"
)

// leafBatch is the number of values of a column that are decoded at once.
const leafBatch = 64

// leaf reads the values of one leaf column of the schema, page by page.
type leaf struct {
	index    int
	repeated bool
	pages    parquet.Pages
	page     parquet.Page
	source   parquet.ValueReader
	batch    [leafBatch]parquet.Value
	ahead    []parquet.Value // values of batch that are not read
	values   []parquet.Value // values of the current row: one, or several of a repeated column
	size     int             // bytes of the values
}

func (l *leaf) open(chunk parquet.ColumnChunk) {
	l.close()
	l.pages = chunk.Pages()
}

func (l *leaf) close() {
	if l.pages == nil {
		return
	}
	parquet.Release(l.page)
	l.page, l.source, l.ahead, l.values = nil, nil, nil, nil
	l.pages.Close() // only read from
	l.pages = nil
}

// next sets the values to those of the next row, if their size is at most limit.
func (l *leaf) next(limit int) error {
	if len(l.ahead) == 0 {
		if err := l.fill(); err == io.EOF {
			return fmt.Errorf("%w: a column has fewer rows than its row group", pages.ErrDamaged)
		} else if err != nil {
			return err
		}
	}
	if !l.repeated {
		l.values, l.ahead = l.ahead[:1], l.ahead[1:]
		l.size = sizeOf(l.values[0])
		return nil
	}
	if cap(l.values) > keptValues {
		l.values = nil
	}
	l.values, l.size = l.values[:0], 0
	l.take(limit)
	for {
		if len(l.ahead) == 0 {
			if err := l.fill(); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
		}
		if l.ahead[0].RepetitionLevel() == 0 {
			return nil
		}
		l.size += len("0,") // each element has a character and a comma, at least
		l.take(limit)
	}
}

// take takes the next value. A row that is too long has no values.
func (l *leaf) take(limit int) {
	if l.size += sizeOf(l.ahead[0]); l.size <= limit {
		l.values = append(l.values, l.ahead[0].Clone()) // the next page may take the memory of this one
	} else {
		l.values = nil
	}
	l.ahead = l.ahead[1:]
}

// sizeOf returns the number of bytes of a value of variable size.
func sizeOf(v parquet.Value) int {
	if k := v.Kind(); k == parquet.ByteArray || k == parquet.FixedLenByteArray {
		return len(v.ByteArray())
	}
	return 0
}

// keptValues is the most values of a list whose memory is kept for the next row.
const keptValues = 1 << 12

// fill reads the next values; io.EOF after the last value of the row group.
func (l *leaf) fill() error {
	for {
		if l.source != nil {
			n, err := l.source.ReadValues(l.batch[:])
			if n > 0 {
				l.ahead = l.batch[:n]
				return nil
			}
			if err != nil && err != io.EOF {
				return err
			}
		}
		parquet.Release(l.page)
		l.page, l.source = nil, nil
		page, err := l.pages.ReadPage()
		if err != nil {
			return err
		}
		l.page, l.source = page, page.Values()
	}
}
