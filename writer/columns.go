package writer

import (
	"fmt"
	"math"
	"time"
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
	ColumnAnsweredAt
	NumColumns // the number of the columns above

	ColumnCategories // the list of ShapeNested, which has the columns of the category
	ColumnCarried    // of the input
)

// definition is what all parts of bulkcat know about a column: the schema, the encoders, the readers of outputs, and
// the table in cmd/bulkcat/guide/tables.md. A new column is an identifier above, an entry here, and a member of Row.
type definition struct {
	id         ColumnID
	name       string // of a numbered column, before the number
	scope      scope
	required   bool               // never null; the texts of other columns are null if they are empty
	inList     bool               // never null in a struct of a list
	repetitive bool               // few distinct values for any number of rows, which suits a dictionary
	unbounded  bool               // Parquet has no bounds of pages: every page has nearly all values
	option     *option            // on which the column depends; nil for none
	also       func(*Schema) bool // has the column without its option; nil for never, and OwnColumns takes it for a carried column
	about      string             // for the guide

	// One of these returns the value in a row, and so says the type. Zero is null if the column is not required.
	text  func(*Row) *string
	texts func(*Row) *[]string // of numbered columns
	whole func(*Row) *int64
	real  func(*Row) *float64 // NaN is null
	time  func(*Row) *time.Time
}

// scope is the thing that determines the value of a column.
type scope int

const (
	scopeRecord   scope = iota // the record: equal in all of its rows
	scopeEntry                 // the entry
	scopeCategory              // the category: equal in all entries with it
)

// option is a part of a schema on which columns depend.
type option struct {
	has func(*Schema) bool
	set func(*Schema) // sets it in the schema of an output whose columns are known: see OwnColumns
}

var (
	withTitles  = &option{func(s *Schema) bool { return s.Titles }, func(s *Schema) { s.Titles = true }}
	withLocals  = &option{func(s *Schema) bool { return s.Locals }, func(s *Schema) { s.Locals = true }}
	withSources = &option{func(s *Schema) bool { return s.SourceColumns }, func(s *Schema) { s.SourceColumns = true }}
)

// definitions are in the order of the output. The columns of the category are adjacent.
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
		option: withSources, also: func(s *Schema) bool { return s.Sources },
		about: "the service that has answered, or the model (only with `--free`, and with `--source-columns`, for it differs from run to run)",
	}, {
		id: ColumnAnsweredAt, name: "answered_at", time: func(r *Row) *time.Time { return &r.AnsweredAt },
		option: withSources,
		about:  "when the service has answered (only with `--source-columns`, for it differs from run to run)",
	},
}

// The definitions of columns that are not columns of each row.
var (
	categoriesDefinition = definition{id: ColumnCategories, name: "categories", required: true}
	carriedDefinition    = definition{id: ColumnCarried, texts: func(r *Row) *[]string { return &r.Fields }}
)

// column returns a column of a definition, and the index of a numbered one.
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
		c.Type = TypeTimestamp
	case d.id == ColumnLevel:
		c.Name = fmt.Sprintf("%s%d", d.name, index+1)
	}
	return c
}

// isIn reports whether a row has a value of the column's scope: rows without a category have a confidence of 0.
func (d *definition) isIn(r *Row) bool { return d.scope == scopeRecord || r.Rank != 0 }

// isText reports whether the values are text in a row.
func (c *Column) isText() bool { return c.text != nil || c.texts != nil }

// textOf returns the value of a text column; "" is null.
func (c *Column) textOf(r *Row) string {
	if c.texts != nil {
		return at(*c.texts(r), c.index)
	}
	return *c.text(r)
}

// wholeOf returns the value of a column of whole numbers; ok is false for null.
func (c *Column) wholeOf(r *Row) (n int64, ok bool) {
	n = *c.whole(r)
	return n, n != 0 || c.required
}

// realOf returns the value of a column of doubles; ok is false for null.
func (c *Column) realOf(r *Row) (x float64, ok bool) {
	x = *c.real(r)
	return x, c.isIn(r) && !math.IsNaN(x)
}

// timeOf returns the value of a column of times; ok is false for null.
func (c *Column) timeOf(r *Row) (t time.Time, ok bool) {
	t = *c.time(r)
	return t, !t.IsZero()
}

// carriedOf returns the value of a carried column; ok is false for null.
func (c *Column) carriedOf(r *Row) (text string, ok bool) {
	text = at(r.Fields, c.index)
	if c.index < len(r.Nulls) {
		return text, !r.Nulls[c.index]
	}
	return text, text != ""
}

// textSize returns the approximate number of bytes of the string columns, in which levels repeat the value.
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

// sizeOf is the part of textSize for the columns of the category, or for those and the columns of the record.
func (r *Row) sizeOf(category bool) int {
	n := len(r.Value) // the levels
	for i := range definitions {
		if d := &definitions[i]; d.text != nil && (d.scope != scopeRecord || !category) {
			n += len(*d.text(r))
		}
	}
	return n
}

// isOfRecord reports whether two rows are equal in all columns of the record. It may return false for equal rows.
func (r *Row) isOfRecord(other *Row) bool {
	for i := range definitions {
		d := &definitions[i]
		if d.scope != scopeRecord {
			continue
		}
		switch {
		case d.text != nil && *d.text(r) != *d.text(other),
			d.whole != nil && *d.whole(r) != *d.whole(other),
			d.real != nil && *d.real(r) != *d.real(other),
			d.time != nil && !d.time(r).Equal(*d.time(other)):
			return false
		}
	}
	return len(r.Fields) == len(other.Fields) && (len(r.Fields) == 0 || &r.Fields[0] == &other.Fields[0])
}
