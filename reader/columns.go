package reader

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
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

// matchColumn returns the index of the column with a name. If there is none, it ignores case and surrounding space, and then
// also spaces, hyphens and underscores: exactly one column must match.
func matchColumn(file string, columns []string, name string) (int, *ColumnError) {
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

// placed returns the fields and the nulls of a row in the order of the run's columns. Columns that the file does not have are null.
func (r *Reader) placed(row row) (fields []string, nulls []bool) {
	if r.current.places == nil || row.fields == nil {
		return row.fields, row.nulls
	}
	fields = make([]string, len(r.columns))
	if row.nulls != nil {
		nulls = make([]bool, len(r.columns))
		setAll(nulls)
	}
	for i, place := range r.current.places {
		fields[place] = row.fields[i]
		if nulls != nil {
			nulls[place] = row.nulls[i]
		}
	}
	return fields, nulls
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

// withoutCase returns a name as a key. Names with equal keys are equal for sameName.
func withoutCase(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// keepApart finds the columns of one file whose names differ only in case.
func (r *Reader) keepApart() {
	r.apart = map[string]bool{}
	for _, f := range r.files {
		seen := map[string]bool{}
		for _, name := range f.columns {
			key := withoutCase(name)
			r.apart[key] = r.apart[key] || seen[key]
			seen[key] = true
		}
	}
}

// unite sets the columns of the run: the union over its files, then the extra columns. Columns of several files whose names
// differ only in case are one column, with the first name. Some file must have shown each extra column, unless later records may
// have more columns (JSONL), or a file is empty so far.
func (r *Reader) unite() error {
	r.index, r.alike = map[string]int{}, map[string]int{}
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
		place, column := matchColumn("", r.columns, name)
		switch {
		case column == nil:
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
		if slices.Equal(f.columns, r.columns) || f.format.moreColumns {
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
	key := withoutCase(c.Name)
	if r.apart[key] {
		key = c.Name
	}
	place, known := r.alike[key]
	if !known {
		place = len(r.columns)
		r.columns, r.types = append(r.columns, c.Name), append(r.types, c)
		r.alike[key] = place
	}
	r.index[c.Name] = place
	return place, !known
}

// Place returns the index in Columns of a column. name is the name of the column or an element of Options.ExtraColumns.
func (r *Reader) Place(name string) (place int, found bool) {
	place, found = r.index[name]
	return place, found
}

// paths returns the extra columns whose names may be dotted paths.
func (o *Options) paths() []string {
	return slices.DeleteFunc(slices.Clone(o.ExtraColumns), func(name string) bool { return !strings.Contains(name, ".") })
}
