package diff

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/bulkcat/bulkcat/writer"
)

// Row is a Change as a row of a file. Nil is null.
type Row struct {
	Change         string   `json:"change" parquet:"change,dict,zstd"`
	Level          *int64   `json:"level" parquet:"level,optional,zstd"` // the first level that differs
	Input          *string  `json:"input" parquet:"input,optional,zstd"`
	Classification string   `json:"classification" parquet:"classification,dict,zstd"`
	OldRecord      *int64   `json:"old_record" parquet:"old_record,optional,zstd"`
	NewRecord      *int64   `json:"new_record" parquet:"new_record,optional,zstd"`
	OldStatus      *string  `json:"old_status" parquet:"old_status,optional,dict,zstd"`
	NewStatus      *string  `json:"new_status" parquet:"new_status,optional,dict,zstd"`
	OldValue       *string  `json:"old_value" parquet:"old_value,optional,dict,zstd"`
	NewValue       *string  `json:"new_value" parquet:"new_value,optional,dict,zstd"`
	OldCategoryID  *string  `json:"old_category_id" parquet:"old_category_id,optional,dict,zstd"`
	NewCategoryID  *string  `json:"new_category_id" parquet:"new_category_id,optional,dict,zstd"`
	OldConfidence  *float64 `json:"old_confidence" parquet:"old_confidence,optional,zstd"`
	NewConfidence  *float64 `json:"new_confidence" parquet:"new_confidence,optional,zstd"`
}

// Row returns the change as a row.
func (c Change) Row() Row {
	r := Row{Change: string(c.Kind), Input: text(c.Input), Classification: c.Classification}
	if c.Level > 0 {
		level := int64(c.Level)
		r.Level = &level
	}
	if v := c.Old; v != nil {
		status := string(v.Status)
		r.OldRecord, r.OldStatus, r.OldValue, r.OldCategoryID, r.OldConfidence = &v.Record, &status, text(v.Value), text(v.CategoryID), number(v.Confidence)
	}
	if v := c.New; v != nil {
		status := string(v.Status)
		r.NewRecord, r.NewStatus, r.NewValue, r.NewCategoryID, r.NewConfidence = &v.Record, &status, text(v.Value), text(v.CategoryID), number(v.Confidence)
	}
	return r
}

// text is nil for "".
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// Table writes changes as rows in a format of package writer.
type Table struct {
	write   func(Row) error
	closers []func() error
}

// NewTable begins a table. Parquet has row groups of up to 131,072 rows.
func NewTable(out io.Writer, format writer.Format) (*Table, error) {
	content, compression, _ := strings.Cut(string(format), ".")
	compressor, err := writer.NewCompressor(out, compression)
	if err != nil {
		return nil, err
	}
	out = compressor
	t := &Table{closers: []func() error{compressor.Close}}
	switch writer.Format(content) {
	case writer.CSV, writer.TSV:
		return t, t.csv(out, writer.Format(content))
	case writer.JSONL:
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		t.write = func(row Row) error { return e.Encode(row) }
	case writer.Parquet:
		w := parquet.NewGenericWriter[Row](out, parquet.MaxRowsPerRowGroup(128<<10))
		one := make([]Row, 1)
		t.write = func(row Row) error {
			one[0] = row
			_, err := w.Write(one)
			return err
		}
		t.closers = append(t.closers, w.Close)
	default:
		return nil, fmt.Errorf("unknown format %q", format)
	}
	return t, nil
}

// csv writes the header, and sets write.
func (t *Table) csv(out io.Writer, format writer.Format) error {
	w := csv.NewWriter(out)
	if format == writer.TSV {
		w.Comma = '\t'
	}
	var cells []string
	for field := range reflect.TypeFor[Row]().Fields() {
		cells = append(cells, field.Tag.Get("json"))
	}
	t.write = func(row Row) error {
		cells = cells[:0]
		for _, field := range reflect.ValueOf(row).Fields() {
			cells = append(cells, cell(field))
		}
		return w.Write(cells)
	}
	t.closers = append(t.closers, func() error { w.Flush(); return w.Error() })
	return w.Write(cells)
}

// cell is a value as text, as package writer has it.
func cell(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	switch x := v.Interface().(type) {
	case string:
		return x
	case int64:
		return strconv.FormatInt(x, 10)
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return ""
}

// Write writes the row of a change.
func (t *Table) Write(c Change) error { return t.write(c.Row()) }

// Close writes the end of the table, but does not close the underlying writer.
func (t *Table) Close() error {
	for i := len(t.closers) - 1; i >= 0; i-- {
		if err := t.closers[i](); err != nil {
			return err
		}
	}
	return nil
}
