package reader

import (
	"bytes"
	"unicode/utf8"
)

// txtParser reads an input per line, without surrounding white space. Blank lines and lines that start with # are
// not records.
type txtParser struct {
	lines *lines
}

func (p *txtParser) at() int64 { return p.lines.number }

func (p *txtParser) next() (row, error) {
	for {
		r := row{line: p.lines.number}
		line, err := p.lines.next()
		if err == errLong {
			r.fault = faultLongLine
			return r, nil
		}
		if err != nil {
			return row{}, err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if !utf8.Valid(line) {
			r.fault = faultEncoding
			return r, nil
		}
		r.input = string(line)
		return r, nil
	}
}
