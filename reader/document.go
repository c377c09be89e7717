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

// documentParser reads the elements of a JSON array, or a sequence of JSON values of several lines. A syntax error is final,
// because the beginning of the next value is unknown.
type documentParser struct {
	jsonlParser // parses values
	source      *documentSource
	decoder     *json.Decoder
	started     bool
	jsonLayout
	levels int    // objects around the array
	others func() // called if another array after the records has objects; may be nil
}

func newDocumentParser(src io.Reader, l jsonLayout, values jsonlParser) *documentParser {
	values.unit = "value"
	p := &documentParser{jsonlParser: values, source: &documentSource{src: transform.NewReader(src, new(nullTransformer)), line: 1}, jsonLayout: l}
	p.decoder = json.NewDecoder(p.source)
	p.source.used = p.decoder.InputOffset
	return p
}

func (p *documentParser) at() int64 { return p.source.lineAt(p.decoder.InputOffset()) }

func (p *documentParser) next() (row, error) {
	value, err := p.value()
	if err != nil {
		return row{}, err
	}
	if len(value) > maxRecord {
		return row{}, errLongValue
	}
	r := row{line: p.source.lineAt(p.decoder.InputOffset() - int64(len(value)))}
	p.parseLine(&r, value)
	return r, nil
}

// value returns the next value, and io.EOF after the last value.
func (p *documentParser) value() (value json.RawMessage, err error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	if p.array && !p.decoder.More() {
		return nil, p.leave()
	}
	err = p.decoder.Decode(&value)
	return value, p.broken(err)
}

// enter consumes the bracket of an array before the first value.
func (p *documentParser) enter() error {
	if p.started || !p.array {
		return nil
	}
	p.started = true
	if p.below != "" {
		return p.broken(p.descend())
	}
	_, err := p.decoder.Token()
	return p.broken(err)
}

// leave consumes the end of an array. The error is io.EOF unless more than white space follows.
func (p *documentParser) leave() error {
	if _, err := p.decoder.Token(); err != nil {
		return p.broken(err)
	}
	if err := p.ascend(); err != nil {
		return p.broken(err)
	}
	switch _, err := p.decoder.Token(); err {
	case io.EOF:
		return io.EOF
	case nil:
		return errors.New("broken JSON: data after the end of the array")
	default:
		return p.broken(err)
	}
}

// broken adds to syntax errors that the JSON is broken. The end of the text is such an error inside an array.
func (p *documentParser) broken(err error) error {
	if err == io.EOF && p.array {
		err = io.ErrUnexpectedEOF
	}
	if _, syntax := errors.AsType[*json.SyntaxError](err); syntax || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("broken JSON: %w", err)
	}
	return err
}

// documentSource bounds the length of a value, and counts the lines of the bytes that the decoder has used.
type documentSource struct {
	src  io.Reader
	used func() int64 // number of bytes that the decoder has used
	from int64        // offset of text
	text []byte       // the bytes that the decoder has read, but not used
	line int64        // number of the line at from
}

func (s *documentSource) Read(p []byte) (int, error) {
	if s.from+int64(len(s.text))-s.used() > maxBuffer {
		return 0, errLongValue
	}
	s.lineAt(s.used())
	n, err := s.src.Read(p)
	s.text = append(s.text, p[:n]...)
	return n, err
}

// lineAt returns the number of the line with the byte at an offset. Offsets must not descend.
func (s *documentSource) lineAt(offset int64) int64 {
	passed := s.text[:offset-s.from]
	s.line += lineEnds(passed)
	s.from, s.text = offset, s.text[len(passed):]
	return s.line
}

// documentOf reports whether a sample is a document: a JSON array, or a JSON value of several lines. As JSONL, each of its
// lines would be a malformed record.
func documentOf(s *beginning) (document, array bool) {
	rest := bytes.TrimLeft(withNulls(s.data), jsonSpace)
	line := beforeLineEnd(rest)
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
		second := beforeLineEnd(bytes.TrimLeft(data[len(beforeLineEnd(data)):], jsonSpace))
		return len(second) > 0 && !json.Valid(bytes.TrimRight(second, jsonSpace))
	}
	return false
}
