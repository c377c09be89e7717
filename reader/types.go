package reader

// Column is a column with the type of its values.
type Column struct {
	Name string
	Type Type

	Precision int // of TypeDecimal: digits
	Scale     int // of TypeDecimal: digits after the point; of TypeTimestamp and TypeDateTime: decimals of a second
}

// Type is the type of a column's values. Fields hold values as text, in one form per type.
type Type int

// The types of columns.
const (
	TypeString    Type = iota // text; the type of every column of CSV and Excel
	TypeInt64                 // decimal digits, perhaps after a minus sign
	TypeDouble                // a decimal number: in JSON as written, else the shortest for the IEEE 754 double; NaN, +Inf, -Inf
	TypeBool                  // true or false
	TypeTimestamp             // an instant in UTC, RFC 3339, up to nanoseconds: 2026-01-02T03:04:05.6Z
	TypeDateTime              // a time without a zone: 2026-01-02T03:04:05.6
	TypeDate                  // 2026-01-02
	TypeDecimal               // digits with Scale digits after a point
	TypeJSON                  // compact JSON: an object or an array
)

// typeNull is the type of a column whose first values are all null. It becomes text unless another file has values.
const typeNull Type = -1

// common returns the common type of two columns or values. Whole numbers and doubles are doubles, times have the finer unit, and
// other pairs of different types are text.
func common(a, b Column) Column {
	isNumber := func(c Column) bool { return c.Type == TypeInt64 || c.Type == TypeDouble }
	isTime := func(c Column) bool { return c.Type == TypeTimestamp || c.Type == TypeDateTime }
	switch {
	case a == b || b.Type == typeNull:
		return a
	case a.Type == typeNull:
		return b
	case isNumber(a) && isNumber(b):
		return Column{Name: a.Name, Type: TypeDouble}
	case isTime(a) && a.Type == b.Type:
		return Column{Name: a.Name, Type: a.Type, Scale: max(a.Scale, b.Scale)}
	}
	return Column{Name: a.Name}
}
