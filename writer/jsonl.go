package writer

import "unicode/utf8"

// newJSONL returns an encoder of JSON Lines: an object per row, with a member for every column, in order. Members may be null.
func newJSONL(out compressor, columns []Column) encoder {
	object := newJSONObject(columns)
	return &textEncoder{out: out, appendRow: func(dst []byte, row *Row) []byte {
		return append(object.append(dst, row), '\n')
	}}
}

// jsonObject writes rows as JSON objects.
type jsonObject struct {
	columns  []Column
	keys     []string      // with the punctuation before and after
	elements []*jsonObject // of the lists, by column; nil for other columns
}

func newJSONObject(columns []Column) *jsonObject {
	o := &jsonObject{columns: columns, keys: make([]string, len(columns)), elements: make([]*jsonObject, len(columns))}
	for i, c := range columns {
		before := byte(',')
		if i == 0 {
			before = '{'
		}
		o.keys[i] = string(append(appendString([]byte{before}, c.Name), ':'))
		if c.Type == TypeList {
			o.elements[i] = newJSONObject(c.Elements)
		}
	}
	return o
}

func (o *jsonObject) append(dst []byte, row *Row) []byte {
	for i := range o.columns {
		dst = append(dst, o.keys[i]...)
		if element := o.elements[i]; element != nil {
			dst = element.appendList(dst, row.Categories)
		} else {
			dst = appendJSON(dst, row, &o.columns[i])
		}
	}
	return append(dst, '}')
}

// appendList appends an array with an object for each row.
func (o *jsonObject) appendList(dst []byte, rows []Row) []byte {
	dst = append(dst, '[')
	for i := range rows {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = o.append(dst, &rows[i])
	}
	return append(dst, ']')
}

// appendJSON appends the value of a column of a row as JSON. The column is not a list.
func appendJSON(dst []byte, row *Row, c *Column) []byte {
	switch {
	case c.ID == ColumnCarried:
		return appendCarriedJSON(dst, row, c)
	case c.isText():
		if s := c.textOf(row); s != "" || !c.Nullable {
			return appendString(dst, s)
		}
	case c.time != nil:
		if text, ok := c.appendNumber(append(dst, '"'), row); ok {
			return append(text, '"')
		}
	default:
		if text, ok := c.appendNumber(dst, row); ok {
			return text
		}
	}
	return append(dst, "null"...)
}

// appendString appends valid UTF-8 as a JSON string. It does not escape characters of HTML: the " > " between levels is
// readable. It escapes U+2028 and U+2029, which some readers treat as line ends.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0 // start of the text that is not appended yet
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

// appendEscape appends the escape of an ASCII character in a JSON string (RFC 8259 §7).
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
