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
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
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

// FeedRow is a version with the time from which and until which it is valid, for tables that keep all versions (slowly
// changing dimensions of type 2). A change has a row for the old version, which ends it, and a row for the new one.
type FeedRow struct {
	Input          *string    `json:"input" parquet:"input,optional,zstd"`
	Classification string     `json:"classification" parquet:"classification,dict,zstd"`
	Change         string     `json:"change" parquet:"change,dict,zstd"`
	Record         int64      `json:"record" parquet:"record,zstd"`
	Status         string     `json:"status" parquet:"status,dict,zstd"`
	Value          *string    `json:"value" parquet:"value,optional,dict,zstd"`
	CategoryID     *string    `json:"category_id" parquet:"category_id,optional,dict,zstd"`
	Confidence     *float64   `json:"confidence" parquet:"confidence,optional,zstd"`
	ValidFrom      time.Time  `json:"valid_from" parquet:"valid_from,timestamp(microsecond),zstd"`
	ValidTo        *time.Time `json:"valid_to" parquet:"valid_to,optional,timestamp(microsecond),zstd"` // nil for the present version
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

// Feed returns the change as one or two rows: the end of the old version, and the beginning of the new one. It fails if
// a time is unknown.
func (c Change) Feed() ([]FeedRow, error) {
	var rows []FeedRow
	until := c.Ended
	if c.New != nil {
		until = c.New.At
	}
	for _, v := range []*Version{c.Old, c.New} {
		if v == nil {
			continue
		}
		r := FeedRow{
			Input: text(c.Input), Classification: c.Classification, Change: string(c.Kind), Record: v.Record, Status: string(v.Status),
			Value: text(v.Value), CategoryID: text(v.CategoryID), Confidence: number(v.Confidence), ValidFrom: v.At,
		}
		if v == c.Old {
			r.ValidTo = &until
		}
		if r.ValidFrom.IsZero() || until.IsZero() {
			return nil, fmt.Errorf("the time of %q is unknown: there is neither an account beside the output nor a column answered_at", c.Input)
		}
		rows = append(rows, r)
	}
	return rows, nil
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
	write func(Change) error
	close func() error
}

// NewTable begins a table of [Row], or of [FeedRow] for a feed.
func NewTable(out io.Writer, format writer.Format, feed bool) (*Table, error) {
	if !feed {
		t, err := newEncoder[Row](out, format)
		if err != nil {
			return nil, err
		}
		return &Table{func(c Change) error { return t.write(c.Row()) }, t.close}, nil
	}
	t, err := newEncoder[FeedRow](out, format)
	if err != nil {
		return nil, err
	}
	return &Table{func(c Change) error {
		rows, err := c.Feed()
		for _, row := range rows {
			if err == nil {
				err = t.write(row)
			}
		}
		return err
	}, t.close}, nil
}

// Write writes the rows of a change.
func (t *Table) Write(c Change) error { return t.write(c) }

// Close writes the end of the table, but does not close the underlying writer.
func (t *Table) Close() error { return t.close() }

// encoder writes rows of one type.
type encoder[T any] struct {
	write   func(T) error
	closers []func() error
}

// newEncoder begins a table. Parquet has row groups of up to 131,072 rows.
func newEncoder[T any](out io.Writer, format writer.Format) (*encoder[T], error) {
	content, compression, _ := strings.Cut(string(format), ".")
	t := new(encoder[T])
	switch compression {
	case "gz":
		z := gzip.NewWriter(out)
		out, t.closers = z, append(t.closers, z.Close)
	case "zst":
		z, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		out, t.closers = z, append(t.closers, z.Close)
	}
	switch writer.Format(content) {
	case writer.CSV, writer.TSV:
		return t, t.csv(out, writer.Format(content))
	case writer.JSONL:
		e := json.NewEncoder(out)
		e.SetEscapeHTML(false)
		t.write = func(row T) error { return e.Encode(row) }
	case writer.Parquet:
		w := parquet.NewGenericWriter[T](out, parquet.MaxRowsPerRowGroup(128<<10))
		one := make([]T, 1)
		t.write = func(row T) error {
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
func (t *encoder[T]) csv(out io.Writer, format writer.Format) error {
	w := csv.NewWriter(out)
	if format == writer.TSV {
		w.Comma = '\t'
	}
	var cells []string
	for field := range reflect.TypeFor[T]().Fields() {
		cells = append(cells, field.Tag.Get("json"))
	}
	t.write = func(row T) error {
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
	case time.Time:
		return x.UTC().Format(time.RFC3339Nano)
	}
	return ""
}

func (t *encoder[T]) close() error {
	for i := len(t.closers) - 1; i >= 0; i-- {
		if err := t.closers[i](); err != nil {
			return err
		}
	}
	return nil
}
