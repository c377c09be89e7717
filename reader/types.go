package reader

// Column is a column of the run with the type of its values.
type Column struct {
	Name string
	Type Type

	Precision, Scale int // of TypeDecimal: digits, and digits after the point
}

// Type is the type of a column's values. Fields hold them as text in one form per type, so that the text and the type
// are the value.
type Type int

// The types of columns.
const (
	TypeString    Type = iota // text; the type of every column of CSV and Excel
	TypeInt64                 // decimal digits, perhaps after a minus sign
	TypeDouble                // the shortest decimal that is the same IEEE 754 double; NaN, +Inf, -Inf
	TypeBool                  // true or false
	TypeTimestamp             // an instant in UTC, RFC 3339, up to nanoseconds: 2026-01-02T03:04:05.6Z
	TypeDateTime              // a time without a zone: 2026-01-02T03:04:05.6
	TypeDate                  // 2026-01-02
	TypeDecimal               // digits with Scale digits after a point
	TypeJSON                  // compact JSON: an object or an array
)

// common returns the type of a column that two files have: of different types, text.
func common(a, b Column) Column {
	if a == b {
		return a
	}
	return Column{Name: a.Name}
}
