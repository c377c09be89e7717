package writer

import (
	"fmt"
	"strings"
)

// MaxLevels is the most level_N columns. Few taxonomies have more than seven levels. The bound protects from a thousand
// empty columns after a typing error.
const MaxLevels = 20

// Schema says which columns the rows have. The zero value has only the columns that every output has.
type Schema struct {
	Levels        int      // number of level_N columns; below 0 counts as 0, above MaxLevels as MaxLevels
	NAICS         string   // the classification whose values are NAICS codes, which have titles; "" for none
	SourceColumns bool     // add the columns source and answered_at, which differ from run to run
	Carry         []string // names in the input of the columns to copy; Result.Fields has their values

	CarryTypes []ValueType // of the columns of Carry; nil if all are text

	Shape         Shape   // of the rows; "" is ShapeLong
	Top           int     // the most entries of a record, in the order of the answer; 0 for all
	MinConfidence float64 // without entries of less confidence, which do not count for Top; 0 for all entries

	EscapeFormulas bool // in CSV and TSV, the text of a cell or a name that may be a formula begins with ': see UnescapeFormula
}

// Column is one column of the output.
type Column struct {
	Name     string
	Type     Type
	Nullable bool
	Elements []Column // columns of the structs in a list; nil for other types

	Precision, Scale int // of a carried column: see ValueType

	field field
	index int // into Row.Levels or Row.Fields
}

// Type is the type of a column's values.
type Type int

// The types of columns.
const (
	TypeString    Type = iota // UTF-8 text; in columns that are not carried, the empty string is null
	TypeInt64                 // a whole number
	TypeDouble                // an IEEE 754 double, always finite in columns that are not carried
	TypeTimestamp             // a time in UTC, RFC 3339 in the text formats; in microseconds, unless ValueType says otherwise
	TypeList                  // a list of structs, never null; no text format except JSONL has lists
	TypeBool                  // of carried columns, like the types below
	TypeDate                  // a day
	TypeDateTime              // a time without a zone
	TypeDecimal               // a decimal number of bounded length
)

// field is the member of Row that is the value of a column.
type field int

const (
	fieldRecord field = iota
	fieldInput
	fieldStatus
	fieldClassification
	fieldRank
	fieldValue
	fieldCategoryID
	fieldTitle
	fieldConfidence
	fieldLevel
	fieldError
	fieldSource
	fieldAnsweredAt
	fieldCarried
	fieldCategories
)

// scope is the thing that determines the value of a column.
type scope int

const (
	scopeRecord   scope = iota // the record: equal in all of its rows
	scopeEntry                 // the entry
	scopeCategory              // the category: equal in all entries with it
)

func (c *Column) scope() scope {
	switch c.field {
	case fieldRank, fieldConfidence:
		return scopeEntry
	case fieldValue, fieldCategoryID, fieldTitle, fieldLevel:
		return scopeCategory
	}
	return scopeRecord
}

// Columns returns the columns in the order of the output: record, input, status, classification, rank, value,
// category_id, title with NAICS codes, confidence, level_1 to level_N, error, then source and answered_at with
// SourceColumns, then the carried columns. With ShapeNested the list categories replaces the columns from rank to
// level_N, which become the members of its structs.
func (s Schema) Columns() []Column {
	columns := []Column{
		{Name: "record", Type: TypeInt64, field: fieldRecord},
		{Name: "input", Nullable: true, field: fieldInput},
		{Name: "status", field: fieldStatus},
		{Name: "classification", field: fieldClassification},
	}
	if s.Shape == ShapeNested {
		columns = append(columns, Column{Name: "categories", Type: TypeList, Elements: s.appendCategory(nil), field: fieldCategories})
	} else {
		columns = s.appendCategory(columns)
	}
	columns = append(columns, Column{Name: "error", Nullable: true, field: fieldError})
	if s.SourceColumns {
		columns = append(columns,
			Column{Name: "source", Nullable: true, field: fieldSource},
			Column{Name: "answered_at", Type: TypeTimestamp, Nullable: true, field: fieldAnsweredAt})
	}
	return s.appendCarried(columns)
}

// appendCategory appends the columns of a category. The rank is null only in rows without a category.
func (s Schema) appendCategory(columns []Column) []Column {
	columns = append(columns,
		Column{Name: "rank", Type: TypeInt64, Nullable: s.Shape != ShapeNested, field: fieldRank},
		Column{Name: "value", Nullable: true, field: fieldValue},
		Column{Name: "category_id", Nullable: true, field: fieldCategoryID})
	if s.NAICS != "" {
		columns = append(columns, Column{Name: "title", Nullable: true, field: fieldTitle})
	}
	columns = append(columns, Column{Name: "confidence", Type: TypeDouble, Nullable: true, field: fieldConfidence})
	for k := range s.levels() {
		columns = append(columns, Column{Name: fmt.Sprintf("level_%d", k+1), Nullable: true, field: fieldLevel, index: k})
	}
	return columns
}

// appendCarried appends the carried columns with unique names. Names that differ only in case are equal, as in Spark,
// DuckDB and BigQuery. A column without a name is named after its position.
func (s Schema) appendCarried(columns []Column) []Column {
	taken := make(map[string]int) // lower-case name to the number of alternatives tried
	for _, c := range columns {
		taken[c.Name] = 0
		for _, e := range c.Elements { // so that carried columns have the same names in all shapes
			taken[e.Name] = 0
		}
	}
	for i, name := range s.Carry {
		if name = validUTF8(name); name == "" {
			name = fmt.Sprintf("input_%d", i+1)
		}
		name = freeName(taken, name)
		column := Column{Name: name, Nullable: true, field: fieldCarried, index: i}
		if i < len(s.CarryTypes) {
			t := s.CarryTypes[i].orText()
			column.Type, column.Precision, column.Scale = t.Type, t.Precision, t.Scale
		}
		columns = append(columns, column)
	}
	return columns
}

// freeName returns name, or its first alternative that is not taken, and takes it.
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

// alternative returns the n-th alternative name of a carried column. After three prefixes it uses a number, which keeps
// names short for a header that repeats a name thousands of times.
func alternative(name string, n int) string {
	if n <= 3 {
		return strings.Repeat("input_", n) + name
	}
	return fmt.Sprintf("input_%s_%d", name, n)
}

// ValueType is the type of a carried column.
func (c *Column) ValueType() ValueType { return ValueType{c.Type, c.Precision, c.Scale} }

// isNAICS reports whether the values of a classification are NAICS codes.
func (s Schema) isNAICS(classification string) bool {
	return s.NAICS != "" && s.NAICS == classification
}

// levels returns s.Levels within its bounds.
func (s Schema) levels() int { return min(max(s.Levels, 0), MaxLevels) }

// categorical reports whether the values of the column depend on the category.
func (c Column) categorical() bool {
	return c.scope() == scopeCategory
}

// repetitive reports whether the column has few distinct values for any number of rows.
func (c Column) repetitive() bool {
	switch c.field {
	case fieldStatus, fieldClassification, fieldSource:
		return true
	default:
		return c.categorical()
	}
}
