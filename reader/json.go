package reader

import (
	"bytes"
	"encoding/json"
	"iter"
	"strings"
)

// The functions here walk over one JSON value that json.Valid has accepted. That
// done, the walk needs no error handling, and cuts keys and values out of the
// line without decoding what nobody asks for.

// jsonSpace is what RFC 8259 §2 calls white space.
const jsonSpace = " \t\r\n"

// members yields the keys, decoded, and the values, as they are written, of an
// object. Of a key that occurs twice, both are yielded.
func members(object string) iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		rest := skipSpace(object[1:]) // behind the brace
		for rest[0] != '}' {
			n := stringLen(rest)
			key := unquote(rest[:n])
			rest = skipSpace(rest[n:])
			rest = skipSpace(rest[1:]) // behind the colon
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

// lookup returns the value of a key of the object, or else what a dotted path
// leads to.
func lookup(object, name string) (value string, found bool) {
	for key, v := range members(object) {
		if key == name {
			value, found = v, true // the last one wins, as in encoding/json
		}
	}
	if found {
		return value, true
	}
	return lookupPath(object, name)
}

// lookupPath follows a dotted path into objects. A key that itself has dots is
// found too, at any depth but the first.
func lookupPath(object, path string) (value string, found bool) {
	head, tail, dotted := strings.Cut(path, ".")
	if !dotted {
		return "", false
	}
	for key, v := range members(object) {
		if key == head {
			value = v
		}
	}
	if !strings.HasPrefix(value, "{") {
		return "", false
	}
	return lookup(value, tail)
}

// fieldText returns a value as it is carried: a string decoded, null as "", all
// else as compact JSON.
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
	if err := json.Compact(&compact, []byte(value)); err != nil {
		return value // not reached: the value is valid
	}
	return compact.String()
}

// kind names a value's type in a message.
func kind(value string) string {
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	case '"':
		return "a string"
	default:
		return "a number"
	}
}

// unquote decodes a JSON string. A lone surrogate becomes U+FFFD.
func unquote(quoted string) string {
	if strings.IndexByte(quoted, '\\') < 0 {
		return quoted[1 : len(quoted)-1]
	}
	var s string
	if err := json.Unmarshal([]byte(quoted), &s); err != nil {
		return quoted // not reached: the string is valid
	}
	return s
}

// skipSpace is called for every token, and mostly there is no space.
func skipSpace(s string) string {
	for s != "" && isSpace(s[0]) {
		s = s[1:]
	}
	return s
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// stringLen returns the length of the quoted string that s starts with.
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

// valueLen returns the length of the value that s starts with.
func valueLen(s string) int {
	switch s[0] {
	case '"':
		return stringLen(s)
	case '{', '[':
		return nestedLen(s)
	}
	n := 0
	for s[n] != ',' && s[n] != '}' && s[n] != ']' && !isSpace(s[n]) {
		n++
	}
	return n
}

// nestedLen returns the length of the object or array that s starts with.
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
