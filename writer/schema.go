package writer

import (
	"fmt"
	"strings"
)

// MaxLevels is the most level_N columns. Few taxonomies have more than seven levels. So a mistyped number does not give a
// thousand empty columns.
const MaxLevels = 20

// Schema determines the columns of the rows, and the entries in them. The zero value has only the columns of every output.
type Schema struct {
	Form
	Titles  bool     // add the column title, for classifications of Codes
	Sources bool     // add the column source
	Carry   []string // names of the input's columns to copy; Result.Fields has their values

	CarryTypes []ValueType // types of the columns of Carry; nil if all are text

	// Codes has a function for each classification whose values are codes. It appends up to most levels of a code to levels. The
	// values of other classifications are paths.
	Codes map[string]func(levels []string, code string, most int) []string
}

// Column is one column of the output.
type Column struct {
	ID   ColumnID
	Name string
	ValueType
	Nullable bool
	Elements []Column // columns of the structs in a list; nil for other types

	*definition
	index int // into Row.Levels or Row.Fields
}

// Type is the type of a column's values.
type Type int

// The types of columns.
const (
	TypeString    Type = iota // UTF-8 text; in columns that are not carried, the empty string is null
	TypeInt64                 // a whole number
	TypeDouble                // an IEEE 754 double; finite, except in carried columns
	TypeTimestamp             // a time in UTC, RFC 3339 in the text formats; in microseconds, except in carried columns
	TypeList                  // a list of structs, never null; CSV and TSV have no lists
	TypeBool                  // only in carried columns, like the types below
	TypeDate                  // a day
	TypeDateTime              // a time without a zone
	TypeDecimal               // a decimal number of bounded length
)

// Columns returns the columns in the order of the output: bulkcat's own columns, then the carried columns. With ShapeNested,
// the columns from rank to level_N are the members of the list categories.
func (s Schema) Columns() []Column {
	var columns []Column
	var list *Column // of the categories
	for i := range definitions {
		d := &definitions[i]
		if d.option != nil && !d.option.has(&s) && (d.withoutOption == nil || !d.withoutOption(&s)) {
			continue
		}
		if s.Shape != ShapeNested || d.scope == scopeRecord {
			columns = s.appendColumns(columns, d)
			continue
		}
		if list == nil {
			columns = append(columns, categoriesDefinition.column(0))
			list = &columns[len(columns)-1]
		}
		list.Elements = s.appendColumns(list.Elements, d)
	}
	return s.appendCarried(columns)
}

// appendColumns appends the columns of a definition: one column, or a column for each level.
func (s Schema) appendColumns(columns []Column, d *definition) []Column {
	n := 1
	if d.texts != nil {
		n = s.levels()
	}
	for k := range n {
		c := d.column(k)
		c.Nullable = c.Nullable && !(d.inList && s.Shape == ShapeNested)
		columns = append(columns, c)
	}
	return columns
}

// appendCarried appends the carried columns with unique names. Names that differ only in case are equal, as in Spark,
// DuckDB and BigQuery. A column without a name is named after its position.
func (s Schema) appendCarried(columns []Column) []Column {
	taken := make(map[string]int) // lower-case name to the number of alternatives tried
	for _, c := range columns {
		taken[c.Name] = 0
		for _, e := range c.Elements { // carried columns have the same names in all shapes
			taken[e.Name] = 0
		}
	}
	for i, name := range s.Carry {
		if name = validUTF8(name); name == "" {
			name = fmt.Sprintf("input_%d", i+1)
		}
		name = freeName(taken, name)
		column := carriedDefinition.column(i)
		column.Name = name
		if i < len(s.CarryTypes) {
			column.ValueType = s.CarryTypes[i].orText()
		}
		columns = append(columns, column)
	}
	return columns
}

// freeName returns name, or its first alternative that is not taken, and adds it to taken.
func freeName(taken map[string]int, name string) string {
	key := strings.ToLower(name)
	free := name
	for {
		if _, ok := taken[strings.ToLower(free)]; !ok {
			break
		}
		taken[key]++
		free = alternative(name, taken[key])
	}
	taken[strings.ToLower(free)] = 0
	return free
}

// alternative returns the n-th alternative name of a carried column. After three prefixes it uses a number, because a header
// may repeat a name thousands of times.
func alternative(name string, n int) string {
	if n <= 3 {
		return strings.Repeat("input_", n) + name
	}
	return fmt.Sprintf("input_%s_%d", name, n)
}

// levels returns s.Levels within its bounds.
func (s Schema) levels() int { return min(max(s.Levels, 0), MaxLevels) }
