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

// txtParser reads one input per line, without surrounding white space. Blank lines and comments are not records.
type txtParser struct {
	lines    *lineSplitter
	comment  string
	comments *int64
}

func openTXT(r *Reader, f *file, s *stream) (parser, error) {
	return &txtParser{s.splitLines(r.options.MaxRecord), r.options.comment(), &f.info.Comments}, nil
}

func (p *txtParser) at() int64 { return p.lines.number }

func (p *txtParser) next() (row, error) {
	r, line, err := p.lines.record(p.trim)
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

// trim returns a line without surrounding white space. It counts comments and returns nil for them.
func (p *txtParser) trim(line []byte) []byte {
	line = bytes.TrimSpace(line)
	if p.comment != "" && bytes.HasPrefix(line, []byte(p.comment)) {
		*p.comments++
		return nil
	}
	return line
}
