package writer

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
)

// mayBeFormulas are texts that are escaped; plainTexts are not.
var (
	mayBeFormulas = []string{
		"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\ttab", "\rreturn", "\nline", "'quoted", "'=1", "''", "'", "=", "-", "--",
		" =1", "\u00a0=1", " \t@x", "\uff1d1", "\uff0b1", "\uff0d1", "\uff201", `=HYPERLINK("https://a.example","x,y")`, "=cmd|' /C calc'!A0",
	}
	plainTexts = []string{"", " ", "a", "a=1", "1-1", "a@b.example", " a", `"=1"`, "(=1)", "\U0001F600", "\u2028", "1", "\\N", `\.`}
)

// TestEscapedFormulas writes texts as cells and as the name of a column, in CSV and TSV, and reads them back.
func TestEscapedFormulas(t *testing.T) {
	for i, text := range slices.Concat(mayBeFormulas, plainTexts) {
		want := text
		if i < len(mayBeFormulas) {
			want = "'" + text
		}
		if got := UnescapeFormula(want); got != text {
			t.Errorf("%q is read as %q", want, got)
		}
		for _, carried := range []ValueType{{}, {Type: TypeInt64}, {Type: TypeDouble}} {
			schema := Schema{Form: Form{Levels: 1, SourceColumns: true, EscapeFormulas: true}, Carry: []string{"named " + text, text}, CarryTypes: []ValueType{carried, {}}}
			if carried.Fits(text) && carried.Type != TypeString { // -1 and +1 as numbers
				schema.CarryTypes = nil
			}
			row := schema.Flatten(nil, Result{
				Record: 1, Input: text, Status: StatusOK, Classification: text, Error: text, Source: text, Basis: text,
				Entries: []Entry{{Value: text, ID: text, Confidence: -0.5}}, Fields: []string{text, text},
			})
			for format, comma := range map[Format]rune{CSV: ',', TSV: '\t'} {
				in := csv.NewReader(bytes.NewReader(encodeAll(t, format, schema, row)))
				in.Comma = comma
				lines, err := in.ReadAll()
				if err != nil {
					t.Fatal(err)
				}
				for k, c := range schema.Columns() {
					switch got := lines[1][k]; {
					case c.Name == "record" || c.Name == "rank" || c.Name == "status" || c.Name == "answered_at":
					case c.Name == "confidence":
						if got != "-0.5" {
							t.Errorf("%s: the confidence is %s", format, got)
						}
					case got != want:
						t.Errorf("%s: %q in %s is written as %q, want %q", format, text, c.Name, got, want)
					}
				}
				if name := lines[0][len(lines[0])-1]; text != "" && name != want {
					t.Errorf("%s: the column %q is named %q, want %q", format, text, name, want)
				}
			}
		}
	}
}

// TestNumbersAreNotEscaped writes values of typed columns: those that fit the type stay as they are.
func TestNumbersAreNotEscaped(t *testing.T) {
	for _, tt := range []struct {
		typ        ValueType
		text, want string
	}{
		{ValueType{Type: TypeInt64}, "-5", "-5"},
		{ValueType{Type: TypeDouble}, "-1e-5", "-1e-5"},
		{ValueType{Type: TypeDouble}, "-Inf", "-Inf"},
		{ValueType{TypeDecimal, 5, 2}, "-0.50", "-0.50"},
		{ValueType{}, "-5", "'-5"},
		{ValueType{Type: TypeInt64}, "-5.5", "'-5.5"}, // does not fit
		{ValueType{Type: TypeInt64}, "-5+cmd", "'-5+cmd"},
		{ValueType{Type: TypeDouble}, "=1", "'=1"},
		{ValueType{Type: TypeBool}, "@true", "'@true"},
		{ValueType{Type: TypeDate}, "+2026-01-02", "'+2026-01-02"},
	} {
		schema := Schema{Carry: []string{"n"}, CarryTypes: []ValueType{tt.typ}, Form: Form{EscapeFormulas: true}}
		row := schema.Flatten(nil, Result{Record: 1, Status: StatusEmpty, Fields: []string{tt.text}})
		lines := readCSV(t, encodeAll(t, CSV, schema, row))
		if got := lines[1][len(lines[1])-1]; got != tt.want || UnescapeFormula(got) != tt.text {
			t.Errorf("%v %q is written as %q, want %q", tt.typ, tt.text, got, tt.want)
		}
	}
}

// The option does not change JSONL and Parquet, which have no formulas, nor CSV without such texts.
func TestEscapeLeavesOtherFormats(t *testing.T) {
	schema := Schema{Form: Form{Levels: 1}, Carry: []string{"=n"}}
	escaping := schema
	escaping.EscapeFormulas = true
	rows := schema.Flatten(nil, Result{Record: 1, Input: "=1", Status: StatusEmpty, Fields: []string{"@x"}})
	for _, format := range []Format{JSONL, Parquet} {
		if plain, escaped := encodeAll(t, format, schema, rows), encodeAll(t, format, escaping, rows); string(plain) != string(escaped) {
			t.Errorf("%s changes: %s", format, escaped)
		}
	}
	if plain := string(encodeAll(t, CSV, schema, rows)); strings.Contains(plain, "'") {
		t.Errorf("escaped without the option: %s", plain)
	}
}

// FuzzEscapedFormulas writes any text with the option, and reads it back. No cell can be a formula.
func FuzzEscapedFormulas(f *testing.F) {
	for i, text := range slices.Concat(mayBeFormulas, plainTexts, awkward) {
		f.Add(text, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, typ uint8) {
		text = validUTF8(text)
		carried := ValueType{Type: []Type{TypeString, TypeInt64, TypeDouble, TypeBool, TypeDate}[typ%5]}
		l := &csvLines{escapes: true}
		cell := l.escaped(text, carried)
		if UnescapeFormula(cell) != text {
			t.Fatalf("%q is written as %q", text, cell)
		}
		if carried.Type == TypeString && cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
			t.Fatalf("%q is written as the formula %q", text, cell)
		}
	})
}
