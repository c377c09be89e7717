package writer

import (
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
)

// Table writes rows of another form than [Row]: structs, whose fields are the columns, named by their tags json and parquet. A
// field is a text, a number, a time, or a pointer to one of these; a nil pointer is null.
type Table[R any] struct {
	write func(R) error
	close func() error
}

// tableGroup is the most rows of a row group; they take about 10 MB.
const tableGroup = 128 << 10

// NewTable begins a table in a format of ParseFormat.
func NewTable[R any](out io.Writer, format Format) (*Table[R], error) {
	content, compression := format.split()
	compressed, err := newCompressor(out, compression)
	if err != nil {
		return nil, err
	}
	t := new(Table[R])
	switch content {
	case CSV, TSV:
		return t, t.csv(compressed, content)
	case JSONL:
		e := json.NewEncoder(compressed)
		e.SetEscapeHTML(false)
		t.write = func(row R) error { return e.Encode(row) }
		t.close = compressed.Close
	default: // Parquet
		w := parquet.NewGenericWriter[R](compressed, parquet.MaxRowsPerRowGroup(tableGroup), parquet.Compression(&parquet.Zstd))
		one := make([]R, 1)
		t.write = func(row R) error {
			one[0] = row
			_, err := w.Write(one)
			return err
		}
		t.close = w.Close
	}
	return t, nil
}

// csv writes the header, and sets write and close.
func (t *Table[R]) csv(out compressor, content Format) error {
	w := csv.NewWriter(out)
	if content == TSV {
		w.Comma = '\t'
	}
	var cells []string
	for field := range reflect.TypeFor[R]().Fields() {
		cells = append(cells, field.Tag.Get("json"))
	}
	t.write = func(row R) error {
		cells = cells[:0]
		for _, field := range reflect.ValueOf(row).Fields() {
			cells = append(cells, cellOf(field))
		}
		return w.Write(cells)
	}
	t.close = func() error {
		w.Flush()
		return cmp.Or(w.Error(), out.Close())
	}
	return w.Write(cells)
}

// cellOf returns a value as text.
func cellOf(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case time.Time:
		return x.Format(time.RFC3339Nano)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	default:
		return fmt.Sprint(x)
	}
}

// Write writes a row.
func (t *Table[R]) Write(row R) error { return t.write(row) }

// Close writes the end of the table, but does not close the underlying writer.
func (t *Table[R]) Close() error { return t.close() }

// Null is the value of a column that is null. Null is invalid UTF-8, so no text of a row is equal to Null.
const Null = "\xff"

// Values returns the values of columns in a row as text, as a reader of a file in the format gets them. In CSV and TSV, empty
// text is null. No column may be a list.
func Values(columns []Column, row *Row, format Format) []string {
	content, _ := format.split()
	values := make([]string, len(columns))
	for i := range columns {
		c := &columns[i]
		text, ok := "", false
		switch {
		case c.ID == ColumnCarried:
			if text, ok = c.carriedOf(row); ok && content == Parquet && c.Type != TypeString {
				value, fits := c.parse(text)
				text, ok = fmt.Sprint(value), fits
			}
		case c.isText():
			text = c.textOf(row)
			ok = text != ""
		default:
			var number []byte
			number, ok = c.appendNumber(nil, row)
			text = string(number)
		}
		if values[i] = text; !ok || text == "" && format.Delimited() {
			values[i] = Null
		}
	}
	return values
}
