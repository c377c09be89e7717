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

// newCSV makes an encoder of delimited text: a header line, then a line per row. Fields are quoted
// where RFC 4180 or common readers need it, nulls are empty, lines end with LF.
func newCSV(out compressor, columns []Column, comma byte) encoder {
	l := newCSVLines(columns, comma)
	e := &textEncoder{out: out, appendRow: l.append}
	for i, c := range columns {
		if i > 0 {
			e.buf = append(e.buf, comma)
		}
		e.buf = l.appendField(e.buf, c.Name)
	}
	e.buf = append(e.buf, '\n')
	return e
}

// csvLines writes rows as lines.
type csvLines struct {
	columns []Column
	comma   byte
	special [256]bool // a field with such a byte is quoted
	cells   []csvCell // of the last line, by column; of text columns only
}

// csvCell is a field and where the buffer holds it. The rows of a record show the same in most
// columns: to copy what was written before takes a quarter of the time of writing it again.
type csvCell struct {
	text       string
	start, end int
}

func newCSVLines(columns []Column, comma byte) *csvLines {
	l := &csvLines{columns: columns, comma: comma, cells: make([]csvCell, len(columns))}
	for _, c := range [...]byte{comma, '"', '\r', '\n'} {
		l.special[c] = true
	}
	return l
}

// append appends a row's line to dst, which is empty or ends in the line of the row before.
func (l *csvLines) append(dst []byte, row *Row) []byte {
	if len(dst) == 0 {
		clear(l.cells)
	}
	for i := range l.columns {
		if i > 0 {
			dst = append(dst, l.comma)
		}
		dst = l.appendCell(dst, row, i)
	}
	return append(dst, '\n')
}

// appendCell appends what column i shows of a row, and nothing for null.
func (l *csvLines) appendCell(dst []byte, row *Row, i int) []byte {
	c := &l.columns[i]
	switch c.Type {
	case TypeInt64:
		if n, ok := row.integer(c); ok {
			return strconv.AppendInt(dst, n, 10)
		}
	case TypeDouble:
		if x, ok := row.confidence(); ok {
			return appendDouble(dst, x)
		}
	case TypeTimestamp:
		if !row.AnsweredAt.IsZero() {
			return appendTime(dst, row.AnsweredAt)
		}
	default:
		if text := row.text(c); text != "" {
			return l.appendText(dst, text, &l.cells[i])
		}
	}
	return dst
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

// appendField appends a text field, quoted if need be. Reading LF back as LF needs quotes, and so does
// a field that starts with a space, which some readers trim.
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
		return true // alone on a line it ends the data of PostgreSQL's COPY
	}
	for i := range len(field) {
		if l.special[field[i]] {
			return true
		}
	}
	first, _ := utf8.DecodeRuneInString(field)
	return unicode.IsSpace(first)
}

// appendDouble appends the shortest text that reads back as x. It is a JSON number too.
//
// Most confidences have four decimals at most. For those the text is known without a search, in a
// quarter of the time: no shorter number reads back as the same.
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

// appendTime appends an RFC 3339 time in UTC with all six decimals, so that texts sort like times.
func appendTime(dst []byte, t time.Time) []byte {
	return t.AppendFormat(dst, "2006-01-02T15:04:05.000000Z")
}
