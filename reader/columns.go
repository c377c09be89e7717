package reader

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// columnNames makes the names of a header unique and non-empty: a repeated name gets the suffix _2, _3 and
// so on, an empty name becomes its 1-based position.
func columnNames(header []string) []string {
	names := make([]string, len(header))
	taken := make(map[string]bool, len(header))
	suffix := map[string]int{} // last suffix by name: many equal names take linear time
	for i, name := range header {
		if strings.TrimSpace(name) == "" {
			name = strconv.Itoa(i + 1)
		}
		unique := name
		for taken[unique] {
			suffix[name] = max(suffix[name], 1) + 1
			unique = fmt.Sprintf("%s_%d", name, suffix[name])
		}
		taken[unique] = true
		names[i] = unique
	}
	return names
}

// inputNames returns the names of a file's input columns: the results of find for Options.Columns, or else the column with a
// usual name. values returns the values of a column in the first records. It is nil if the values are unknown.
func (f *file) inputNames(o *Options, columns []string, find func(name string) (string, error), values func(place int) []string) ([]string, error) {
	if len(o.Columns) == 0 {
		place, err := f.usualColumn(o, columns, values)
		if err != nil {
			return nil, err
		}
		if o.Dialect.noHeader() {
			return columns[place : place+1], nil
		}
		f.several = slices.DeleteFunc(f.usual(o, columns), func(column string) bool { return slices.Contains(f.unfit, column) })
		if f.info.Guessed = len(f.unfit) > 0 || len(f.several) > 1; values != nil {
			f.tellColumn(o, columns[place], values(place))
		}
		return columns[place : place+1], nil
	}
	var found []string
	for _, name := range o.Columns {
		column, err := find(name)
		if err != nil {
			return nil, err
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

// usualColumn returns the index of the input column if Options.Columns is empty: the first candidate whose values may be
// inputs.
func (f *file) usualColumn(o *Options, columns []string, values func(place int) []string) (int, error) {
	file := f.info.Name
	notFound := &ColumnError{File: file, Columns: columns, Option: "Columns"}
	if o.Dialect.noHeader() {
		if len(columns) == 1 {
			return 0, nil
		}
		return 0, notFound
	}
	notFound.Candidates = o.Candidates
	for _, candidate := range o.Candidates {
		place, err := matchColumn(file, columns, candidate)
		if err == nil && len(columns) > 1 && values != nil {
			if reason := noInputs(place, len(columns), values); reason != "" {
				notFound.Refused = append(notFound.Refused, columns[place]+" has "+reason)
				f.unfit = append(f.unfit, columns[place])
				continue
			}
		}
		if column, isColumn := errors.AsType[*ColumnError](err); !isColumn || len(column.Matches) > 0 {
			return place, err
		}
	}
	return 0, notFound
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

// matchColumn returns the index of the column with a name. If there is none, it ignores case and surrounding space, and then
// also spaces, hyphens and underscores: exactly one column must match. The error is a *ColumnError.
func matchColumn(file string, columns []string, name string) (int, error) {
	if i := slices.Index(columns, name); i >= 0 {
		return i, nil
	}
	var matches []string
	for _, same := range []func(string) bool{sameName(name), likeName(name)} {
		place := 0
		for i, column := range columns {
			if same(column) {
				place = i
				matches = append(matches, column)
			}
		}
		if len(matches) == 1 {
			return place, nil
		}
		if len(matches) > 1 {
			break
		}
	}
	return 0, &ColumnError{File: file, Column: name, Matches: matches, Columns: columns, Option: "Columns"}
}

func (f *file) addColumn(c Column) {
	f.columns = append(f.columns, c.Name)
	f.types = append(f.types, c)
}

// setHeader sets the columns of a file from its header, and returns the input columns. rows are the first rows.
func (f *file) setHeader(fields []string, o *Options, rows [][]string) (inputs, error) {
	fields = withoutMark(fields)
	if o.Dialect.noHeader() {
		fields = make([]string, len(fields)) // columnNames then returns positions
	}
	f.header = fields
	for _, name := range columnNames(fields) {
		f.addColumn(Column{Name: name})
	}
	names, err := f.inputNames(o, f.columns, func(name string) (string, error) {
		return matchName(f.info.Name, f.columns, name)
	}, func(place int) (values []string) {
		for _, row := range rows {
			if place < len(row) {
				values = append(values, row[place])
			}
		}
		return values
	})
	in := inputs{joiner: o.joiner()}
	for _, name := range names {
		in.places = append(in.places, slices.Index(f.columns, name))
	}
	f.info.Inputs = names
	if e, isColumn := errors.AsType[*ColumnError](err); isColumn {
		e.Header = true
	}
	return in, err
}

// slab is memory for the fields or nulls of the next rows. One allocation serves several rows.
type slab[T any] []T

const (
	slabFields = 256
	// longLine is the length in bytes at which a line ends its slab, because any row of a slab retains the whole slab.
	longLine = 4 << 10
)

// take returns memory for n zero fields.
func (s *slab[T]) take(n int) []T {
	if n > len(*s) {
		*s = make([]T, max(n, slabFields))
	}
	fields := (*s)[:n:n]
	*s = (*s)[n:]
	return fields
}

func setAll(nulls []bool) {
	for i := range nulls {
		nulls[i] = true
	}
}

// placement has the index in the run's columns for each column of a file. nil stands for the same indexes.
type placement []int

func (p placement) of(i int) int {
	if p == nil {
		return i
	}
	return p[i]
}

// place returns the fields of a file's row in the order of the run's columns. width is the number of these columns.
func (p placement) place(fields []string, width int) []string {
	placed := make([]string, width)
	for i, field := range fields {
		placed[p.of(i)] = field
	}
	return placed
}

// matchName is matchColumn, but returns the name of the column.
func matchName(file string, columns []string, name string) (string, error) {
	place, err := matchColumn(file, columns, name)
	if err != nil {
		return "", err
	}
	return columns[place], nil
}

// inputs are the input columns of a table.
type inputs struct {
	places []int // in the columns of the file
	joiner
}

// of returns the input of a row, which may be short.
func (in inputs) of(fields []string) string {
	var parts []string
	for _, place := range in.places {
		part := ""
		if place < len(fields) {
			part = fields[place]
		}
		if len(in.places) == 1 {
			return part
		}
		parts = append(parts, part)
	}
	return in.joined(parts)
}

// joiner makes one input from the values of several columns.
type joiner struct {
	join    string
	missing func(value string) bool
}

func (o *Options) joiner() joiner { return joiner{o.Join, o.Missing} }

// joined returns the input for the values of the input columns. It returns a single value unchanged. It joins several values,
// without the blank and the missing values. It modifies parts.
func (j joiner) joined(parts []string) string {
	if len(parts) > 1 {
		parts = slices.DeleteFunc(parts, func(part string) bool { return strings.TrimSpace(part) == "" || j.missing(part) })
	}
	return strings.Join(parts, j.join)
}

// sameName compares names. It ignores case and surrounding space.
func sameName(name string) func(column string) bool {
	name = strings.TrimSpace(name)
	return func(column string) bool { return strings.EqualFold(strings.TrimSpace(column), name) }
}

// foldName removes the characters in which spellings of a name differ, and "*", which marks required columns.
var foldName = strings.NewReplacer(" ", "", "_", "", "-", "", "*", "")

// likeName compares names. It ignores case, spaces, hyphens and underscores: "Website URL" is like website_url.
func likeName(name string) func(column string) bool {
	name = foldName.Replace(name)
	return func(column string) bool { return name != "" && strings.EqualFold(foldName.Replace(column), name) }
}

// apart is the index in Reader.alike of columns that a file keeps apart although their names differ only in case.
const apart = -1

// withoutCase returns a name as a key. Names with equal keys are equal for sameName.
func withoutCase(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// keepApart finds the columns of one file whose names differ only in case.
func (r *Reader) keepApart() {
	r.alike = map[string]int{}
	for _, f := range r.files {
		seen := map[string]bool{}
		for _, name := range f.columns {
			if name = withoutCase(name); seen[name] {
				r.alike[name] = apart
			}
			seen[name] = true
		}
	}
}

// unite sets the columns of the run: the union over its files, then the extra columns. Columns of several files whose names
// differ only in case are one column, with the first name. Some file must have shown each extra column, unless later records may
// have more columns (JSONL), or a file is empty so far.
func (r *Reader) unite() error {
	r.index = map[string]int{}
	r.keepApart()
	moreToCome := false
	var all []string
	for _, f := range r.files {
		all = append(all, f.all...)
		moreToCome = moreToCome || f.format.moreColumns || f.blank
		f.places = make([]int, len(f.columns))
		for i, c := range f.types {
			place, isNew := r.addColumn(c)
			if !isNew {
				c.Name = r.columns[place]
				r.types[place] = common(r.types[place], c)
			}
			f.places[i] = place
		}
		r.placePartitions(f)
	}
	for _, name := range r.options.ExtraColumns {
		place, err := matchColumn("", r.columns, name)
		column, isColumn := errors.AsType[*ColumnError](err)
		switch {
		case !isColumn:
			r.index[name] = place // for Place
			continue
		case len(column.Matches) > 0 || !moreToCome:
			for _, known := range r.columns {
				if !slices.Contains(all, known) {
					all = append(all, known)
				}
			}
			column.Columns, column.Option = all, "ExtraColumns"
			return column
		}
		typ := Column{Name: name, Type: typeNull}
		for _, f := range r.files {
			if known, found := f.paths[name]; found {
				typ = common(typ, known)
			}
		}
		r.addColumn(typ)
	}
	for _, f := range r.files {
		if slices.Equal(f.columns, r.columns) {
			f.places = nil
		}
	}
	for i := range r.types {
		if r.types[i].Type == typeNull {
			r.types[i].Type = TypeString
		}
	}
	r.blank = make([]string, len(r.columns))
	return nil
}

// addColumn returns the index of a column. It appends the column if it is new.
func (r *Reader) addColumn(c Column) (place int, isNew bool) {
	if place, known := r.index[c.Name]; known {
		return place, false
	}
	name := withoutCase(c.Name)
	place, known := r.alike[name]
	if !known || place == apart {
		place, isNew = len(r.columns), true
		r.columns = append(r.columns, c.Name)
		r.types = append(r.types, c)
	}
	if !known {
		r.alike[name] = place
	}
	r.index[c.Name] = place
	return place, isNew
}

// Place returns the index in Columns of a column. name is the name of the column or an element of Options.ExtraColumns.
func (r *Reader) Place(name string) (place int, found bool) {
	place, found = r.index[name]
	return place, found
}

// paths returns the extra columns whose names may be dotted paths.
func (o *Options) paths() []string {
	var paths []string
	for _, name := range o.ExtraColumns {
		if strings.Contains(name, ".") {
			paths = append(paths, name)
		}
	}
	return paths
}
