package pipeline

import (
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/progress"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// typesInOutput are the types of the input's columns in the output. Lists and structs are text.
var typesInOutput = map[reader.Type]writer.Type{
	reader.TypeString: writer.TypeString, reader.TypeJSON: writer.TypeString,
	reader.TypeInt64: writer.TypeInt64, reader.TypeDouble: writer.TypeDouble, reader.TypeBool: writer.TypeBool,
	reader.TypeTimestamp: writer.TypeTimestamp, reader.TypeDateTime: writer.TypeDateTime,
	reader.TypeDate: writer.TypeDate, reader.TypeDecimal: writer.TypeDecimal,
}

// content is the format of the output without its compression.
func (o *OutputOptions) content() writer.Format {
	format, _ := o.format() // checked by Open
	content, _, _ := strings.Cut(string(format), ".")
	return writer.Format(content)
}

// carryTypes gives the types of the carried columns, which are at the given places of the input's columns.
func (s *Session) carryTypes(places []int) []writer.ValueType {
	columns := s.input.Schema()
	types := make([]writer.ValueType, len(places))
	for i, place := range places {
		c := columns[place]
		types[i] = writer.ValueType{Type: typesInOutput[c.Type], Precision: c.Precision, Scale: c.Scale}
	}
	return types
}

// carriedOf gives the carried columns of a schema.
func carriedOf(s writer.Schema) []record.Carried {
	columns := s.Columns()
	carried := make([]record.Carried, len(s.Carry))
	for i, c := range columns[len(columns)-len(s.Carry):] {
		carried[i] = record.Carried{Name: c.Name, Type: c.ValueType()}
	}
	return carried
}

// countMisfits counts the values of a record that do not fit.
func (f *flattening) countMisfits(t *task) (count int64) {
	for i, typ := range f.run.options.types {
		place := f.run.options.Carry[i]
		if typ.Type == writer.TypeString || place >= len(t.record.Fields) {
			continue
		}
		value := t.record.Fields[place]
		if isNull(&t.record, place) || typ.Fits(value) {
			continue
		}
		count++
		if first := &f.run.Counters.FirstMisfit; first.Load() == nil {
			first.Store(&progress.Misfit{Place: t.place(), Column: record.Carried{Name: f.run.options.Schema.Carry[i], Type: typ}, Value: value})
		}
	}
	f.run.Counters.Misfits.Add(count)
	return count
}

// isNull reports whether a field is null; an empty field is, in formats without nulls.
func isNull(record *reader.Record, place int) bool {
	if place < len(record.Nulls) {
		return record.Nulls[place]
	}
	return record.Fields[place] == ""
}

// warnMisfits warns of values that are null in the output, and are not null in the input.
func (s *Session) warnMisfits() {
	first := s.counters.FirstMisfit.Load()
	if first == nil {
		return
	}
	s.options.Log.Warn("some values do not fit the types of their columns, and are null in the output; CSV and JSONL keep them",
		"values", s.counters.Misfits.Load(), "first", first.Place, "column", first.Column.Name,
		"type", first.Column.Type, "value", clipped(first.Value))
}

// clipped is the beginning of a long value, for messages.
func clipped(value string) string {
	const most = 60
	if len(value) <= most {
		return value
	}
	return strings.ToValidUTF8(value[:most], "") + "..."
}
