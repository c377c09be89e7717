package reader

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// The layouts of times as text.
const (
	formDateTime  = "2006-01-02T15:04:05.999999999"
	formTimestamp = formDateTime + "Z"
	formMinutes   = ":04:05.999999999" // of a time of day, after the hours
)

// setType sets the type and the text form of a leaf. stored is the logical type in the file, which the library may not support.
func (n *node) setType(t parquet.Type, stored format.LogicalTypeValue) {
	n.setPhysical(t.Kind())
	n.bytes = t.Kind() == parquet.ByteArray || t.Kind() == parquet.FixedLenByteArray
	if _, is := stored.(*format.Float16Type); is && t.Kind() == parquet.FixedLenByteArray && t.Length() == 2 {
		n.typ, n.append = TypeDouble, func(text []byte, v parquet.Value) []byte { return appendFloat(text, float16(v.ByteArray()), 64) }
	}
	logical := t.LogicalType()
	if logical == nil {
		n.untyped = n.bytes && n.typ == TypeString
		return
	}
	switch l := logical.Value.(type) {
	case *format.DecimalType:
		n.typ, n.precision, n.scale, n.append = TypeDecimal, int(l.Precision), int(l.Scale), decimalForm(t.Kind(), int(l.Scale))
	case *format.DateType:
		n.typ, n.append = TypeDate, func(text []byte, v parquet.Value) []byte {
			return time.Unix(int64(v.Int32())*86400, 0).UTC().AppendFormat(text, time.DateOnly)
		}
	case *format.TimestampType:
		form := formDateTime
		if n.typ = TypeDateTime; l.IsAdjustedToUTC {
			n.typ, form = TypeTimestamp, formTimestamp
		}
		n.append, n.scale = timeForm(t.Kind(), l.Unit, form), decimalsOf(l.Unit)
	case *format.TimeType:
		n.typ, n.append = TypeString, clockForm(t.Kind(), l.Unit)
	case *format.IntType:
		if !l.IsSigned {
			n.setUnsigned(t.Kind())
		}
	case *format.UUIDType:
		n.append = func(text []byte, v parquet.Value) []byte {
			h := hex.EncodeToString(v.ByteArray())
			if len(h) != 32 {
				return append(text, h...)
			}
			return append(text, strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")...)
		}
	case *format.JsonType:
		n.typ, n.append = TypeJSON, appendJSONText
	case *format.NullType:
		n.typ = typeNull
	case *format.StringType, *format.EnumType:
		n.append = func(text []byte, v parquet.Value) []byte { return append(text, v.ByteArray()...) }
	}
}

// setPhysical sets the type of a leaf without a logical type.
func (n *node) setPhysical(kind parquet.Kind) {
	switch kind {
	case parquet.Boolean:
		n.typ, n.append = TypeBool, func(text []byte, v parquet.Value) []byte { return strconv.AppendBool(text, v.Boolean()) }
	case parquet.Int32, parquet.Int64:
		n.typ, n.append = TypeInt64, func(text []byte, v parquet.Value) []byte { return strconv.AppendInt(text, integer(kind, v), 10) }
	case parquet.Int96: // nanoseconds of the day, and the Julian day
		n.scale = 6 // as in Spark; in nanoseconds, the range lacks the years 1 and 9999, which stand for "never"
		n.typ, n.append = TypeDateTime, func(text []byte, v parquet.Value) []byte {
			i := v.Int96()
			const julianOfUnix = 2440588
			nanos := int64(uint64(i[1])<<32 | uint64(i[0]))
			return time.Unix((int64(i[2])-julianOfUnix)*86400, nanos).UTC().AppendFormat(text, formDateTime)
		}
	case parquet.Float:
		n.typ, n.append = TypeDouble, func(text []byte, v parquet.Value) []byte { return appendFloat(text, float64(v.Float()), 32) }
	case parquet.Double:
		n.typ, n.append = TypeDouble, func(text []byte, v parquet.Value) []byte { return appendFloat(text, v.Double(), 64) }
	default: // bytes, or text of old programs that do not write its type
		n.append = func(text []byte, v parquet.Value) []byte {
			if b := v.ByteArray(); utf8.Valid(b) && controls(b) == 0 {
				return append(text, b...)
			}
			return base64.StdEncoding.AppendEncode(text, v.ByteArray())
		}
	}
}

// setUnsigned sets the form of unsigned integers. Integers of 64 bits are decimals, because not all fit int64.
func (n *node) setUnsigned(kind parquet.Kind) {
	if kind == parquet.Int32 {
		n.append = func(text []byte, v parquet.Value) []byte { return strconv.AppendUint(text, uint64(v.Uint32()), 10) }
		return
	}
	n.typ, n.precision = TypeDecimal, 20
	n.append = func(text []byte, v parquet.Value) []byte { return strconv.AppendUint(text, v.Uint64(), 10) }
}

// integer returns the value of a column of 32 or 64 bits.
func integer(kind parquet.Kind, v parquet.Value) int64 {
	if kind == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

func timeForm(kind parquet.Kind, unit format.TimeUnit, form string) func([]byte, parquet.Value) []byte {
	perSecond := int64(math.Pow10(decimalsOf(unit)))
	return func(text []byte, v parquet.Value) []byte {
		n := integer(kind, v)
		return time.Unix(n/perSecond, n%perSecond*(1e9/perSecond)).UTC().AppendFormat(text, form)
	}
}

// clockForm returns the form of times of day. DuckDB also has the time 24:00:00.
func clockForm(kind parquet.Kind, unit format.TimeUnit) func([]byte, parquet.Value) []byte {
	perHour := 3600 * int64(math.Pow10(decimalsOf(unit)))
	minutes := timeForm(kind, unit, formMinutes)
	return func(text []byte, v parquet.Value) []byte {
		n := integer(kind, v)
		if n < 0 { // not a time of day
			return strconv.AppendInt(text, n, 10)
		}
		return minutes(fmt.Appendf(text, "%02d", n/perHour), v)
	}
}

// decimalsOf returns the number of decimals of a second for a unit.
func decimalsOf(unit format.TimeUnit) int {
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		return 3
	case *format.MicroSeconds:
		return 6
	}
	return 9
}

func decimalForm(kind parquet.Kind, scale int) func([]byte, parquet.Value) []byte {
	return func(text []byte, v parquet.Value) []byte {
		if kind == parquet.Int32 || kind == parquet.Int64 {
			return appendDecimal(text, strconv.FormatInt(integer(kind, v), 10), scale)
		}
		b := v.ByteArray() // big-endian two's complement
		n := new(big.Int).SetBytes(b)
		if len(b) > 0 && b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return appendDecimal(text, n.String(), scale)
	}
}

// maxScale bounds the scale of a damaged file. Programs write decimals of up to 76 digits.
const maxScale = 1000

// appendDecimal appends digits with a point before the last scale digits.
func appendDecimal(text []byte, digits string, scale int) []byte {
	digits, negative := strings.CutPrefix(digits, "-")
	if negative {
		text = append(text, '-')
	}
	scale = min(max(scale, 0), maxScale)
	if missing := scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	text = append(text, digits[:len(digits)-scale]...)
	if scale > 0 {
		text = append(append(text, '.'), digits[len(digits)-scale:]...)
	}
	return text
}

// appendFloat appends a number as in JSON: without an exponent, unless it is very large or very small.
func appendFloat(text []byte, x float64, bits int) []byte {
	verb := byte('f')
	if abs := math.Abs(x); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		verb = 'e'
	}
	return strconv.AppendFloat(text, x, verb, -1, bits)
}

// float16 decodes an IEEE 754 binary16 number, little-endian.
func float16(b []byte) float64 {
	n := uint32(binary.LittleEndian.Uint16(b))
	// In the places of a binary32 number.
	sign, exponent, rest := n>>15<<31, n>>10&31, n&0x7fff<<13
	if exponent == 31 { // infinite, or not a number
		return float64(math.Float32frombits(sign | 0xff<<23 | rest))
	}
	return 0x1p112 * float64(math.Float32frombits(sign|rest)) // the exponents are biased by 127 and by 15
}

// appendJSONText appends a JSON document in compact form, or any other text as a JSON string.
func appendJSONText(text []byte, v parquet.Value) []byte {
	var compact bytes.Buffer
	if err := json.Compact(&compact, v.ByteArray()); err != nil {
		return appendQuoted(text, string(v.ByteArray()))
	}
	return append(text, compact.Bytes()...)
}
