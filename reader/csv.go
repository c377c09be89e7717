package reader

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Why a row is malformed.
const (
	faultLongLine   = "the line is longer than 1 MiB"
	faultLongRecord = "a quote opened on this line is not closed within 1 MiB"
	faultUnclosed   = "a quote opened on this line is never closed"
	faultBareQuote  = `a quote (") inside an unquoted field`
	faultAfterQuote = `text after a closing quote (")`
	faultEncoding   = "invalid UTF-8; if the file is in another encoding, name it, such as --encoding windows-1252"
)

// csvRows splits RFC 4180 text into rows of fields. encoding/csv cannot be used:
// after a stray quote it has consumed the lines up to the next quote, or to the
// end of the file, and there is no way back to the line after the faulty one.
//
// Looking ahead costs linear time in all. A row that stays open past its first
// line has an odd number of quotes on it, and the lines it then looks through
// without closing have an even number each; read afresh, such a line ends within
// itself. So no line is looked through for two different rows, except one on
// which a look-ahead ends.
type csvRows struct {
	lines  *lines
	comma  string
	want   int // how many fields a row must have; 0 takes any number
	fields fieldBuffer
	slab   []string // where the fields of the next rows go
}

// slabFields are allocated at once: a row's few are a quarter of what reading it costs.
const slabFields = 256

// take gives room for a row of n fields.
func (c *csvRows) take(n int) []string {
	if n > len(c.slab) {
		c.slab = make([]string, max(n, slabFields))
	}
	fields := c.slab[:n:n]
	c.slab = c.slab[n:]
	return fields
}

// csvRow is a row in the order of its file's own columns.
type csvRow struct {
	line   int64
	fields []string
	fault  string
}

// next returns the next row that is not blank, io.EOF after the last one. A
// malformed row consumes one line.
func (c *csvRows) next() (csvRow, error) {
	for {
		r := csvRow{line: c.lines.number}
		raw, err := c.lines.peek(0)
		if err == errLong {
			c.lines.skip()
			r.fault = faultLongLine
			return r, nil
		}
		if err != nil {
			return r, err
		}
		line, _ := cutLineEnd(raw)
		switch {
		case len(line) == 0:
			c.lines.advance(len(raw))
			continue
		case bytes.IndexByte(line, '"') >= 0:
			return c.quoted(r, len(raw))
		}
		r.fields, r.fault = c.plain(line)
		c.lines.advance(len(raw))
		return r, nil
	}
}

// plain splits a line without quotes. The fields are parts of one string.
func (c *csvRows) plain(line []byte) (fields []string, fault string) {
	if !utf8.Valid(line) {
		return nil, faultEncoding
	}
	rest := string(line)
	n := strings.Count(rest, c.comma) + 1
	if c.want > 0 && n != c.want {
		return nil, wrongNumber(n, c.want)
	}
	fields = c.take(n)
	for i := range n - 1 {
		fields[i], rest, _ = strings.Cut(rest, c.comma)
	}
	fields[n-1] = rest
	return fields, ""
}

// quoted reads a row that has quotes on its first line, which is first bytes
// long, and so may go on over several lines.
func (c *csvRows) quoted(r csvRow, first int) (csvRow, error) {
	c.fields.reset()
	size, last := 0, r.line-1 // of what is looked through
	for r.fault == "" && (size == 0 || c.fields.open) {
		raw, err := c.lines.peek(size)
		switch {
		case err == errLong:
			r.fault = faultLongRecord
		case err == io.EOF:
			r.fault = faultUnclosed
		case err != nil:
			return r, err
		default:
			r.fault = c.fields.add(raw, c.comma)
			size += len(raw)
			last++
		}
	}
	if n := len(c.fields.ends); r.fault == "" && c.want > 0 && n != c.want {
		r.fault = wrongNumber(n, c.want)
	}
	if r.fault != "" {
		if last > r.line && r.fault != faultLongRecord && r.fault != faultUnclosed {
			r.fault = fmt.Sprintf("a quote opened on this line is closed on line %d, but: %s", last, r.fault)
		}
		c.lines.advance(first)
		return r, nil
	}
	// From here on the row's extent is certain: it is consumed whole.
	c.lines.advance(size)
	if !utf8.Valid(c.fields.text) {
		r.fault = faultEncoding
		return r, nil
	}
	r.fields = c.fields.strings()
	return r, nil
}

func wrongNumber(n, want int) string {
	return fmt.Sprintf("wrong number of fields: %d, want %d", n, want)
}

// fieldBuffer gathers the fields of one row, line by line.
type fieldBuffer struct {
	text []byte // all fields, unquoted, one behind the other
	ends []int  // where each ends in text
	open bool   // inside quotes
}

func (f *fieldBuffer) reset() {
	f.text, f.ends, f.open = f.text[:0], f.ends[:0], false
}

// add takes one more line with its line end and returns the fault it meets, or
// "". If it leaves the buffer open, the row goes on with the next line.
func (f *fieldBuffer) add(raw []byte, comma string) (fault string) {
	line, lineEnd := cutLineEnd(raw)
	for {
		if !f.open && bytes.HasPrefix(line, []byte{'"'}) {
			f.open = true
			line = line[1:]
		}
		var more bool
		switch {
		case f.open && bytes.IndexByte(line, '"') < 0:
			f.text = append(append(f.text, line...), lineEnd...)
			return ""
		case f.open:
			line, more, fault = f.addQuoted(line, comma)
		default:
			line, more, fault = f.addPlain(line, comma)
		}
		if !more || fault != "" {
			return fault
		}
	}
}

// addQuoted takes what stands before the next quote, and that quote. It returns
// the rest of the line and whether the row has more on it.
func (f *fieldBuffer) addQuoted(line []byte, comma string) (rest []byte, more bool, fault string) {
	i := bytes.IndexByte(line, '"')
	f.text = append(f.text, line[:i]...)
	rest = line[i+1:]
	switch {
	case len(rest) == 0:
		f.end()
		return nil, false, ""
	case rest[0] == '"':
		f.text = append(f.text, '"')
		return rest[1:], true, ""
	case bytes.HasPrefix(rest, []byte(comma)):
		f.end()
		return rest[len(comma):], true, ""
	default:
		return nil, false, faultAfterQuote
	}
}

// addPlain takes an unquoted field. It returns the rest of the line and whether
// the row has more on it.
func (f *fieldBuffer) addPlain(line []byte, comma string) (rest []byte, more bool, fault string) {
	field, rest, more := bytes.Cut(line, []byte(comma))
	if bytes.IndexByte(field, '"') >= 0 {
		return nil, false, faultBareQuote
	}
	f.text = append(f.text, field...)
	f.end()
	return rest, more, ""
}

func (f *fieldBuffer) end() {
	f.ends = append(f.ends, len(f.text))
	f.open = false
}

// strings returns the fields as parts of one string.
func (f *fieldBuffer) strings() []string {
	text := string(f.text)
	fields := make([]string, len(f.ends))
	start := 0
	for i, end := range f.ends {
		fields[i] = text[start:end]
		start = end
	}
	return fields
}

// csvParser places the rows of one file under the columns of the run.
type csvParser struct {
	rows   csvRows
	input  int   // the input column's place among the file's own
	places []int // of the file's own columns in the run's; nil when they are the same
	width  int   // how many columns the run has
}

// newCSVParser consumes the header and makes sure that it is still the one that
// was seen when the file was inspected.
func newCSVParser(f *file, lines *lines, width int, header bool) (*csvParser, error) {
	p := &csvParser{
		rows:   csvRows{lines: lines, comma: f.comma},
		input:  f.input,
		places: f.places,
		width:  width,
	}
	if header {
		r, err := p.rows.next()
		switch {
		case err != nil && err != io.EOF:
			return nil, &ReadError{f.info.Name, r.line, err}
		case r.fault != "":
			return nil, &FormatError{f.info.Name, r.line, "malformed header: " + r.fault}
		case !slices.Equal(columnNames(r.fields), f.columns):
			return nil, &FormatError{f.info.Name, r.line, "the header has changed since the run began; start again"}
		}
	}
	p.rows.want = len(f.columns)
	return p, nil
}

func (p *csvParser) at() int64 { return p.rows.lines.number }

func (p *csvParser) next() (row, error) {
	r, err := p.rows.next()
	if err != nil || r.fault != "" {
		return row{line: r.line, fault: r.fault}, err
	}
	out := row{line: r.line, input: r.fields[p.input], fields: r.fields}
	if p.places != nil {
		out.fields = make([]string, p.width)
		for i, place := range p.places {
			out.fields[place] = r.fields[i]
		}
	}
	return out, nil
}
