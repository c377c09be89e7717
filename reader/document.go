package reader

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/transform"
)

// errLongValue is the error of a JSON value that is longer than a record. A bracket may be missing.
var errLongValue = errors.New("a JSON value is longer than 1 MiB")

// document is the source of the elements of a JSON array, or of a sequence of JSON values of several lines. A syntax error is
// final, because the beginning of the next value is unknown.
type document struct {
	text    *documentText
	decoder *json.Decoder
	jsonLayout
	levels int    // objects around the array
	others func() // called if another array after the records has objects; may be nil
}

// newDocument returns a document whose text is consumed up to the first value.
func newDocument(src io.Reader, l jsonLayout) (d *document, err error) {
	d = &document{text: &documentText{src: transform.NewReader(src, new(nullTransformer)), line: 1}, jsonLayout: l}
	d.decoder = json.NewDecoder(d.text)
	d.text.used = d.decoder.InputOffset
	switch {
	case d.below != "":
		err = d.descend()
	case d.array:
		_, err = d.decoder.Token()
	}
	return d, d.broken(err)
}

func (d *document) at() int64 { return d.text.lineAt(d.decoder.InputOffset()) }

func (d *document) value() (r row, value []byte, err error) {
	if d.array && !d.decoder.More() {
		return r, nil, d.leave()
	}
	err = d.broken(d.decoder.Decode((*json.RawMessage)(&value)))
	if err == nil && len(value) > maxRecord {
		err = errLongValue
	}
	r.line = d.text.lineAt(d.decoder.InputOffset() - int64(len(value)))
	return r, value, err
}

// leave consumes the end of an array. The error is io.EOF unless more than white space follows.
func (d *document) leave() error {
	if _, err := d.decoder.Token(); err != nil {
		return d.broken(err)
	}
	if err := d.ascend(); err != nil {
		return d.broken(err)
	}
	switch _, err := d.decoder.Token(); err {
	case io.EOF:
		return io.EOF
	case nil:
		return errors.New("broken JSON: data after the end of the array")
	default:
		return d.broken(err)
	}
}

// broken adds to syntax errors that the JSON is broken. The end of the text is such an error inside an array.
func (d *document) broken(err error) error {
	if err == io.EOF && d.array {
		err = io.ErrUnexpectedEOF
	}
	if _, syntax := errors.AsType[*json.SyntaxError](err); syntax || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("broken JSON: %w", err)
	}
	return err
}

// documentText bounds the length of a value, and counts the lines of the bytes that the decoder has used.
type documentText struct {
	src  io.Reader
	used func() int64 // number of bytes that the decoder has used
	from int64        // offset of text
	text []byte       // the bytes that the decoder has read, but not used
	line int64        // number of the line at from
}

func (s *documentText) Read(p []byte) (int, error) {
	if s.from+int64(len(s.text))-s.used() > maxBuffer {
		return 0, errLongValue
	}
	s.lineAt(s.used())
	n, err := s.src.Read(p)
	s.text = append(s.text, p[:n]...)
	return n, err
}

// lineAt returns the number of the line with the byte at an offset. Offsets must not descend.
func (s *documentText) lineAt(offset int64) int64 {
	passed := s.text[:offset-s.from]
	s.line += lineEnds(passed)
	s.from, s.text = offset, s.text[len(passed):]
	return s.line
}

// documentOf reports whether a sample is a document: a JSON array, or a JSON value of several lines. As JSONL, each of its
// lines would be a malformed record.
func documentOf(s *beginning) (document, array bool) {
	rest := bytes.TrimLeft(withNulls(s.data), jsonSpace)
	line, _ := cutLine(rest)
	switch {
	case len(rest) == 0:
		return false, false
	case rest[0] == '[':
		return true, true
	}
	return !json.Valid(bytes.Trim(line, jsonSpace)) && spansLines(rest), false
}

// spansLines reports whether data starts with a JSON value of several lines, perhaps cut off. If the second line is a value
// itself, data is JSONL with a broken first line.
func spansLines(data []byte) bool {
	var value json.RawMessage
	switch err := json.NewDecoder(bytes.NewReader(data)).Decode(&value); err {
	case nil:
		return bytes.ContainsAny(value, "\r\n")
	case io.ErrUnexpectedEOF:
		second, _ := cutLine(bytes.TrimLeft(afterLines(data, 1), jsonSpace))
		return len(second) > 0 && !json.Valid(bytes.TrimRight(second, jsonSpace))
	}
	return false
}
