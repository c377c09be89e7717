package writer

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// newCSV makes an encoder of delimited text: a header line, then a line per row. Fields are quoted
// where RFC 4180 or common readers need it, nulls are empty, lines end with LF.
func newCSV(out compressor, columns []Column, comma byte) encoder {
	e := &textEncoder{out: out}
	for i, c := range columns {
		if i > 0 {
			e.buf = append(e.buf, comma)
		}
		e.buf = appendField(e.buf, c.Name, comma)
	}
	e.buf = append(e.buf, '\n')
	e.appendRow = func(dst []byte, row *Row) []byte {
		for i := range columns {
			if i > 0 {
				dst = append(dst, comma)
			}
			dst = appendCell(dst, row, &columns[i], comma)
		}
		return append(dst, '\n')
	}
	return e
}

// appendCell appends what a column shows of a row, and nothing for null.
func appendCell(dst []byte, row *Row, c *Column, comma byte) []byte {
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
		return appendField(dst, row.text(c), comma)
	}
	return dst
}

// appendField appends a text field, quoted if need be. Reading LF back as LF needs quotes, and so does
// a field that starts with a space, which some readers trim.
func appendField(dst []byte, field string, comma byte) []byte {
	if !needsQuotes(field, comma) {
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

func needsQuotes(field string, comma byte) bool {
	if field == "" {
		return false
	}
	if field == `\.` {
		return true // alone on a line it ends the data of PostgreSQL's COPY
	}
	for i := range len(field) {
		switch field[i] {
		case comma, '"', '\r', '\n':
			return true
		}
	}
	first, _ := utf8.DecodeRuneInString(field)
	return unicode.IsSpace(first)
}

// appendDouble appends the shortest text that reads back as x. It is a JSON number too.
func appendDouble(dst []byte, x float64) []byte { return strconv.AppendFloat(dst, x, 'g', -1, 64) }

// appendTime appends an RFC 3339 time in UTC with all six decimals, so that texts sort like times.
func appendTime(dst []byte, t time.Time) []byte {
	return t.AppendFormat(dst, "2006-01-02T15:04:05.000000Z")
}
