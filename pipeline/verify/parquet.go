package verify

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// parquetBatch is how many rows are read at once.
const parquetBatch = 256

// parquetReader reads the rows of a file by row group.
type parquetReader struct {
	names  []string
	times  []bool // columns that are timestamps in microseconds
	groups []parquet.RowGroup
	rows   parquet.Rows // of the current group; nil between two groups
	ended  bool         // rows is at its end; rows of the batch still point into its memory
	batch  []parquet.Row
	ready  []parquet.Row // read and not returned yet
}

// errDamaged is the error of a file on which the Parquet library panics, as it does on some
// damaged files.
var errDamaged = errors.New("the Parquet file is damaged")

// guard turns panics of the library into errors.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("%w: %v", errDamaged, p)
	}
}

func newParquetReader(f *os.File) (_ *parquetReader, err error) {
	defer guard(&err)
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	in, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return nil, err
	}
	p := &parquetReader{groups: in.RowGroups(), batch: make([]parquet.Row, parquetBatch)}
	for _, c := range in.Root().Columns() {
		if !c.Leaf() || c.Repeated() {
			return nil, fmt.Errorf("the column %s is not flat", c.Name())
		}
		p.names = append(p.names, c.Name())
		p.times = append(p.times, isTime(c.Type()))
	}
	return p, nil
}

func isTime(t parquet.Type) bool {
	logical := t.LogicalType()
	if logical == nil {
		return false
	}
	_, ok := logical.Value.(*format.TimestampType)
	return ok
}

func (p *parquetReader) columns() []string { return p.names }

func (p *parquetReader) next() (_ row, err error) {
	defer guard(&err)
	for len(p.ready) == 0 {
		if err := p.read(); err != nil {
			return nil, err
		}
	}
	r := make(row, len(p.names))
	for _, v := range p.ready[0] {
		k := v.Column()
		if k < 0 || k >= len(r) {
			return nil, errDamaged
		}
		r[k] = cell(v, p.times[k])
	}
	p.ready = p.ready[1:]
	return r, nil
}

// read fills ready from the current group, or from the next one.
func (p *parquetReader) read() error {
	if p.ended {
		err := p.rows.Close()
		p.rows, p.ended = nil, false
		return err
	}
	if p.rows == nil {
		if len(p.groups) == 0 {
			return io.EOF
		}
		p.rows, p.groups = p.groups[0].Rows(), p.groups[1:]
	}
	n, err := p.rows.ReadRows(p.batch)
	p.ready = p.batch[:n]
	switch {
	case errors.Is(err, io.EOF):
		p.ended = true
		return nil
	case err == nil && n == 0:
		return io.ErrNoProgress
	}
	return err
}

// cell formats a value; it copies the bytes, which belong to the page.
func cell(v parquet.Value, timestamp bool) string {
	switch {
	case v.IsNull():
		return ""
	case v.Kind() == parquet.Int64 && timestamp:
		return time.UnixMicro(v.Int64()).UTC().Format(time.RFC3339Nano)
	case v.Kind() == parquet.Int64:
		return strconv.FormatInt(v.Int64(), 10)
	case v.Kind() == parquet.Double:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	}
	return string(v.ByteArray())
}
