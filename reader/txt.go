package reader

import (
	"bytes"
	"unicode/utf8"
)

var txtFormat = inputFormat{
	name:       "txt",
	extensions: []string{".txt"},
	plain:      true,
	content:    "one input per line",
	fit:        func(*beginning, *Options) fit { return anyText },
	examine:    func(*file, *beginning, *Options) (opener, error) { return openTXT, nil },
}

// txtParser reads an input per line, without surrounding white space. Blank lines and lines that start with # are
// not records.
type txtParser struct {
	lines *lineSplitter
}

func openTXT(_ *Reader, _ *file, s *stream) (parser, error) { return &txtParser{s.splitLines()}, nil }

func (p *txtParser) at() int64 { return p.lines.number }

func (p *txtParser) next() (row, error) {
	r, line, err := p.lines.record(trimText)
	switch {
	case err != nil || r.fault != "":
		return r, err
	case !utf8.Valid(line):
		r.fault = faultEncoding
	default:
		r.input = string(line)
	}
	return r, nil
}

// trimText returns a line without white space around it; nil for a comment.
func trimText(line []byte) []byte {
	line = bytes.TrimSpace(line)
	if bytes.HasPrefix(line, []byte{'#'}) {
		return nil
	}
	return line
}
