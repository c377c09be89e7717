package writer

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// newCSV returns an encoder of delimited text: a header line, then a line per row. It quotes a field if RFC 4180 or common
// readers require quotes. Nulls are empty, and lines end with LF.
func newCSV(out compressor, schema Schema, comma byte) encoder {
	columns := schema.Columns()
	l := newCSVLines(columns, comma)
	l.escapes = schema.EscapeFormulas
	e := &textEncoder{out: out, appendRow: l.append}
	for i, c := range columns {
		if i > 0 {
			e.buf = append(e.buf, comma)
		}
		e.buf = l.appendField(e.buf, l.escaped(c.Name, ValueType{}))
	}
	e.buf = append(e.buf, '\n')
	return e
}

// csvLines writes rows as lines. Rows of a record have the same columns of the record, and many records have the same text,
// such as the status. csvLines copies these bytes from the previous line.
type csvLines struct {
	columns []Column
	comma   byte
	escapes bool      // Schema.EscapeFormulas
	special [256]bool // bytes that require quotes
	spans   []csvSpan // of the previous line, in the order of the columns
	last    Row       // first row of the last record
	begun   bool      // last is set
	cells   []csvCell // last cell of each text column of the record, by column
}

// csvSpan is a range of adjacent columns, which are all of the record or all not, and the range of their bytes of the previous
// line in the buffer.
type csvSpan struct {
	from, to   int // columns
	ofRecord   bool
	start, end int // bytes of the buffer
}

// csvCell is a field, and the range of its bytes in the buffer.
type csvCell struct {
	text       string
	start, end int
}

func newCSVLines(columns []Column, comma byte) *csvLines {
	l := &csvLines{columns: columns, comma: comma, cells: make([]csvCell, len(columns))}
	for _, c := range [...]byte{comma, '"', '\r', '\n'} {
		l.special[c] = true
	}
	for i, c := range columns {
		ofRecord := c.scope == scopeRecord
		if n := len(l.spans); n == 0 || l.spans[n-1].ofRecord != ofRecord {
			l.spans = append(l.spans, csvSpan{from: i, ofRecord: ofRecord})
		}
		l.spans[len(l.spans)-1].to = i + 1
	}
	return l
}

// append appends the line of a row to dst, which is empty or ends with the previous line.
func (l *csvLines) append(dst []byte, row *Row) []byte {
	repeats := false
	if len(dst) == 0 {
		clear(l.cells)
	} else {
		repeats = l.begun && row.isOfRecord(&l.last)
	}
	if !repeats {
		l.last, l.begun = *row, true
	}
	for i := range l.spans {
		s := &l.spans[i]
		start := len(dst)
		if s.ofRecord && repeats {
			dst = append(dst, dst[s.start:s.end]...)
		} else {
			dst = l.appendSpan(dst, row, s)
		}
		s.start, s.end = start, len(dst)
	}
	return append(dst, '\n')
}

func (l *csvLines) appendSpan(dst []byte, row *Row, s *csvSpan) []byte {
	for i := s.from; i < s.to; i++ {
		if i > 0 {
			dst = append(dst, l.comma)
		}
		dst = l.appendCell(dst, row, i)
	}
	return dst
}

// appendCell appends the value of column i of a row; nothing for null.
func (l *csvLines) appendCell(dst []byte, row *Row, i int) []byte {
	c := &l.columns[i]
	if !c.isText() {
		dst, _ = c.appendNumber(dst, row)
		return dst
	}
	text := l.escaped(c.textOf(row), c.ValueType()) // the value of a carried column, too
	switch {
	case text == "":
		return dst
	case c.scope == scopeRecord:
		return l.appendText(dst, text, &l.cells[i])
	}
	return l.appendField(dst, text)
}

// appendNumber appends the value of a column of numbers or times. For null it appends nothing, and ok is false.
func (c *Column) appendNumber(dst []byte, row *Row) (_ []byte, ok bool) {
	var n int64
	var x float64
	var t time.Time
	switch {
	case c.whole != nil:
		if n, ok = c.wholeOf(row); ok {
			dst = strconv.AppendInt(dst, n, 10)
		}
	case c.real != nil:
		if x, ok = c.realOf(row); ok {
			dst = appendDouble(dst, x)
		}
	case c.time != nil:
		if t, ok = c.timeOf(row); ok {
			dst = appendTime(dst, t)
		}
	}
	return dst, ok
}

func (l *csvLines) appendText(dst []byte, text string, last *csvCell) []byte {
	start := len(dst)
	if text == last.text {
		dst = append(dst, dst[last.start:last.end]...)
	} else {
		dst = l.appendField(dst, text)
	}
	*last = csvCell{text, start, len(dst)}
	return dst
}

// appendField appends a text field, with quotes if necessary. Some readers trim leading space of unquoted fields.
func (l *csvLines) appendField(dst []byte, field string) []byte {
	if !l.needsQuotes(field) {
		return append(dst, field...)
	}
	dst = append(dst, '"')
	for {
		i := strings.IndexByte(field, '"')
		if i < 0 {
			break
		}
		dst = append(dst, field[:i]...)
		dst = append(dst, `""`...)
		field = field[i+1:]
	}
	dst = append(dst, field...)
	return append(dst, '"')
}

func (l *csvLines) needsQuotes(field string) bool {
	if field == "" {
		return false
	}
	if field == `\.` {
		return true // alone on a line, it ends the data of PostgreSQL's COPY
	}
	for i := range len(field) {
		if l.special[field[i]] {
			return true
		}
	}
	first, _ := utf8.DecodeRuneInString(field)
	return unicode.IsSpace(first)
}

// appendDouble appends the shortest decimal number that is parsed as x. It is also a JSON number.
//
// Most confidences have at most four decimals. For these, appendDouble is faster than strconv.
func appendDouble(dst []byte, x float64) []byte {
	const scale = 10_000
	n := math.Round(x * scale)
	if n < 1 || n >= scale || n/scale != x {
		return strconv.AppendFloat(dst, x, 'g', -1, 64)
	}
	d := int(n)
	dst = append(dst, '0', '.', byte('0'+d/1000), byte('0'+d/100%10), byte('0'+d/10%10), byte('0'+d%10))
	return bytes.TrimRight(dst, "0")
}

// appendTime appends an RFC 3339 time in UTC with six decimals: texts sort as the times do.
func appendTime(dst []byte, t time.Time) []byte {
	return t.AppendFormat(dst, "2006-01-02T15:04:05.000000Z")
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
