package reader

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// inputNames returns the names of a file's input columns: the columns for Options.Columns, or else the column with a usual name.
// isPath reports whether a name is a column that is not among columns, such as a dotted path; nil for none. values returns the
// values of a column in the first records. It is nil if the values are unknown.
func (f *file) inputNames(o *Options, columns []string, isPath func(name string) bool, values func(place int) []string) ([]string, error) {
	if len(o.Columns) == 0 {
		return f.usualColumn(o, columns, values)
	}
	var found []string
	for _, name := range o.Columns {
		column := name
		if isPath == nil || !isPath(name) {
			place, err := matchColumn(f.info.Name, columns, name)
			if err != nil {
				return nil, err
			}
			column = columns[place]
		}
		if other := slices.Index(found, column); other >= 0 {
			return nil, &OptionError{"Columns", fmt.Sprintf("%q and %q are the same column of %s", o.Columns[other], name, displayName(f.info.Name))}
		}
		found = append(found, column)
		if equal := f.equal(columns, column); len(equal) > 1 {
			f.several, f.info.Guessed = equal, true
		}
	}
	return found, nil
}

// usualColumn returns the input column if Options.Columns is empty: the first candidate whose values may be inputs. It is the
// only element.
func (f *file) usualColumn(o *Options, columns []string, values func(place int) []string) ([]string, error) {
	file := f.info.Name
	notFound := &ColumnError{File: file, Columns: columns, Option: "Columns"}
	if o.Dialect.noHeader() {
		if len(columns) == 1 {
			return columns, nil
		}
		return nil, notFound
	}
	notFound.Candidates = o.Candidates
	var unfit []string // columns with usual names whose values are not inputs
	for _, candidate := range o.Candidates {
		place, err := matchColumn(file, columns, candidate)
		switch {
		case err != nil && len(err.Matches) == 0:
			continue
		case err != nil:
			return nil, err
		}
		if len(columns) > 1 && values != nil {
			if reason := noInputs(place, len(columns), values); reason != "" {
				notFound.Refused = append(notFound.Refused, columns[place]+" has "+reason)
				unfit = append(unfit, columns[place])
				continue
			}
		}
		f.several = slices.DeleteFunc(f.usual(o, columns), func(column string) bool { return slices.Contains(unfit, column) })
		if f.info.Guessed = len(unfit) > 0 || len(f.several) > 1; values != nil {
			f.tellColumn(o, columns[place], values(place))
		}
		return columns[place : place+1], nil
	}
	return nil, notFound
}

// noInputs returns why the first values of a column are not inputs; "" if they may be.
func noInputs(place, columns int, values func(place int) []string) string {
	texts, distinct := 0, map[string]bool{}
	own := values(place)
	for _, value := range own {
		if value = strings.TrimSpace(value); value == "" {
			continue
		}
		distinct[value] = true
		if strings.ContainsFunc(value, unicode.IsLetter) || strings.Count(value, ".") == 3 { // an address
			texts++
		}
	}
	const several = 5 // values: so many are hardly equal by chance
	switch {
	case len(own) >= several && len(distinct) == 0:
		return "no values"
	case len(distinct) > 0 && texts == 0:
		return "only numbers"
	case len(own) < several || len(distinct) != 1:
		return ""
	}
	for other := range columns { // if other columns are constant, too, the records are equal, and the column may be the input
		if different := values(other); slices.ContainsFunc(different, func(value string) bool { return value != different[0] }) {
			return "one value throughout"
		}
	}
	return ""
}

// tellColumn logs the chosen input column, with its first values.
func (f *file) tellColumn(o *Options, column string, values []string) {
	const shown = 3
	var quoted []string
	for _, value := range values {
		if len(quoted) == shown {
			break
		}
		if strings.TrimSpace(value) != "" {
			quoted = append(quoted, fmt.Sprintf("%.60q", value))
		}
	}
	if len(quoted) == 0 {
		return
	}
	if f.info.Guessed {
		column += " (guessed)"
	}
	o.Log.Info(fmt.Sprintf("column %s: %s", column, strings.Join(quoted, ", ")), "file", displayName(f.info.Name))
}

// usual returns the columns whose names in the file are like Options.Candidates.
func (f *file) usual(o *Options, columns []string) (usual []string) {
	for i, column := range columns {
		name := column
		if f.header != nil {
			name = f.header[i]
		}
		if slices.ContainsFunc(o.Candidates, likeName(name)) {
			usual = append(usual, column)
		}
	}
	return usual
}

// equal returns the columns that have a name in the file.
func (f *file) equal(columns []string, name string) (equal []string) {
	for i := range f.header {
		if f.header[i] == name {
			equal = append(equal, columns[i])
		}
	}
	return equal
}

// warnOfSeveral warns if several columns of a file may be the input: the first is read.
func (r *Reader) warnOfSeveral() {
	for _, f := range r.files {
		if len(f.several) > 1 {
			r.options.Log.Warn("several columns may be the input: the first is read",
				"option", "reader.Columns", "file", displayName(f.info.Name), "column", strings.Join(f.info.Inputs, ", "), "columns", strings.Join(f.several, ", "))
			return
		}
	}
}

// setHeader sets the columns and the input columns of a table from its header. rows are the first rows.
func (f *file) setHeader(fields []string, o *Options, rows [][]string) error {
	fields = withoutMark(fields)
	if o.Dialect.noHeader() {
		fields = make([]string, len(fields)) // columnNames then returns positions
	}
	f.header = fields
	for _, name := range columnNames(fields) {
		f.addColumn(Column{Name: name})
	}
	names, err := f.inputNames(o, f.columns, nil, func(place int) (values []string) {
		for _, row := range rows {
			if place < len(row) {
				values = append(values, row[place])
			}
		}
		return values
	})
	for _, name := range names {
		f.inputs = append(f.inputs, slices.Index(f.columns, name))
	}
	f.info.Inputs = names
	if e, isColumn := errors.AsType[*ColumnError](err); isColumn {
		e.Header = true
	}
	return err
}

// hasHeader reports whether fields are still the header of the file.
func (f *file) hasHeader(fields []string) bool {
	return slices.Equal(columnNames(withoutMark(fields)), f.columns)
}

// inputOf returns the input of a row of a table.
func (o *Options) inputOf(fields []string, inputs []int) string {
	if len(inputs) == 1 {
		return fields[inputs[0]]
	}
	var parts []string
	for _, place := range inputs {
		parts = append(parts, fields[place])
	}
	return o.joined(parts)
}

// joined returns the input for the values of the input columns. It returns a single value unchanged. It joins several values,
// without the blank and the missing values. It modifies parts.
func (o *Options) joined(parts []string) string {
	if len(parts) > 1 {
		parts = slices.DeleteFunc(parts, func(part string) bool { return strings.TrimSpace(part) == "" || o.Missing(part) })
	}
	return strings.Join(parts, o.Join)
}
