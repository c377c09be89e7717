package writer

import (
	"bytes"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// carriedValues are texts in carried columns, with their values in Parquet ("" for null) and in JSON.
var carriedValues = []struct {
	typ           ValueType
	text          string
	parquet, json string
}{
	{ValueType{}, "", "", `""`},
	{ValueType{}, "12", "12", `"12"`},
	{ValueType{Type: TypeInt64}, "-9223372036854775808", "-9223372036854775808", "-9223372036854775808"},
	{ValueType{Type: TypeInt64}, "9223372036854775808", "null", "9223372036854775808"},
	{ValueType{Type: TypeInt64}, "1.5", "null", "1.5"},
	{ValueType{Type: TypeInt64}, "many", "null", `"many"`},
	{ValueType{Type: TypeInt64}, "", "null", `""`},
	{ValueType{Type: TypeDouble}, "1.50", "1.5", "1.50"},
	{ValueType{Type: TypeDouble}, "-1.2345678901234568e-300", "-1.2345678901234568e-300", "-1.2345678901234568e-300"},
	{ValueType{Type: TypeDouble}, "123456789012345680000", "1.2345678901234568e+20", "123456789012345680000"},
	{ValueType{Type: TypeDouble}, "12345678901234567891", "null", "12345678901234567891"},
	{ValueType{Type: TypeDouble}, "1e400", "null", "1e400"},
	{ValueType{Type: TypeDouble}, "NaN", "NaN", `"NaN"`},
	{ValueType{Type: TypeDouble}, "-Inf", "-Inf", `"-Inf"`},
	{ValueType{Type: TypeDouble}, "inf", "null", `"inf"`},
	{ValueType{Type: TypeDouble}, "0x1p4", "null", `"0x1p4"`},
	{ValueType{Type: TypeDouble}, "01", "null", `"01"`},
	{ValueType{Type: TypeBool}, "true", "true", "true"},
	{ValueType{Type: TypeBool}, "false", "false", "false"},
	{ValueType{Type: TypeBool}, "1", "null", `"1"`},
	{ValueType{Type: TypeDate}, "1969-12-31", "-1", `"1969-12-31"`},
	{ValueType{Type: TypeDate}, "0001-01-01", "-719162", `"0001-01-01"`},
	{ValueType{Type: TypeDate}, "10000-01-01", "null", `"10000-01-01"`},
	{ValueType{Type: TypeTimestamp, Scale: 3}, "1970-01-01T00:00:01.5Z", "1500", `"1970-01-01T00:00:01.5Z"`},
	{ValueType{Type: TypeTimestamp, Scale: 3}, "1970-01-01T00:00:01.0005Z", "null", `"1970-01-01T00:00:01.0005Z"`},
	{ValueType{Type: TypeTimestamp, Scale: 6}, "1969-12-31T23:59:59.999999Z", "-1", `"1969-12-31T23:59:59.999999Z"`},
	{ValueType{Type: TypeTimestamp, Scale: 6}, "1970-01-01T00:00:00", "null", `"1970-01-01T00:00:00"`},
	{ValueType{Type: TypeDateTime, Scale: 6}, "9999-12-31T00:00:00", "253402214400000000", `"9999-12-31T00:00:00"`},
	{ValueType{Type: TypeDateTime, Scale: 9}, "1970-01-01T00:00:00.000000001", "1", `"1970-01-01T00:00:00.000000001"`},
	{ValueType{Type: TypeDateTime, Scale: 9}, "9999-12-31T00:00:00", "null", `"9999-12-31T00:00:00"`},
	{ValueType{TypeDecimal, 5, 4}, "-0.0007", "-7", "-0.0007"},
	{ValueType{TypeDecimal, 5, 4}, "12.0007", "null", "12.0007"},
	{ValueType{TypeDecimal, 5, 4}, "1.5", "null", "1.5"},
	{ValueType{TypeDecimal, 18, 0}, "-999999999999999999", "-999999999999999999", "-999999999999999999"},
	{ValueType{TypeDecimal, 20, 0}, "18446744073709551615", "\x00\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551615"},
	{ValueType{TypeDecimal, 20, 1}, "-0.1", "\xff\xff\xff\xff\xff\xff\xff\xff\xff", "-0.1"},
	{ValueType{TypeDecimal, 20, 1}, "- 1.0", "null", `"- 1.0"`},
}

// valueText returns a value of a Parquet column for comparison; the bytes of text and long decimals.
func valueText(v parquet.Value) string {
	switch {
	case v.IsNull():
		return "null"
	case v.Kind() == parquet.Double:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	case v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray:
		return string(v.ByteArray())
	}
	return v.String()
}

func TestCarriedValues(t *testing.T) {
	for _, test := range carriedValues {
		s := Schema{Carry: []string{"c"}, CarryTypes: []ValueType{test.typ}}
		row := Row{Record: 1, Fields: []string{test.text}, Nulls: []bool{false}}
		name := test.typ.String() + " " + test.text
		if got := carriedInParquet(t, s, row); got != test.parquet {
			t.Errorf("%s: Parquet has %q, want %q", name, got, test.parquet)
		}
		if fits := test.typ.Fits(test.text); fits != (test.parquet != "null") {
			t.Errorf("%s: fits %t", name, fits)
		}
		if got := encodedAs(t, JSONL, s, row); !strings.HasSuffix(got, `,"c":`+test.json+"}\n") {
			t.Errorf("%s: JSONL has %s, want %s", name, got, test.json)
		}
		row.Nulls[0] = true
		if got := carriedInParquet(t, s, row); got != "null" {
			t.Errorf("%s: Parquet has %q for null", name, got)
		}
		if got := encodedAs(t, JSONL, s, row); !strings.HasSuffix(got, `,"c":null}`+"\n") {
			t.Errorf("%s: JSONL has %s for null", name, got)
		}
		row.Nulls = nil
		if got, want := encodedAs(t, CSV, s, row), encodedAs(t, CSV, Schema{Carry: s.Carry}, row); got != want {
			t.Errorf("%s: CSV has %s, want the text: %s", name, got, want)
		}
	}
}

func encodedAs(t *testing.T, format Format, s Schema, rows ...Row) string {
	t.Helper()
	var out bytes.Buffer
	e, err := newEncoder(&out, format, s, nil)
	if err == nil {
		err = e.encode(rows)
	}
	if err == nil {
		err = e.close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// carriedInParquet returns the value of the only carried column in the first row.
func carriedInParquet(t *testing.T, s Schema, row Row) string {
	t.Helper()
	file := encodedAs(t, Parquet, s, row)
	f, err := parquet.OpenFile(strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	rows := f.RowGroups()[0].Rows()
	defer rows.Close()
	batch := make([]parquet.Row, 1)
	if n, err := rows.ReadRows(batch); n != 1 || err != nil && err != io.EOF {
		t.Fatal(n, err)
	}
	return valueText(batch[0][len(batch[0])-1])
}

// Types that the formats do not have are text.
func TestCarriedTypesWithoutFormat(t *testing.T) {
	for _, typ := range []ValueType{
		{TypeDecimal, 0, 0}, {TypeDecimal, 77, 0}, {TypeDecimal, 5, 6}, {TypeDecimal, 5, -1},
		{Type: TypeTimestamp}, {Type: TypeDateTime, Scale: 12}, {Type: TypeList},
	} {
		columns := Schema{Carry: []string{"c"}, CarryTypes: []ValueType{typ}}.Columns()
		if c := columns[len(columns)-1]; c.ValueType != (ValueType{}) {
			t.Errorf("%v: got %v, want text", typ, c.ValueType)
		}
	}
}

// Bounds of values without an order that readers share would hide rows from them.
func TestUnorderedValuesHaveNoBounds(t *testing.T) {
	s := Schema{Carry: []string{"x", "d", "n"}, CarryTypes: []ValueType{{Type: TypeDouble}, {TypeDecimal, 30, 2}, {Type: TypeInt64}}}
	file := encodedAs(t, Parquet, s, Row{Record: 1, Fields: []string{"NaN", "-1.00", "-1"}}, Row{Record: 1, Fields: []string{"1", "1.00", "1"}})
	f, err := parquet.OpenFile(strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	chunks := f.Metadata().RowGroups[0].Columns
	for i, want := range []bool{false, false, true} {
		statistics := chunks[len(chunks)-3+i].MetaData.Statistics
		if got := statistics.MinValue != nil; got != want {
			t.Errorf("column %s has bounds: %t, want %t", s.Carry[i], got, want)
		}
	}
}

func TestIsNumber(t *testing.T) {
	for _, text := range []string{"0", "-0", "10", "1.50", "-0.5e+10", "1E5", "1e-07"} {
		if !isNumber(text) {
			t.Errorf("%q is a number", text)
		}
	}
	for _, text := range []string{"", "-", "+1", "01", "-01", ".5", "1.", "1e", "1e+", "1 ", "0x1", "1_0", "NaN", "e5", "1.5.5"} {
		if isNumber(text) {
			t.Errorf("%q is no number", text)
		}
	}
}

// Many columns have smaller pages.
func TestPageSize(t *testing.T) {
	sizes := []int{pageSize(1), pageSize(64), pageSize(200), pageSize(math.MaxInt16)}
	if want := []int{pageBytes, pageBytes, pagesBytes / 200, leastPageBytes}; !slices.Equal(sizes, want) {
		t.Errorf("got %d, want %d", sizes, want)
	}
}

func TestNamesOfTypes(t *testing.T) {
	for _, name := range []string{"text", "int64", "double", "bool", "date", "timestamp(3)", "timestamp(9)", "datetime(6)", "decimal(12,2)", "decimal(76,0)"} {
		var typ ValueType
		if err := typ.UnmarshalText([]byte(name)); err != nil || typ.String() != name {
			t.Errorf("%s is read as %v, %v", name, typ, err)
		}
	}
	for _, name := range []string{"", "int", "text(1)", "timestamp", "timestamp(4)", "decimal(2,3)", "decimal(77,0)", "decimal(12,2", "date(1)"} {
		var typ ValueType
		if err := typ.UnmarshalText([]byte(name)); err == nil {
			t.Errorf("%q is read as %v", name, typ)
		}
	}
}
