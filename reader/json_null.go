package reader

import (
	"bytes"
	"io"
	"slices"
)

// nonNumbers are what Python's json writes for floats that JSON cannot represent. They are read as null.
var nonNumbers = []string{"NaN", "Infinity", "-Infinity"}

// longestNonNumber is the length of the longest of nonNumbers.
const longestNonNumber = len("-Infinity")

// nullSource replaces the nonNumbers of JSON by null.
type nullSource struct {
	src     io.Reader
	read    []byte // bytes from src that are not processed yet
	ready   []byte // replaced
	used    int    // number of bytes of ready that Read has returned
	quoted  bool   // the next byte of read is in a string
	escaped bool   // the byte before was a backslash in a string
	err     error  // of src
}

func (s *nullSource) Read(p []byte) (int, error) {
	for s.used == len(s.ready) {
		if s.err != nil {
			return 0, s.err
		}
		s.fill()
	}
	n := copy(p, s.ready[s.used:])
	s.used += n
	return n, nil
}

func (s *nullSource) fill() {
	kept := len(s.read)
	s.read = slices.Grow(s.read, readSize)[:kept+readSize]
	n, err := s.src.Read(s.read[kept:])
	s.err, s.ready, s.used = err, s.ready[:0], 0
	rest := s.replace(s.read[:kept+n])
	s.read = append(s.read[:0], rest...)
}

// replace processes text into ready, and returns a rest that may be the beginning of a non-number.
func (s *nullSource) replace(text []byte) (rest []byte) {
	for len(text) > 0 {
		n := s.plain(text)
		s.ready = append(s.ready, text[:n]...)
		if text = text[n:]; len(text) == 0 {
			break
		}
		if len(text) < longestNonNumber && s.err == nil {
			return text
		}
		found := ""
		for _, name := range nonNumbers {
			if bytes.HasPrefix(text, []byte(name)) {
				found = name
			}
		}
		if found == "" {
			s.ready = append(s.ready, text[0])
			text = text[1:]
			continue
		}
		s.ready = append(s.ready, "null"...)
		text = text[len(found):]
	}
	return nil
}

// plain returns the number of bytes before the first that may begin a non-number.
func (s *nullSource) plain(text []byte) int {
	for i, c := range text {
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted && c == '\\':
			s.escaped = true
		case c == '"':
			s.quoted = !s.quoted
		case !s.quoted && (c == 'N' || c == 'I' || c == '-'):
			return i
		}
	}
	return len(text)
}

// withNulls returns JSON with nonNumbers replaced by null.
func withNulls(text []byte) []byte {
	if !bytes.Contains(text, []byte(nonNumbers[0])) && !bytes.Contains(text, []byte(nonNumbers[1])) {
		return text
	}
	s := nullSource{err: io.EOF}
	s.replace(text)
	return s.ready
}
