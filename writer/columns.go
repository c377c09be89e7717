package writer

import (
	"fmt"
	"math"
	"time"

	"github.com/parquet-go/parquet-go"
)

// ColumnID identifies a column that bulkcat defines.
type ColumnID uint8

// The columns, in the order of the output.
const (
	ColumnRecord ColumnID = iota
	ColumnInput
	ColumnStatus
	ColumnClassification
	ColumnRank
	ColumnValue
	ColumnCategoryID
	ColumnValueLocal
	ColumnTitle
	ColumnConfidence
	ColumnLevel // level_1, level_2, ...
	ColumnError
	ColumnSource
	ColumnBasis
	ColumnAnsweredAt
	NumColumns // number of the columns above

	ColumnCategories // the list of ShapeNested
	ColumnCarried    // of the input
)

// definition defines a column for the schema, the encoders, the readers of outputs, and the table in
// cmd/bulkcat/guide/tables.md. A new column needs an identifier above, a definition below, and a field of Row.
type definition struct {
	id            ColumnID
	name          string // for a numbered column, the part before the number
	scope         scope
	required      bool               // never null; in other columns, empty text is null
	inList        bool               // never null in the list of ShapeNested
	repetitive    bool               // few distinct values in any number of rows: Parquet uses a dictionary
	unbounded     bool               // Parquet pages have no bounds: each page has nearly all values
	option        *option            // the option that adds the column; nil if every schema has it
	withoutOption func(*Schema) bool // reports whether a schema has the column without its option; nil for never. OwnColumns ignores it
	about         string             // for the guide

	// One of these functions returns the value in a row, and determines the type. A zero value is null unless required is set.
	text  func(*Row) *string
	texts func(*Row) *[]string // of numbered columns
	whole func(*Row) *int64
	real  func(*Row) *float64 // NaN is null
	time  func(*Row) *time.Time
}

// scope is what a column describes.
type scope int

const (
	scopeRecord   scope = iota // the record: all of its rows have the same value
	scopeEntry                 // the entry
	scopeCategory              // the category: all of its entries have the same value
)

// option is a field of Schema that adds columns.
type option struct {
	has func(*Schema) bool
	set func(*Schema) // sets the field; for OwnColumns
}

// someLanguage stands for the language of an output of which only the columns are known.
const someLanguage = "und"

var (
	withTitles  = &option{func(s *Schema) bool { return s.Titles }, func(s *Schema) { s.Titles = true }}
	withLocals  = &option{func(s *Schema) bool { return s.Language != "" }, func(s *Schema) { s.Language = someLanguage }}
	withSources = &option{func(s *Schema) bool { return s.SourceColumns }, func(s *Schema) { s.SourceColumns = true }}
)

// definitions are in the order of the output. The columns that are not of scopeRecord are adjacent.
var definitions = [NumColumns]definition{
	{
		id: ColumnRecord, name: "record", required: true, whole: func(r *Row) *int64 { return &r.Record },
		about: "number of the input record, from 1",
	}, {
		id: ColumnInput, name: "input", text: func(r *Row) *string { return &r.Input },
		about: "the input as read",
	}, {
		id: ColumnStatus, name: "status", required: true, repetitive: true, text: func(r *Row) *string { return (*string)(&r.Status) },
		about: "`ok`, `empty` (the service knows no category, or none has `--min-confidence`), `rejected` (the service refuses this input), `failed` (all attempts failed; the next run asks again), `invalid` (the input cannot be asked), `blank` (the record has no input), `pending` (not asked yet, with `--partial`)",
	}, {
		id: ColumnClassification, name: "classification", required: true, repetitive: true, text: func(r *Row) *string { return &r.Classification },
		about: "`taxonomy_v3`, `naics`, `product_taxonomy` or a custom one",
	}, {
		id: ColumnRank, name: "rank", scope: scopeEntry, inList: true, whole: func(r *Row) *int64 { return &r.Rank },
		about: "position in the answer, from 1",
	}, {
		id: ColumnValue, name: "value", scope: scopeCategory, repetitive: true, unbounded: true, text: func(r *Row) *string { return &r.Value },
		about: "the path of the category, or the code of the industry",
	}, {
		id: ColumnCategoryID, name: "category_id", scope: scopeCategory, repetitive: true, unbounded: true, text: func(r *Row) *string { return &r.CategoryID },
		about: "the id of the category in its taxonomy, looked up by its path; for `naics` the code",
	}, {
		id: ColumnValueLocal, name: "value_local", scope: scopeCategory, repetitive: true, unbounded: true, text: func(r *Row) *string { return &r.ValueLocal },
		option: withLocals,
		about:  "the path of the category in the language of `--language`, looked up by its path (only with `--language`)",
	}, {
		id: ColumnTitle, name: "title", scope: scopeCategory, repetitive: true, unbounded: true, text: func(r *Row) *string { return &r.Title },
		option: withTitles,
		about:  "the title of the industry (only with `naics`)",
	}, {
		id: ColumnConfidence, name: "confidence", scope: scopeEntry, real: func(r *Row) *float64 { return &r.Confidence },
		about: "as the service gives it",
	}, {
		id: ColumnLevel, name: "level_", scope: scopeCategory, repetitive: true, unbounded: true, texts: func(r *Row) *[]string { return &r.Levels },
		about: "the levels of the path; for `naics` the first 2, 3, ... digits of the code. `--levels` sets the number; the default is the depth of the taxonomy: 4 for `taxonomy_v3`, 5 for `naics`, 7 for `product_taxonomy`",
	}, {
		id: ColumnError, name: "error", text: func(r *Row) *string { return &r.Error },
		about: "why there is no category",
	}, {
		id: ColumnSource, name: "source", repetitive: true, text: func(r *Row) *string { return &r.Source },
		option: withSources, withoutOption: func(s *Schema) bool { return s.Sources },
		about: "the service that has answered, or the model (only with `--free`, and with `--source-columns`, because it differs from run to run)",
	}, {
		id: ColumnBasis, name: "basis", repetitive: true, text: func(r *Row) *string { return &r.Basis },
		option: withSources,
		about:  "what the answer rests on: `service` (a hosted service), `page` (the page of the website or the product), `name` (the name of the website, or the words of the URL: no page was read), `title` (the title of the product), `model` (the model of `--free`) (only with `--source-columns`)",
	}, {
		id: ColumnAnsweredAt, name: "answered_at", time: func(r *Row) *time.Time { return &r.AnsweredAt },
		option: withSources,
		about:  "when the service has answered (only with `--source-columns`, because it differs from run to run)",
	},
}

// The definitions of ColumnCategories and ColumnCarried.
var (
	categoriesDefinition = definition{id: ColumnCategories, name: "categories", required: true}
	carriedDefinition    = definition{id: ColumnCarried, texts: func(r *Row) *[]string { return &r.Fields }}
)

// column returns the column of a definition. index is the index of a numbered or a carried column.
func (d *definition) column(index int) Column {
	c := Column{ID: d.id, Name: d.name, Nullable: !d.required, definition: d, index: index}
	switch {
	case d == &categoriesDefinition:
		c.Type = TypeList
	case d.whole != nil:
		c.Type = TypeInt64
	case d.real != nil:
		c.Type = TypeDouble
	case d.time != nil:
		c.ValueType = ValueType{Type: TypeTimestamp, Scale: 6} // microseconds, as in valueOf
	case d.id == ColumnLevel:
		c.Name = fmt.Sprintf("%s%d", d.name, index+1)
	}
	return c
}

// isText reports whether a row holds the values as text.
func (c *Column) isText() bool { return c.text != nil || c.texts != nil }

// textOf returns the value of a text column; "" is null.
func (c *Column) textOf(r *Row) string {
	if c.texts != nil {
		return at(*c.texts(r), c.index)
	}
	return *c.text(r)
}

// valueOf returns the value of a column that is not carried, as in Parquet: times are microseconds since 1970. ok is false for
// null. A row without a category has no double.
func (c *Column) valueOf(r *Row) (v parquet.Value, ok bool) {
	switch {
	case c.whole != nil:
		n := *c.whole(r)
		return parquet.Int64Value(n), n != 0 || c.required
	case c.real != nil:
		x := *c.real(r)
		return parquet.DoubleValue(x), r.Rank != 0 && !math.IsNaN(x)
	case c.time != nil:
		at := *c.time(r)
		return parquet.Int64Value(at.UnixMicro()), !at.IsZero()
	}
	text := c.textOf(r)
	return stringValue(text), text != "" || !c.Nullable
}

// carriedOf returns the value of a carried column; ok is false for null.
func (c *Column) carriedOf(r *Row) (text string, ok bool) {
	text = at(r.Fields, c.index)
	if c.index < len(r.Nulls) {
		return text, !r.Nulls[c.index]
	}
	return text, text != ""
}

// textSize returns the approximate size of the string columns in bytes.
func (r *Row) textSize() int {
	n := r.sizeOf(false)
	for _, f := range r.Fields {
		n += len(f)
	}
	for i := range r.Categories {
		n += r.Categories[i].sizeOf(true)
	}
	return n
}

// sizeOf returns the part of textSize for the columns of the record and the entry, or, if category, of the entry only.
func (r *Row) sizeOf(category bool) int {
	n := len(r.Value) // the levels
	for i := range definitions {
		if d := &definitions[i]; d.text != nil && (d.scope != scopeRecord || !category) {
			n += len(*d.text(r))
		}
	}
	return n
}
