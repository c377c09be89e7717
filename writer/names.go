package writer

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// ListPrefix begins the names of the columns of a category in the list of ShapeNested, in the names of SchemaOf.
const ListPrefix = "categories."

// Names returns the names of the columns; those in a list begin with ListPrefix.
func (s Schema) Names() []string {
	var names []string
	for _, c := range s.Leaves() {
		names = append(names, c.Name)
	}
	return names
}

// Leaves returns Columns, with the columns of the structs in a list in place of the list. Their names begin with
// ListPrefix.
func (s Schema) Leaves() []Column {
	var leaves []Column
	for _, c := range s.Columns() {
		if c.Type != TypeList {
			leaves = append(leaves, c)
		}
		for _, e := range c.Elements {
			e.Name = ListPrefix + e.Name
			leaves = append(leaves, e)
		}
	}
	return leaves
}

// SchemaOf returns the schema of an output whose columns have these names, as Schema.Names returns them, without its
// carried columns. It also returns the number of the columns that are not carried. The error says which column is
// missing. A column of the input may have the name of an optional column that the output lacks.
func SchemaOf(names []string) (s Schema, own int, err error) {
	at := 0
	prefix := ""
	has := func(name string) bool { return at < len(names) && names[at] == name }
	for i := range definitions {
		d := &definitions[i]
		if prefix = ""; d.scope != scopeRecord {
			if at < len(names) && strings.HasPrefix(names[at], ListPrefix) {
				s.Shape = ShapeNested
			}
			if s.Shape == ShapeNested {
				prefix = ListPrefix
			}
		}
		if d.texts != nil {
			for s.Levels < MaxLevels && has(prefix+d.column(s.Levels).Name) {
				s.Levels++
				at++
			}
			continue
		}
		if o := d.option; o != nil && !o.has(&s) && optionIn(o, definitions[i:], names[at:], prefix) {
			o.set(&s)
		}
		if d.option != nil && !d.option.has(&s) {
			continue
		}
		if !has(prefix + d.name) {
			return s, at, fmt.Errorf("not an output of bulkcat: column %d is not %q", at+1, d.name)
		}
		at++
	}
	return s, at, nil
}

// optionIn reports whether all columns of an option are the first names.
func optionIn(o *option, from []definition, names []string, prefix string) bool {
	for n := 0; n < len(from) && from[n].option == o; n++ {
		if n >= len(names) || names[n] != prefix+from[n].name {
			return false
		}
	}
	return true
}

// OfRecord reports whether the value of the column is the same in all rows of a record.
func (c *Column) OfRecord() bool { return c.scope == scopeRecord }

// Set sets the value of a column in a row to that of a text as CSV has it; malformed text is null. The levels of a row
// are set in their order.
func (c *Column) Set(r *Row, text string) {
	switch {
	case c.texts != nil:
		*c.texts(r) = append(*c.texts(r), text)
	case c.text != nil:
		*c.text(r) = text
	case c.whole != nil:
		*c.whole(r), _ = strconv.ParseInt(text, 10, 64)
	case c.time != nil:
		*c.time(r), _ = time.Parse(time.RFC3339Nano, text)
	case c.real != nil:
		x, err := strconv.ParseFloat(text, 64)
		if err != nil {
			x = math.NaN()
		}
		*c.real(r) = x
	}
}
