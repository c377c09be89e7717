package writer

import (
	"bytes"
	"encoding/json"
)

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
	if isPlain(s) {
		return append(append(append(dst, '"'), s...), '"')
	}
	out := bytes.NewBuffer(dst)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // cannot fail for a string
	return bytes.TrimSuffix(out.Bytes(), []byte{'\n'})
}

// isPlain reports whether a text needs no escape in JSON. Of the characters beyond ASCII, it looks only at the first byte.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c == "\u2028"[0] {
			return false
		}
	}
	return true
}
