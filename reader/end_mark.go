package reader

import (
	"bytes"
	"io"
)

// endMark ends text files of CP/M and DOS. A file that was joined from several files has end marks inside.
const endMark = 0x1a

// endMarks removes the end marks at the beginning of lines and at the end of the text.
type endMarks struct {
	src     io.Reader
	inLine  bool // the last byte is not a line end
	pending bool // the last byte is an end mark within a line, which may end the text
}

func (e *endMarks) Read(p []byte) (int, error) {
	if e.pending && len(p) > 1 {
		n, err := e.src.Read(p[1:])
		if n == 0 {
			return 0, err
		}
		p[0], e.pending = endMark, false
		return e.strip(p, n+1), err
	}
	n, err := e.src.Read(p)
	return e.strip(p, n), err
}

// strip removes the end marks among the first n bytes, and returns the number of bytes left.
func (e *endMarks) strip(p []byte, n int) int {
	if n == 0 {
		return 0
	}
	if bytes.IndexByte(p[:n], endMark) < 0 {
		e.inLine = p[n-1] != '\n' && p[n-1] != '\r'
		return n
	}
	kept := 0
	for i, b := range p[:n] {
		switch {
		case b == endMark && !e.inLine:
			continue
		case b == endMark && i == n-1:
			e.pending = true
			continue
		}
		p[kept] = b
		kept++
		e.inLine = b != '\n' && b != '\r'
	}
	return kept
}
