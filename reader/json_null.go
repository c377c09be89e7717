package reader

import (
	"bytes"

	"golang.org/x/text/transform"
)

// nonNumbers are the texts that Python's json writes for floats that JSON cannot represent. They are read as null.
var nonNumbers = []string{"NaN", "Infinity", "-Infinity"}

const longestNonNumber = len("-Infinity")

// nullTransformer replaces the nonNumbers of JSON by null.
type nullTransformer struct {
	quoted  bool // the next byte is in a string
	escaped bool // the previous byte was a backslash in a string
}

func (t *nullTransformer) Reset() { *t = nullTransformer{} }

func (t *nullTransformer) Transform(dst, src []byte, atEOF bool) (nDst, nSrc int, err error) {
	for nSrc < len(src) {
		plain := t.plain(src[nSrc:min(len(src), nSrc+len(dst)-nDst)])
		nDst, nSrc = nDst+copy(dst[nDst:], src[nSrc:nSrc+plain]), nSrc+plain
		rest := src[nSrc:]
		switch {
		case len(rest) == 0:
			return nDst, nSrc, nil
		case len(dst)-nDst < len("null"):
			return nDst, nSrc, transform.ErrShortDst
		case len(rest) < longestNonNumber && !atEOF:
			return nDst, nSrc, transform.ErrShortSrc
		}
		size, text := 1, rest[:1]
		for _, name := range nonNumbers {
			if bytes.HasPrefix(rest, []byte(name)) {
				size, text = len(name), []byte("null")
			}
		}
		nDst, nSrc = nDst+copy(dst[nDst:], text), nSrc+size
	}
	return nDst, nSrc, nil
}

// plain returns the number of bytes before the first byte that may begin a non-number.
func (t *nullTransformer) plain(text []byte) int {
	for i, c := range text {
		switch {
		case t.escaped:
			t.escaped = false
		case t.quoted && c == '\\':
			t.escaped = true
		case c == '"':
			t.quoted = !t.quoted
		case !t.quoted && (c == 'N' || c == 'I' || c == '-'):
			return i
		}
	}
	return len(text)
}

// withNulls returns JSON with nonNumbers replaced by null.
func withNulls(text []byte) []byte {
	if bytes.Contains(text, []byte(nonNumbers[0])) || bytes.Contains(text, []byte(nonNumbers[1])) {
		text, _, _ = transform.Bytes(new(nullTransformer), text) // never fails
	}
	return text
}
