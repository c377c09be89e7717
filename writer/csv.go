package writer

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// newCSV returns an encoder of delimited text: a header line, then a line per row. It quotes a field if RFC 4180 or common
// readers require quotes. Nulls are empty, and lines end with LF.
func newCSV(out compressor, schema Schema, comma byte) encoder {
	l := &csvLines{columns: schema.Columns(), comma: comma, escapes: schema.EscapeFormulas}
	return &textEncoder{out: out, buf: l.appendHeader(nil), appendRow: l.append}
}

// csvLines writes rows as lines.
type csvLines struct {
	columns []Column
	comma   byte
	escapes bool // Schema.EscapeFormulas
}

func (l *csvLines) appendHeader(dst []byte) []byte {
	for i, c := range l.columns {
		if i > 0 {
			dst = append(dst, l.comma)
		}
		dst = l.appendField(dst, l.escaped(c.Name, ValueType{}))
	}
	return append(dst, '\n')
}

// append appends the line of a row.
func (l *csvLines) append(dst []byte, row *Row) []byte {
	for i := range l.columns {
		if i > 0 {
			dst = append(dst, l.comma)
		}
		c := &l.columns[i]
		if c.isText() {
			dst = l.appendField(dst, l.escaped(c.textOf(row), c.ValueType)) // the value of a carried column, too
		} else {
			dst, _ = c.appendNumber(dst, row)
		}
	}
	return append(dst, '\n')
}

// appendNumber appends the value of a column of numbers or times. For null it appends nothing, and ok is false.
func (c *Column) appendNumber(dst []byte, row *Row) (_ []byte, ok bool) {
	v, ok := c.valueOf(row)
	switch {
	case !ok:
	case c.real != nil:
		dst = strconv.AppendFloat(dst, v.Double(), 'g', -1, 64) // also a JSON number
	case c.time != nil:
		dst = appendTime(dst, v.Int64())
	default:
		dst = strconv.AppendInt(dst, v.Int64(), 10)
	}
	return dst, ok
}

// appendField appends a text field, with quotes if necessary. Some readers trim leading space of unquoted fields.
func (l *csvLines) appendField(dst []byte, field string) []byte {
	if !l.needsQuotes(field) {
		return append(dst, field...)
	}
	dst = append(dst, '"')
	dst = append(dst, strings.ReplaceAll(field, `"`, `""`)...)
	return append(dst, '"')
}

func (l *csvLines) needsQuotes(field string) bool {
	if field == `\.` {
		return true // alone on a line, it ends the data of PostgreSQL's COPY
	}
	for i := range len(field) {
		if c := field[i]; c == l.comma || c == '"' || c == '\r' || c == '\n' {
			return true
		}
	}
	first, _ := utf8.DecodeRuneInString(field)
	return unicode.IsSpace(first)
}

// appendTime appends an RFC 3339 time in UTC with six decimals: texts sort as the times do.
func appendTime(dst []byte, microseconds int64) []byte {
	return time.UnixMicro(microseconds).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000000Z")
}

// formulaEscape is the prefix of cells that a spreadsheet would take for a formula, with Schema.EscapeFormulas. Text that
// begins with the prefix gets it, too, so removing one prefix restores every text.
const formulaEscape = "'"

// UnescapeFormula returns the original text of a cell or a name that was written with Schema.EscapeFormulas.
func UnescapeFormula(cell string) string { return strings.TrimPrefix(cell, formulaEscape) }

// escaped returns the text of a cell, with the escape if the text needs it. Values of other types than text are never formulas.
func (l *csvLines) escaped(text string, t ValueType) string {
	if !l.escapes || !needsEscape(text) || t.Type != TypeString && t.Fits(text) {
		return text
	}
	return formulaEscape + text
}

// needsEscape reports whether a text begins with the escape, or a spreadsheet may take it for a formula. The characters and
// their wide forms are from OWASP's page "CSV Injection". They also count after white space, which programs may trim.
func needsEscape(text string) bool {
	if text == "" {
		return false
	}
	if strings.IndexByte("\t\r\n"+formulaEscape, text[0]) >= 0 {
		return true
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, unicode.IsSpace))
	return strings.ContainsRune("=+-@\uff1d\uff0b\uff0d\uff20", first)
}
