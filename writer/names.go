package writer

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// OwnColumns returns the columns of an output with the given column names, except its carried columns. The list of ShapeNested
// has all possible members. A name of an optional column counts only if all columns of its option follow: otherwise it is a
// carried column. The error says which column is missing.
func OwnColumns(names []string) ([]Column, error) {
	var s Schema
	at := 0
	has := func(name string) bool { return at < len(names) && names[at] == name }
	for i := range definitions {
		d := &definitions[i]
		if d.scope != scopeRecord && s.Shape == "" && has(categoriesDefinition.name) {
			s = Schema{Form: Form{Shape: ShapeNested, Language: someLanguage, Levels: MaxLevels}, Titles: true}
			at++
		}
		if d.scope != scopeRecord && s.Shape == ShapeNested {
			continue
		}
		if d.texts != nil {
			for s.Levels < MaxLevels && has(d.column(s.Levels).Name) {
				s.Levels++
				at++
			}
			continue
		}
		if o := d.option; o != nil && !o.has(&s) && optionIn(o, definitions[i:], names[at:]) {
			o.set(&s)
		}
		if d.option != nil && !d.option.has(&s) {
			continue
		}
		if !has(d.name) {
			return nil, fmt.Errorf("not an output of bulkcat: column %d is not %q", at+1, d.name)
		}
		at++
	}
	return s.Columns(), nil
}

// optionIn reports whether names begins with the names of all columns of an option.
func optionIn(o *option, from []definition, names []string) bool {
	for n := 0; n < len(from) && from[n].option == o; n++ {
		if n >= len(names) || names[n] != from[n].name {
			return false
		}
	}
	return true
}

// Set sets the value of a column in a row from its text in CSV; "" is null. Set the levels of a row in their order. The error
// says that a number or a time is malformed.
func (c *Column) Set(r *Row, text string) (err error) {
	switch {
	case c.texts != nil:
		*c.texts(r) = append(*c.texts(r), text)
	case c.text != nil:
		*c.text(r) = text
	case text == "":
		if c.real != nil {
			*c.real(r) = math.NaN()
		}
	case c.whole != nil:
		*c.whole(r), err = strconv.ParseInt(text, 10, 64)
	case c.time != nil:
		*c.time(r), err = time.Parse(time.RFC3339Nano, text)
	case c.real != nil:
		*c.real(r), err = strconv.ParseFloat(text, 64)
	}
	if err != nil {
		err = fmt.Errorf("column %s: %w", c.Name, err)
	}
	return err
}
