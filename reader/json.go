package reader

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"iter"
	"strings"
)

// The functions in this file expect a JSON value that json.Valid has accepted, and so need no error handling. They cut keys and
// values out of a line, and decode only the values that are used. jsontext would be shorter, but slower.

// jsonSpace is the white space of JSON (RFC 8259 §2).
const jsonSpace = " \t\r\n"

func trimJSON(line []byte) []byte { return bytes.Trim(line, jsonSpace) }

// members yields the decoded keys and the encoded values of an object. It yields repeated keys each time.
func members(object string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		rest := skipSpace(object[1:]) // after the brace
		for rest[0] != '}' {
			n := stringLen(rest)
			key := unquote(rest[:n])
			rest = skipSpace(rest[n:])
			rest = skipSpace(rest[1:]) // after the colon
			n = valueLen(rest)
			if !yield(key, rest[:n]) {
				return
			}
			rest = skipSpace(rest[n:])
			if rest[0] == ',' {
				rest = skipSpace(rest[1:])
			}
		}
	}
}

// member returns the encoded value of a key. Of repeated keys the last counts, as in encoding/json.
func member(object, name string) (value string, found bool) {
	for key, v := range members(object) {
		if key == name {
			value, found = v, true
		}
	}
	return value, found
}

// lookup returns the encoded value of a key, or else of a dotted path.
func lookup(object, name string) (value string, found bool) {
	if value, found = member(object, name); found {
		return value, true
	}
	return lookupPath(object, name)
}

// lookupPath returns the encoded value of a dotted path. Below the first level, keys may contain dots.
func lookupPath(object, path string) (value string, found bool) {
	head, tail, dotted := strings.Cut(path, ".")
	if !dotted {
		return "", false
	}
	if value, _ = member(object, head); !strings.HasPrefix(value, "{") {
		return "", false
	}
	return lookup(value, tail)
}

// fieldText returns the field of an encoded value: a decoded string, "" for null, and compact JSON for other values.
func fieldText(value string) string {
	switch value[0] {
	case '"':
		return unquote(value)
	case 'n':
		return ""
	}
	if !strings.ContainsAny(value, jsonSpace) {
		return value
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, []byte(value)) // cannot fail: the value is valid
	return compact.String()
}

// kinds are names of the types of values, by their first bytes.
var kinds = map[byte]string{'{': "an object", '[': "an array", 't': "a boolean", 'f': "a boolean", 'n': "null", '"': "a string"}

// kind returns the name of a value's type, for messages.
func kind(value string) string { return cmp.Or(kinds[value[0]], "a number") }

// unquote decodes a JSON string. A lone surrogate becomes U+FFFD.
func unquote(quoted string) string {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	_ = json.Unmarshal([]byte(quoted), &s) // cannot fail: the string is valid
	return s
}

// skipSpace removes leading white space. strings.TrimLeft is slow if there is none.
func skipSpace(s string) string {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	return s
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// stringLen returns the length of the quoted string at the start of s.
func stringLen(s string) int {
	for i := 1; ; i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// valueLen returns the length of the value at the start of s, in an object or array.
func valueLen(s string) int {
	switch s[0] {
	case '"':
		return stringLen(s)
	case '{', '[':
		return nestedLen(s)
	}
	return strings.IndexAny(s, ",}]"+jsonSpace)
}

// nestedLen returns the length of the object or array at the start of s.
func nestedLen(s string) int {
	depth := 0
	for i := 0; ; i++ {
		switch s[i] {
		case '"':
			i += stringLen(s[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// Objects returns the objects of an array in a field of [TypeJSON]. Each object yields its members, with their values as fields.
func Objects(array string) (list []iter.Seq2[string, string], err error) {
	var elements []json.RawMessage
	if err := json.Unmarshal([]byte(array), &elements); err != nil || array[0] != '[' {
		return nil, errNoObjects
	}
	for _, element := range elements {
		if element[0] != '{' {
			return nil, errNoObjects
		}
		object := string(element)
		list = append(list, func(yield func(string, string) bool) {
			for key, value := range members(object) {
				if !yield(key, fieldText(value)) {
					return
				}
			}
		})
	}
	return list, nil
}

var errNoObjects = errors.New("the value is no JSON array of objects")
