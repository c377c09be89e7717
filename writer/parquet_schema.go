package writer

import (
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// recordNode is the root of a Parquet schema, or the struct in a list. Unlike parquet.Group, it keeps the order of the
// columns.
type recordNode struct {
	parquet.Group // empty: provides the other methods
	fields        []parquet.Field
}

func newRecordNode(columns []Column) parquet.Node {
	n := recordNode{fields: make([]parquet.Field, len(columns))}
	for i, c := range columns {
		n.fields[i] = columnField{newColumnNode(c), c.Name}
	}
	return n
}

// Fields overrides the method of parquet.Group, which sorts the fields by name.
func (n recordNode) Fields() []parquet.Field { return n.fields }

type columnField struct {
	parquet.Node
	name string
}

func (f columnField) Name() string { return f.name }

// Value is unused, because values do not come from Go structs.
func (columnField) Value(reflect.Value) reflect.Value { return reflect.Value{} }

// newColumnNode returns the type and the encoding of a column. Whole numbers and times are delta-encoded, because they increase
// slowly. Dictionaries are for repetitive columns: for other columns, the library would fill and then abandon them.
func newColumnNode(c Column) parquet.Node {
	var n parquet.Node
	switch {
	case c.Type == TypeList:
		n = parquet.List(newRecordNode(c.Elements))
	case c.repetitive:
		n = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	default:
		n = c.newNode()
	}
	if c.Nullable {
		n = parquet.Optional(n)
	}
	return n
}

// leaf is a column of values in the file. A list has a leaf for each member of its structs.
type leaf struct {
	Column
	path   []string
	ofList bool
}

func leavesOf(columns []Column) []leaf {
	var leaves []leaf
	for _, c := range columns {
		if c.Type != TypeList {
			leaves = append(leaves, leaf{Column: c, path: []string{c.Name}})
		}
		for _, e := range c.Elements {
			leaves = append(leaves, leaf{Column: e, path: []string{c.Name, "list", "element", e.Name}, ofList: true})
		}
	}
	return leaves
}
