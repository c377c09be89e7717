package writer

import (
	"strconv"
	"unicode/utf8"
)

// newJSONL makes an encoder of JSON Lines: an object a row, with a member for every column in order,
// null where there is nothing.
func newJSONL(out compressor, columns []Column) encoder {
	keys := make([]string, len(columns)) // with the punctuation around them
	for i, c := range columns {
		lead := byte(',')
		if i == 0 {
			lead = '{'
		}
		keys[i] = string(append(appendString([]byte{lead}, c.Name), ':'))
	}
	return &textEncoder{out: out, appendRow: func(dst []byte, row *Row) []byte {
		for i := range columns {
			dst = append(dst, keys[i]...)
			dst = appendJSON(dst, row, &columns[i])
		}
		return append(dst, "}\n"...)
	}}
}

// appendJSON appends what a column shows of a row as a JSON value.
func appendJSON(dst []byte, row *Row, c *Column) []byte {
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
			return append(appendTime(append(dst, '"'), row.AnsweredAt), '"')
		}
	default:
		if s := row.text(c); s != "" || !c.Nullable {
			return appendString(dst, s)
		}
	}
	return append(dst, "null"...)
}

// appendString appends valid UTF-8 as a JSON string. Characters that matter only inside HTML stay as
// they are, so that levels are still joined by a readable " > ". The line separators U+2028 and U+2029
// are escaped, because some readers of lines would break the row there.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0 // of what is not appended yet
	for i := 0; i < len(s); {
		if c := s[i]; c < utf8.RuneSelf {
			if c < ' ' || c == '"' || c == '\\' {
				dst = appendEscape(append(dst, s[start:i]...), c)
				start = i + 1
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == '\u2028' || r == '\u2029' {
			dst = append(dst, s[start:i]...)
			dst = append(dst, `\u202`...)
			dst = append(dst, hexDigits[r&0xF])
			start = i + size
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

const hexDigits = "0123456789abcdef"

// appendEscape appends an ASCII character that a JSON string cannot hold as it is (RFC 8259, section 7).
func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	default:
		return append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
	}
}
