package writer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
)

// ValueType is the type of a column's values.
//
// In a carried column, the values are text, in one form for each type: decimal digits (TypeInt64 and TypeDouble; also NaN, +Inf and
// -Inf), true and false (TypeBool), RFC 3339 times in UTC (TypeTimestamp) or without a zone (TypeDateTime), 2026-01-02 (TypeDate),
// and digits with Scale digits after the point (TypeDecimal). CSV contains the text. JSONL contains a number or a boolean if the
// type is a number or a boolean and the text fits, and else a string. Parquet contains a value of the type, or null if the text
// does not fit the type.
type ValueType struct {
	Type      Type
	Precision int // of TypeDecimal: digits
	Scale     int // of TypeDecimal: digits after the point; of TypeTimestamp and TypeDateTime: decimals of a second
}

// maxPrecision is the precision of Arrow's longest decimal.
const maxPrecision = 76

// orText returns t, or the type text if no format supports t.
func (t ValueType) orText() ValueType {
	switch t.Type {
	case TypeInt64, TypeDouble, TypeBool, TypeDate:
		return ValueType{Type: t.Type}
	case TypeTimestamp, TypeDateTime:
		if t.Scale == 3 || t.Scale == 6 || t.Scale == 9 {
			return ValueType{Type: t.Type, Scale: t.Scale}
		}
	case TypeDecimal:
		if 0 <= t.Scale && t.Scale <= t.Precision && 1 <= t.Precision && t.Precision <= maxPrecision {
			return t
		}
	}
	return ValueType{}
}

var typeNames = map[Type]string{
	TypeString: "text", TypeInt64: "int64", TypeDouble: "double", TypeBool: "bool", TypeDate: "date",
	TypeTimestamp: "timestamp", TypeDateTime: "datetime", TypeDecimal: "decimal",
}

// String returns a name such as int64, decimal(12,2) or timestamp(6).
func (t ValueType) String() string {
	name := cmp.Or(typeNames[t.Type], "text")
	switch t.Type {
	case TypeTimestamp, TypeDateTime:
		name += fmt.Sprintf("(%d)", t.Scale)
	case TypeDecimal:
		name += fmt.Sprintf("(%d,%d)", t.Precision, t.Scale)
	}
	return name
}

// MarshalText returns the name of the type.
func (t ValueType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText parses the name of a type.
func (t *ValueType) UnmarshalText(text []byte) error {
	name, numbers, _ := strings.Cut(string(text), "(")
	var v ValueType
	for of, known := range typeNames {
		if known == name {
			v.Type = of
		}
	}
	switch v.Type {
	case TypeTimestamp, TypeDateTime:
		_, _ = fmt.Sscanf(numbers, "%d)", &v.Scale)
	case TypeDecimal:
		_, _ = fmt.Sscanf(numbers, "%d,%d)", &v.Precision, &v.Scale)
	}
	if *t = v.orText(); t.String() != string(text) {
		return fmt.Errorf("%q is no type of a carried column", text)
	}
	return nil
}

// Fits reports whether text is a value of the type. Parquet stores other text as null.
func (t ValueType) Fits(text string) bool {
	_, fits := t.parse(text)
	return fits
}

// parse returns the Parquet value of a text; false if the text does not fit the type.
func (t ValueType) parse(text string) (v parquet.Value, fits bool) {
	switch t.Type {
	case TypeInt64:
		n, err := strconv.ParseInt(text, 10, 64)
		return parquet.Int64Value(n), err == nil
	case TypeDouble:
		x, fits := parseDouble(text)
		return parquet.DoubleValue(x), fits
	case TypeBool:
		return parquet.BooleanValue(text == "true"), text == "true" || text == "false"
	case TypeDate:
		at, err := time.Parse(time.DateOnly, text)
		return parquet.Int32Value(int32(at.Unix() / (24 * 60 * 60))), err == nil
	case TypeTimestamp:
		n, fits := parseTime("2006-01-02T15:04:05Z", text, t.Scale)
		return parquet.Int64Value(n), fits
	case TypeDateTime:
		n, fits := parseTime("2006-01-02T15:04:05", text, t.Scale)
		return parquet.Int64Value(n), fits
	case TypeDecimal:
		return t.parseDecimal(text)
	}
	return stringValue(text), true
}

// doubleDigits is the most significant digits of the shortest decimal of a double.
const doubleDigits = 17

// parseDouble parses a number with at most doubleDigits digits, which a double represents up to rounding.
func parseDouble(text string) (float64, bool) {
	switch text {
	case "NaN", "+Inf", "-Inf":
		x, err := strconv.ParseFloat(text, 64)
		return x, err == nil
	}
	mantissa := text
	if end := strings.IndexAny(text, "eE"); end >= 0 {
		mantissa = text[:end]
	}
	mantissa = strings.Trim(mantissa, "-0.")
	if len(mantissa)-strings.Count(mantissa, ".") > doubleDigits || !isNumber(text) {
		return 0, false
	}
	x, err := strconv.ParseFloat(text, 64)
	return x, err == nil
}

// parseTime returns a time in units of 10^-scale seconds since 1970; false if it has finer digits, or is out of range.
func parseTime(layout, text string, scale int) (n int64, fits bool) {
	at, err := time.Parse(layout, text)
	if err != nil {
		return 0, false
	}
	switch scale {
	case 3:
		return at.UnixMilli(), at.Nanosecond()%int(time.Millisecond) == 0
	case 6:
		return at.UnixMicro(), at.Nanosecond()%int(time.Microsecond) == 0
	}
	return at.UnixNano(), time.Unix(0, at.UnixNano()).Equal(at)
}

// parseDecimal parses digits with Scale digits after the point.
func (t ValueType) parseDecimal(text string) (v parquet.Value, fits bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	digits := strings.TrimLeft(strings.TrimPrefix(whole, "-")+fraction, "0")
	if len(fraction) != t.Scale || len(digits) > t.Precision || !isNumber(text) {
		return v, false
	}
	if t.Precision > maxInt64Digits {
		n, _ := new(big.Int).SetString(whole+fraction, 10)
		size := decimalBytes(t.Precision)
		if n.Sign() < 0 { // two's complement
			n.Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
		}
		return parquet.FixedLenByteArrayValue(n.FillBytes(make([]byte, size))), true
	}
	n, err := strconv.ParseInt(whole+fraction, 10, 64)
	if t.Precision > maxInt32Digits {
		return parquet.Int64Value(n), err == nil
	}
	return parquet.Int32Value(int32(n)), err == nil
}

// The digits of the decimals that Parquet stores in 4 and in 8 bytes.
const (
	maxInt32Digits = 9
	maxInt64Digits = 18
)

// decimalBytes returns the size in bytes of longer decimals.
func decimalBytes(precision int) int {
	return int(math.Ceil((float64(precision)*math.Log2(10) + 1) / 8))
}

// newNode returns the Parquet type and encoding.
func (t ValueType) newNode() parquet.Node {
	delta := func(n parquet.Node) parquet.Node { return parquet.Encoded(n, &parquet.DeltaBinaryPacked) }
	plain := func(n parquet.Node) parquet.Node { return parquet.Encoded(n, &parquet.Plain) }
	switch t.Type {
	case TypeInt64:
		return delta(parquet.Leaf(parquet.Int64Type))
	case TypeDouble:
		return plain(parquet.Leaf(parquet.DoubleType))
	case TypeBool:
		return plain(parquet.Leaf(parquet.BooleanType))
	case TypeDate:
		return delta(parquet.Date())
	case TypeTimestamp, TypeDateTime:
		units := map[int]parquet.TimeUnit{3: parquet.Millisecond, 6: parquet.Microsecond, 9: parquet.Nanosecond}
		return delta(parquet.TimestampAdjusted(units[t.Scale], t.Type == TypeTimestamp))
	case TypeDecimal:
		switch {
		case t.Precision <= maxInt32Digits:
			return delta(parquet.Decimal(t.Scale, t.Precision, parquet.Int32Type))
		case t.Precision <= maxInt64Digits:
			return delta(parquet.Decimal(t.Scale, t.Precision, parquet.Int64Type))
		}
		return plain(parquet.Decimal(t.Scale, t.Precision, parquet.FixedLenByteArrayType(decimalBytes(t.Precision))))
	}
	return plain(parquet.Leaf(textType{parquet.String().Type()}))
}

// unordered reports whether the Parquet library's bounds may be wrong: it ignores NaN only in some orders of the values, and
// compares long decimals as unsigned bytes.
func (t ValueType) unordered() bool {
	return t.Type == TypeDouble || t.Type == TypeDecimal && t.Precision > maxInt64Digits
}

// appendCarriedJSON appends the value of a carried column as JSON. A number keeps its digits.
func appendCarriedJSON(dst []byte, row *Row, c *Column) []byte {
	text, ok := c.carriedOf(row)
	if !ok {
		return append(dst, "null"...)
	}
	bare := false
	switch c.Type {
	case TypeInt64, TypeDouble, TypeDecimal:
		bare = isNumber(text)
	case TypeBool:
		bare = text == "true" || text == "false"
	}
	if bare {
		return append(dst, text...)
	}
	return appendString(dst, text)
}

// isNumber reports whether text is a JSON number (RFC 8259 §6): a value that begins like a number, without white space after it.
func isNumber(text string) bool {
	return strings.IndexAny(text, "-0123456789") == 0 && text == strings.TrimSpace(text) && json.Valid([]byte(text))
}
