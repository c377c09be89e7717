package writer

import (
	"reflect"

	"github.com/parquet-go/parquet-go"
)

// recordNode is the root of a Parquet schema. Unlike parquet.Group it keeps the columns in their order.
type recordNode struct {
	parquet.Group // without members: what every group answers alike
	fields        []parquet.Field
}

func newRecordNode(columns []Column) parquet.Node {
	n := recordNode{fields: make([]parquet.Field, len(columns))}
	for i, c := range columns {
		n.fields[i] = columnField{newColumnNode(c), c.Name}
	}
	return n
}

// Fields replaces that of parquet.Group, which sorts by name.
func (n recordNode) Fields() []parquet.Field { return n.fields }

// columnField is a column under its name.
type columnField struct {
	parquet.Node
	name string
}

func (f columnField) Name() string { return f.name }

// Value has nothing to give: values are written to the columns, not taken from Go structs.
func (columnField) Value(reflect.Value) reflect.Value { return reflect.Value{} }

// newTextNode is parquet.String with bounds of bounded length.
func newTextNode() parquet.Node { return parquet.Leaf(textType{parquet.String().Type()}) }

// newColumnNode gives type and encoding of a column. Whole numbers rise with the rows, by little, which
// suits delta encoding. Dictionaries pay where values repeat; elsewhere they would only be filled, grow
// large, and be given up.
func newColumnNode(c Column) parquet.Node {
	var n parquet.Node
	switch {
	case c.Type == TypeInt64:
		n = parquet.Encoded(parquet.Leaf(parquet.Int64Type), &parquet.DeltaBinaryPacked)
	case c.Type == TypeTimestamp:
		n = parquet.Encoded(parquet.Timestamp(parquet.Microsecond), &parquet.DeltaBinaryPacked)
	case c.Type == TypeDouble:
		n = parquet.Encoded(parquet.Leaf(parquet.DoubleType), &parquet.Plain)
	case c.repetitive():
		n = parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
	default:
		n = parquet.Encoded(newTextNode(), &parquet.Plain)
	}
	if c.Nullable {
		n = parquet.Optional(n)
	}
	return n
}
