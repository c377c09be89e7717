package outputs

import (
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/bulkcat/bulkcat/writer"
)

// valueTypeOf returns the type of a column; text for types that the writer does not use.
func valueTypeOf(t parquet.Type) writer.ValueType {
	physical := writer.ValueType{Type: map[parquet.Kind]writer.Type{
		parquet.Int64: writer.TypeInt64, parquet.Double: writer.TypeDouble, parquet.Boolean: writer.TypeBool,
	}[t.Kind()]}
	logical := t.LogicalType()
	if logical == nil {
		return physical
	}
	switch l := logical.Value.(type) {
	case *format.DateType:
		return writer.ValueType{Type: writer.TypeDate}
	case *format.DecimalType:
		return writer.ValueType{Type: writer.TypeDecimal, Precision: int(l.Precision), Scale: int(l.Scale)}
	case *format.TimestampType:
		v := writer.ValueType{Type: writer.TypeDateTime, Scale: 9}
		if l.IsAdjustedToUTC {
			v.Type = writer.TypeTimestamp
		}
		switch l.Unit.Value.(type) {
		case *format.MilliSeconds:
			v.Scale = 3
		case *format.MicroSeconds:
			v.Scale = 6
		}
		return v
	}
	return physical // of text, and of whole numbers
}

// cell formats a value; it copies the bytes, which belong to the page.
func cell(v parquet.Value, t writer.ValueType) string {
	if v.IsNull() {
		return ""
	}
	switch t.Type {
	case writer.TypeInt64:
		return strconv.FormatInt(v.Int64(), 10)
	case writer.TypeDouble:
		return formatDouble(v.Double())
	case writer.TypeBool:
		return strconv.FormatBool(v.Boolean())
	case writer.TypeDate:
		return time.Unix(int64(v.Int32())*86400, 0).UTC().Format(time.DateOnly)
	case writer.TypeTimestamp:
		return timeOf(v.Int64(), t.Scale).Format(time.RFC3339Nano)
	case writer.TypeDateTime:
		return timeOf(v.Int64(), t.Scale).Format("2006-01-02T15:04:05.999999999")
	case writer.TypeDecimal:
		return decimal(v, t.Scale)
	}
	if len(v.ByteArray()) == 0 {
		return EmptyText
	}
	return string(v.ByteArray())
}

func formatDouble(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// timeOf returns the time after n units of 10^-scale seconds.
func timeOf(n int64, scale int) time.Time {
	switch scale {
	case 3:
		return time.UnixMilli(n).UTC()
	case 6:
		return time.UnixMicro(n).UTC()
	}
	return time.Unix(0, n).UTC()
}

// decimal formats a number with scale digits after the point.
func decimal(v parquet.Value, scale int) string {
	n := new(big.Int)
	switch v.Kind() {
	case parquet.Int32:
		n.SetInt64(int64(v.Int32()))
	case parquet.Int64:
		n.SetInt64(v.Int64())
	default: // two's complement, the most significant byte first
		bytes := v.ByteArray()
		n.SetBytes(bytes)
		if len(bytes) > 0 && bytes[0]&0x80 != 0 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(bytes))))
		}
	}
	sign := ""
	if n.Sign() < 0 {
		sign = "-"
	}
	digits := n.Abs(n).String()
	if scale <= 0 {
		return sign + digits
	}
	digits = strings.Repeat("0", max(0, scale+1-len(digits))) + digits
	return sign + digits[:len(digits)-scale] + "." + digits[len(digits)-scale:]
}
