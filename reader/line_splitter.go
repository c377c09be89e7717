package reader

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

const (
	// maxRecord is the default of Options.MaxRecord, which bounds a line and a quoted CSV record, in bytes of UTF-8 without the
	// line end.
	maxRecord = 1 << 20
	// maxBuffer is room for a record of maxRecord and one more read.
	maxBuffer = maxRecord + readSize
	// maxEmptyReads is the number of consecutive reads without data or error after which reading fails.
	maxEmptyReads = 100
)

var errLong = errors.New("longer than a record may be")

// lineSplitter splits a stream into physical lines, which end with LF, CRLF or CR, perhaps mixed. Unlike bufio.Scanner, it can
// look ahead at lines without consuming them, and can skip a line that is too long for its buffer.
type lineSplitter struct {
	src        io.Reader
	most       int // Options.MaxRecord
	buf        []byte
	start, end int   // buf[start:end] is not consumed yet
	number     int64 // 1-based number of the line at start
	last       byte  // last consumed byte; a line feed before the first line
	err        error // last error of src
}

func newLineSplitter(src io.Reader) *lineSplitter {
	return &lineSplitter{src: src, most: maxRecord, buf: make([]byte, readSize), number: 1, last: '\n'}
}

// next consumes and returns the next line without its line end. The line is valid until the next call. The error
// is errLong for a line that is too long, which is consumed as well, and io.EOF after the last line.
func (l *lineSplitter) next() ([]byte, error) {
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

// record returns the row of the next line that is not blank after trim, and the trimmed line. A line that is too long is a row
// with a fault.
func (l *lineSplitter) record(trim func([]byte) []byte) (r row, line []byte, err error) {
	for len(line) == 0 {
		r.line = l.number
		line, err = l.next()
		if err == errLong {
			r.fault = faultLongLine
			return r, nil, nil
		}
		if err != nil {
			return row{}, nil, err
		}
		line = trim(line)
	}
	return r, line, nil
}

// peek returns the line that starts offset bytes ahead, with its line end. It consumes nothing. The error is errLong if the
// text up to the end of that line exceeds most bytes.
func (l *lineSplitter) peek(offset int) ([]byte, error) {
	for searched := offset; ; l.fill() {
		size, without := l.search(searched)
		if size == 0 && l.err == io.EOF { // the last line has no line end
			size = without
		}
		line, _ := cutLineEnd(l.buf[l.start : l.start+max(size, without)])
		switch {
		case len(line) > l.most:
			return nil, errLong
		case size > offset:
			return l.buf[l.start+offset : l.start+size], nil
		case l.err != nil:
			return nil, l.err
		}
		searched = without
	}
}

// search looks for the next line end at or after the offset from. It returns the size of the text including the line end, or else
// 0 and the size of the text that has no line end. A CR at the end of the buffer may begin a CRLF, unless the source has ended.
func (l *lineSplitter) search(from int) (size, without int) {
	text := l.buf[l.start+from : l.end]
	lf := bytes.IndexByte(text, '\n')
	if lf < 0 {
		lf = len(text)
	}
	cr := bytes.IndexByte(text[:lf], '\r')
	switch {
	case cr >= 0 && cr == len(text)-1 && l.err == nil:
		return 0, from + cr
	case cr >= 0 && cr < lf-1, cr >= 0 && lf == len(text):
		return from + cr + 1, 0
	case lf < len(text):
		return from + lf + 1, 0
	}
	return 0, from + len(text)
}

// advance consumes n bytes, which must end with the end of a line.
func (l *lineSplitter) advance(n int) {
	text := l.buf[l.start : l.start+n]
	l.number += lineEnds(text)
	l.start += n
	if n > 0 {
		l.last = l.buf[l.start-1]
	}
}

// lineEnds returns the number of line ends in text. A CR at the end of text counts.
func lineEnds(text []byte) int64 {
	n := bytes.Count(text, []byte{'\n'})
	if bytes.IndexByte(text, '\r') >= 0 {
		n += bytes.Count(text, []byte{'\r'}) - bytes.Count(text, []byte("\r\n"))
	}
	return int64(n)
}

// at returns the number of the next line, as of a parser.
func (l *lineSplitter) at() int64 { return l.number }

// ended reports whether the last consumed line has a line end.
func (l *lineSplitter) ended() bool { return l.last == '\n' || l.last == '\r' }

// head returns the beginning of the buffered text.
func (l *lineSplitter) head() []byte {
	return l.buf[l.start:min(l.end, l.start+readSize)]
}

// skip consumes the next line, of any length. The next call of peek returns an error of the source.
func (l *lineSplitter) skip() {
	for {
		size, without := l.search(0)
		if size > 0 {
			l.advance(size)
			return
		}
		l.start, l.last = l.start+without, 0
		if l.err != nil {
			return
		}
		l.fill()
	}
}

// fill reads once. The buffer has room because peek returns errLong before the buffer is full.
func (l *lineSplitter) fill() {
	if l.end == len(l.buf) {
		ahead := l.buf[l.start:l.end]
		if len(ahead) > len(l.buf)/2 && len(l.buf) < l.most+readSize {
			l.buf = make([]byte, min(2*len(l.buf), l.most+readSize))
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

// cutLineEnd splits a line from its line end: LF, CRLF, CR or none.
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

// cutLine cuts text after its first line, and returns the line without its line end.
func cutLine(text []byte) (line, rest []byte) {
	i := bytes.IndexAny(text, "\r\n")
	switch {
	case i < 0:
		return text, nil
	case bytes.HasPrefix(text[i:], []byte("\r\n")):
		return text[:i], text[i+2:]
	}
	return text[:i], text[i+1:]
}

// afterLines returns the text after n lines.
func afterLines(text []byte, n int) []byte {
	for range n {
		_, text = cutLine(text)
	}
	return text
}

// firstLine returns the first line of text that is neither blank nor a # comment; nil if there is none.
func firstLine(text []byte) (line []byte) {
	for len(text) > 0 {
		line, text = cutLine(text)
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return line
		}
	}
	return nil
}

var txtFormat = inputFormat{
	name:       "txt",
	extensions: []string{".txt"},
	content:    "one input per line",
	fit:        func(*beginning, *Options) fit { return anyText },
	examine:    examineTXT,
}

// examineTXT warns if a text that the options do not call txt looks like CSV.
func examineTXT(_ *file, s *beginning, o *Options) (opener, error) {
	if o.Format == "" && !o.Dialect.Strict && looksCSV(s.lines(), o) {
		o.Log.Warn("the lines look like rows of CSV, and each line is read as one input: if they are rows, name the format csv",
			"option", "reader.Format", "file", displayName(s.name), "line", fmt.Sprintf("%.60q", firstLine(s.lines())))
	}
	return openTXT, nil
}

// looksCSV reports whether the first lines, at least two, have equally many delimiters, and no space follows a delimiter, unlike
// in prose.
func looksCSV(text []byte, o *Options) bool {
	if len(afterLines(text, 1)) == 0 {
		return false
	}
	return slices.ContainsFunc(delimiters, func(comma string) bool {
		d := o.ofCSV(comma)
		d.comment = o.comment()
		fields, share := consistency(text, d)
		return fields > 1 && share == 1 && !bytes.Contains(text, []byte(comma+" "))
	})
}

// txtParser reads one input per line, without surrounding white space. Blank lines and comments are not records.
type txtParser struct {
	*lineSplitter
	comment  string
	comments *int64
}

func openTXT(r *Reader, f *file, s *stream) (parser, error) {
	return &txtParser{s.splitLines(r.options.MaxRecord), r.options.comment(), &f.info.Comments}, nil
}

func (p *txtParser) next() (row, error) {
	r, line, err := p.record(p.trim)
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
