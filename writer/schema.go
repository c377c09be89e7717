package writer

import (
	"fmt"
	"strings"
)

// MaxLevels bounds Schema.Levels. Taxonomies in use are seldom deeper than seven levels; twenty
// leaves room and keeps a mistyped number from making a thousand empty columns.
const MaxLevels = 20

// Schema says which columns the rows have. The zero value has the columns every output has.
type Schema struct {
	Levels        int      // number of level_N columns; below 0 counts as 0, above MaxLevels as MaxLevels
	NAICS         string   // the classification whose values are NAICS codes; "" for none. Only codes have titles
	SourceColumns bool     // add source and answered_at, which vary from run to run
	Carry         []string // the input's own columns to carry along, named as in the input
}

// Column is one column of the output.
type Column struct {
	Name     string
	Type     Type
	Nullable bool

	field field
	index int // into Row.Levels or Row.Fields
}

// Type is the type of a column's values.
type Type int

// The types of columns.
const (
	TypeString    Type = iota // UTF-8 text; the empty string is null
	TypeInt64                 // a whole number
	TypeDouble                // an IEEE 754 double, always finite
	TypeTimestamp             // a time in UTC, in microseconds; RFC 3339 in the text formats
)

// field is the member of Row that a column shows.
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
)

// scope is what decides on what a column shows.
type scope int

const (
	scopeRecord   scope = iota // the same in all rows of a record
	scopeEntry                 // of one entry of the answer
	scopeCategory              // the same wherever the category is named
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

// Columns lists the columns in their order in the output: record, input, status, classification, rank,
// value, category_id, title if there are NAICS codes, confidence, level_1 to level_N, error, then source
// and answered_at if asked for, then the carried ones.
func (s Schema) Columns() []Column {
	columns := []Column{
		{Name: "record", Type: TypeInt64, field: fieldRecord},
		{Name: "input", Nullable: true, field: fieldInput},
		{Name: "status", field: fieldStatus},
		{Name: "classification", field: fieldClassification},
		{Name: "rank", Type: TypeInt64, Nullable: true, field: fieldRank},
		{Name: "value", Nullable: true, field: fieldValue},
		{Name: "category_id", Nullable: true, field: fieldCategoryID},
	}
	if s.NAICS != "" {
		columns = append(columns, Column{Name: "title", Nullable: true, field: fieldTitle})
	}
	columns = append(columns, Column{Name: "confidence", Type: TypeDouble, Nullable: true, field: fieldConfidence})
	for k := range s.levels() {
		columns = append(columns, Column{Name: fmt.Sprintf("level_%d", k+1), Nullable: true, field: fieldLevel, index: k})
	}
	columns = append(columns, Column{Name: "error", Nullable: true, field: fieldError})
	if s.SourceColumns {
		columns = append(columns,
			Column{Name: "source", Nullable: true, field: fieldSource},
			Column{Name: "answered_at", Type: TypeTimestamp, Nullable: true, field: fieldAnsweredAt})
	}
	return s.appendCarried(columns)
}

// appendCarried adds the carried columns, each under a name no other column has. Names that differ
// only in case count as equal, since Spark, DuckDB and BigQuery do not tell them apart. A column
// without a name is called after its place.
func (s Schema) appendCarried(columns []Column) []Column {
	taken := make(map[string]int) // lower-case name to the number of other names tried for it
	for _, c := range columns {
		taken[c.Name] = 0
	}
	for i, name := range s.Carry {
		if name = validUTF8(name); name == "" {
			name = fmt.Sprintf("input_%d", i+1)
		}
		name = freeName(taken, name)
		columns = append(columns, Column{Name: name, Nullable: true, field: fieldCarried, index: i})
	}
	return columns
}

// freeName takes name, or the first of its alternatives that is free.
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

// alternative is the n-th other name for a carried column. Prefixes alone would grow without bound
// where a header repeats a name thousands of times.
func alternative(name string, n int) string {
	if n <= 3 {
		return strings.Repeat("input_", n) + name
	}
	return fmt.Sprintf("input_%s_%d", name, n)
}

// isNAICS says whether the values of a classification are NAICS codes.
func (s Schema) isNAICS(classification string) bool {
	return s.NAICS != "" && s.NAICS == classification
}

// levels is s.Levels within its bounds.
func (s Schema) levels() int { return min(max(s.Levels, 0), MaxLevels) }

// categorical tells whether the column shows categories.
func (c Column) categorical() bool {
	return c.scope() == scopeCategory
}

// repetitive tells whether few distinct values are expected in the column, however many rows there are.
func (c Column) repetitive() bool {
	switch c.field {
	case fieldStatus, fieldClassification, fieldSource:
		return true
	default:
		return c.categorical()
	}
}
