package reader

import (
	"bytes"
	"errors"
	"io"
)

const (
	// maxRecord is the longest line, and the longest quoted CSV record, in bytes
	// of UTF-8 without the line end. No input comes near it; a stray quote or a
	// binary file does.
	maxRecord = 1 << 20
	// maxBuffer leaves room for a read behind the longest record.
	maxBuffer = maxRecord + readSize
	// maxEmptyReads is how often a source may return nothing and no error.
	maxEmptyReads = 100
)

var errLong = errors.New("longer than 1 MiB")

// lines cuts a stream into physical lines. Unlike bufio.Scanner it can look at
// the lines behind the next one without consuming them, and can drop a line that
// is too long to hold.
type lines struct {
	src    io.Reader
	buf    []byte
	start  int   // buf[start:end] is not consumed yet
	end    int   //
	number int64 // of the line at start
	last   byte  // of what is consumed; a line feed before the first line
	err    error // what src ended with, once it has
}

func newLines(src io.Reader) *lines {
	return &lines{src: src, buf: make([]byte, readSize), number: 1, last: '\n'}
}

// next consumes the next line and returns it without its line end, valid until
// the next call. For a line that is too long the error is errLong; it is consumed
// too. At the end the error is io.EOF.
func (l *lines) next() ([]byte, error) {
	raw, err := l.peek(0)
	if err == errLong {
		l.skip()
	}
	if err != nil {
		return nil, err
	}
	l.advance(len(raw))
	line, _ := cutLineEnd(raw)
	return line, nil
}

// peek returns the line that starts offset bytes ahead, with its line end, and
// consumes nothing. The error is errLong when everything up to the end of that
// line is longer than a record may be.
func (l *lines) peek(offset int) ([]byte, error) {
	searched := offset
	for {
		ahead := l.buf[l.start:l.end]
		if i := bytes.IndexByte(ahead[searched:], '\n'); i >= 0 {
			return fitting(ahead[:searched+i+1], offset)
		}
		searched = len(ahead)
		switch {
		case len(ahead) > maxRecord+len("\r\n"):
			return nil, errLong
		case l.err == io.EOF && len(ahead) > offset:
			return fitting(ahead, offset)
		case l.err != nil:
			return nil, l.err
		}
		l.fill()
	}
}

func fitting(ahead []byte, offset int) ([]byte, error) {
	line, _ := cutLineEnd(ahead[offset:])
	if offset+len(line) > maxRecord {
		return nil, errLong
	}
	return ahead[offset:], nil
}

// advance consumes n bytes, which end with a line.
func (l *lines) advance(n int) {
	l.number += int64(bytes.Count(l.buf[l.start:l.start+n], []byte{'\n'}))
	l.start += n
	if n > 0 {
		l.last = l.buf[l.start-1]
	}
}

// ended says whether the last line that was consumed has a line end.
func (l *lines) ended() bool { return l.last == '\n' }

// head returns the beginning of what is held.
func (l *lines) head() []byte {
	return l.buf[l.start:min(l.end, l.start+readSize)]
}

// skip consumes the next line without holding it. An error of the source is left
// to whoever reads on.
func (l *lines) skip() {
	for {
		if i := bytes.IndexByte(l.buf[l.start:l.end], '\n'); i >= 0 {
			l.advance(i + 1)
			return
		}
		l.start, l.end, l.last = 0, 0, 0
		if l.err != nil {
			return
		}
		l.fill()
	}
}

// fill reads once. It finds room because peek gives up before the buffer is full.
func (l *lines) fill() {
	if l.end == len(l.buf) {
		ahead := l.buf[l.start:l.end]
		if len(ahead) > len(l.buf)/2 && len(l.buf) < maxBuffer {
			l.buf = make([]byte, min(2*len(l.buf), maxBuffer))
		}
		l.start, l.end = 0, copy(l.buf, ahead)
	}
	for range maxEmptyReads {
		n, err := l.src.Read(l.buf[l.end:])
		l.end += n
		if err != nil {
			l.err = err
			return
		}
		if n > 0 {
			return
		}
	}
	l.err = io.ErrNoProgress
}

// cutLineEnd splits a line from its end: LF, CRLF, or the CR of a CRLF that the
// end of the file cut off.
func cutLineEnd(raw []byte) (line, end []byte) {
	n := len(raw)
	if n > 0 && raw[n-1] == '\n' {
		n--
	}
	if n > 0 && raw[n-1] == '\r' {
		n--
	}
	return raw[:n], raw[n:]
}
