package outputs

import (
	"bytes"
	"io"
)

// blocks cuts a text file into blocks of whole rows.
type blocks struct {
	in     io.Reader
	size   int    // of a block, in bytes, or more if a row is longer
	quoted bool   // newlines inside quotes do not end a row, as in CSV
	rest   []byte // read, but after the last block
	err    error  // of in
}

// next returns the next block; io.EOF after the last one. The caller may keep it.
func (s *blocks) next() (string, error) {
	block := append(make([]byte, 0, len(s.rest)+s.size), s.rest...)
	for {
		if s.err == nil {
			n := len(block)
			block = append(block, make([]byte, s.size)...)
			var read int
			read, s.err = fill(s.in, block[n:])
			block = block[:n+read]
		}
		if s.err != nil && s.err != io.EOF {
			return "", s.err
		}
		if s.err != nil && len(block) == 0 {
			return "", io.EOF
		}
		end := len(block)
		if s.err == nil {
			end = s.end(block)
		}
		if end > 0 {
			s.rest = bytes.Clone(block[end:])
			return string(block[:end]), nil
		}
	}
}

// fill reads until p is full or an error. It passes on the errors of in, unlike io.ReadFull, whose io.ErrUnexpectedEOF
// could also be that of a file that is cut short.
func fill(in io.Reader, p []byte) (n int, err error) {
	for n < len(p) && err == nil {
		var more int
		more, err = in.Read(p[n:])
		n += more
	}
	return n, err
}

// end returns the end of the last whole row; 0 for none.
func (s *blocks) end(block []byte) int {
	quotes := 0
	if s.quoted {
		quotes = bytes.Count(block, []byte{'"'})
	}
	for end := len(block); ; {
		newline := bytes.LastIndexByte(block[:end], '\n')
		if s.quoted {
			quotes -= bytes.Count(block[newline+1:end], []byte{'"'})
		}
		if newline < 0 || quotes%2 == 0 {
			return newline + 1
		}
		end = newline
	}
}
