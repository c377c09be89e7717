package reader

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
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

// csvRows splits CSV into rows of fields, as pandas and Excel read them: a quote
// inside an unquoted field is text, and so is what follows a closing quote; the
// fields that a short row lacks are empty; a line of spaces is blank. In strict mode
// it takes what RFC 4180 allows, and a row must have as many fields as the header.
//
// Unlike pandas, a quoted field that goes on over several lines must close before
// a delimiter or a line end, and its row must have the wanted number of fields.
// Else the quote that opens it is a stray one, and the rows that follow are read
// on their own. encoding/csv cannot be used: after a stray quote it has consumed
// the lines up to the next quote, or to the end of the file, and there is no way
// back to the line after the faulty one.
//
// Looking ahead costs linear time. A line that an open row looks through without
// closing a field has an even number of quotes, in pairs; read afresh, such a line
// ends within itself. A line that closes a field adds to the fields of the row,
// and a row has no more of them than are wanted. So the rows for which a line is
// looked through are no more than the columns, and in strict mode one, except for
// a line on which a look-ahead ends.
type csvRows struct {
	lines  *lines
	comma  string
	strict bool
	want   int // how many fields a row must have; 0 takes any number
	fields fieldBuffer
	slab   []string // where the fields of the next rows go

	short      int64 // rows that lack fields and are no fault
	firstShort int64 // the line of the first of them
}

// slabFields are allocated at once: a row's few are a quarter of what reading it costs.
const slabFields = 256

// longLine ends a slab: it would be held for as long as any row of the slab.
const longLine = 4 << 10

// take gives room for a row of n fields.
func (c *csvRows) take(n int) []string {
	if n > len(c.slab) {
		c.slab = make([]string, max(n, slabFields))
	}
	fields := c.slab[:n:n]
	c.slab = c.slab[n:]
	return fields
}

// csvRow is a row in the order of its file's own columns. A row with a fault has
// the fields that can be told, for the row to be found again by its id.
type csvRow struct {
	line   int64
	fields []string
	fault  string
}

// next returns the next row that is not blank, io.EOF after the last one. A row
// whose extent is not certain consumes one line.
func (c *csvRows) next() (csvRow, error) {
	for {
		r := csvRow{line: c.lines.number}
		raw, err := c.lines.peek(0)
		if err == errLong {
			r.fault = faultLongLine
			r.fields = c.salvage(c.lines.head(), true)
			c.lines.skip()
			return r, nil
		}
		if err != nil {
			return r, err
		}
		line, _ := cutLineEnd(raw)
		switch {
		case len(line) == 0, !c.strict && c.comma != " " && len(bytes.TrimLeft(line, " ")) == 0:
			c.lines.advance(len(raw))
			continue
		case bytes.IndexByte(line, '"') >= 0:
			return c.quoted(r)
		}
		r.fields, r.fault = c.plain(line)
		if len(line) > longLine {
			c.slab = nil
		}
		c.lines.advance(len(raw))
		return r, nil
	}
}

// plain splits a line without quotes. The fields are parts of one string.
func (c *csvRows) plain(line []byte) (fields []string, fault string) {
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
		fault = faultEncoding
	}
	rest := string(line)
	n := strings.Count(rest, c.comma) + 1
	fields = c.take(max(n, c.want))
	for i := range n - 1 {
		fields[i], rest, _ = strings.Cut(rest, c.comma)
	}
	fields[n-1] = rest
	return c.fit(fields, n, fault)
}

// fit gives a row the wanted number of fields. It has n, and room for those that
// it lacks. Only strict mode minds a short row; surplus fields are a fault unless
// they are empty.
func (c *csvRows) fit(fields []string, n int, fault string) ([]string, string) {
	if c.want == 0 {
		return fields[:n], fault
	}
	surplus := fields[c.want:]
	switch {
	case fault != "":
	case c.strict && n != c.want || strings.Join(surplus, "") != "":
		fault = wrongNumber(n, c.want)
	case n < c.want:
		if c.short++; c.short == 1 {
			c.firstShort = c.lines.number
		}
	}
	return fields[:c.want:c.want], fault
}

// quoted reads a row that has quotes on its first line, and so may go on over
// several lines.
func (c *csvRows) quoted(r csvRow) (csvRow, error) {
	size, fault, err := c.gather(r.line)
	if err != nil {
		return r, err
	}
	if fault != "" {
		first, err := c.lines.peek(0)
		if err != nil {
			return r, err
		}
		r.fault, r.fields = fault, c.salvage(first, false)
		c.lines.advance(len(first))
		return r, nil
	}
	fields := c.fields.strings(c.want)
	if !makeValid(fields) {
		fault = faultEncoding
	}
	r.fields, r.fault = c.fit(fields, len(c.fields.ends), fault)
	c.lines.advance(size) // the row's extent is certain: it is consumed whole
	return r, nil
}

// gather fills the field buffer with the row that starts on the line number first,
// and returns how many bytes the row takes. The fault is what makes the row's
// extent uncertain.
func (c *csvRows) gather(first int64) (size int, fault string, err error) {
	c.fields.reset(c.comma, c.strict)
	last := first - 1 // of the lines that are looked through
	for size == 0 || c.fields.open {
		raw, err := c.lines.peek(size)
		switch {
		case err == errLong:
			return 0, faultLongRecord, nil
		case err == io.EOF:
			return 0, faultUnclosed, nil
		case err != nil:
			return 0, "", err
		}
		fault = c.fields.add(raw)
		size += len(raw)
		last++
		if fault == "" && last > first {
			fault = c.misfit()
		}
		if fault != "" && last > first {
			fault = fmt.Sprintf("a quote opened on this line is closed on line %d, but: %s", last, fault)
		}
		if fault != "" {
			return 0, fault, nil
		}
	}
	return size, "", nil
}

// misfit says why what is gathered from several lines is not, or will not become, a
// row with the wanted number of fields.
func (c *csvRows) misfit() (fault string) {
	n := len(c.fields.ends)
	switch {
	case c.want == 0:
		return ""
	case !c.fields.open && n != c.want:
		return wrongNumber(n, c.want)
	case c.fields.open && n >= c.want:
		return wrongNumber(n+1, c.want)
	}
	return ""
}

// salvage returns the fields of a faulty row as its first line shows them. A quote
// that does not close on the line is text if the line then has the wanted number
// of fields; else the fields from there on are unknown. Of a line that is cut off
// the last field is unknown.
func (c *csvRows) salvage(line []byte, cutOff bool) []string {
	f := &c.fields
	f.reset(c.comma, false)
	_ = f.add(line) // a line by itself has no fault
	known := len(f.ends)
	switch {
	case f.open && !cutOff:
		f.reopenAsText()
		if len(f.ends) == c.want {
			known = c.want
		}
	case !f.open && cutOff:
		known--
	}
	f.ends = f.ends[:known]
	fields := f.strings(c.want)
	makeValid(fields)
	fields, _ = c.fit(fields, known, faultUnclosed)
	return fields
}

func wrongNumber(n, want int) string {
	return fmt.Sprintf("wrong number of fields: %d, want %d", n, want)
}

// fieldBuffer gathers the fields of one row, line by line.
type fieldBuffer struct {
	comma   string
	strict  bool
	text    []byte // all fields, unquoted, one behind the other
	ends    []int  // where each ends in text
	open    bool   // inside quotes
	crossed bool   // the open field started on an earlier line
	opening []byte // the line from the last opening quote on
}

func (f *fieldBuffer) reset(comma string, strict bool) {
	*f = fieldBuffer{comma: comma, strict: strict, text: f.text[:0], ends: f.ends[:0]}
}

// add takes one more line with its line end and returns the fault it meets, or
// "". If it leaves the buffer open, the row goes on with the next line.
func (f *fieldBuffer) add(raw []byte) (fault string) {
	line, lineEnd := cutLineEnd(raw)
	f.crossed = f.open
	for {
		if !f.open && bytes.HasPrefix(line, []byte{'"'}) {
			f.open, f.crossed = true, false
			f.opening, line = line, line[1:]
		}
		var more bool
		switch {
		case f.open && bytes.IndexByte(line, '"') < 0:
			f.text = append(append(f.text, line...), lineEnd...)
			return ""
		case f.open:
			line, more, fault = f.addQuoted(line)
		default:
			line, more, fault = f.addPlain(line)
		}
		if !more || fault != "" {
			return fault
		}
	}
}

// addQuoted takes what stands before the next quote, and that quote. It returns
// the rest of the line and whether the row has more on it.
func (f *fieldBuffer) addQuoted(line []byte) (rest []byte, more bool, fault string) {
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
	case bytes.HasPrefix(rest, []byte(f.comma)):
		f.end()
		return rest[len(f.comma):], true, ""
	case f.strict || f.crossed:
		return nil, false, faultAfterQuote
	default:
		return f.addPlain(rest)
	}
}

// addPlain takes an unquoted field. It returns the rest of the line and whether
// the row has more on it.
func (f *fieldBuffer) addPlain(line []byte) (rest []byte, more bool, fault string) {
	field, rest, more := bytes.Cut(line, []byte(f.comma))
	if f.strict && bytes.IndexByte(field, '"') >= 0 {
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

// reopenAsText reads the line again from the quote that is open, now as text.
func (f *fieldBuffer) reopenAsText() {
	start := 0
	if n := len(f.ends); n > 0 {
		start = f.ends[n-1]
	}
	f.text = f.text[:start]
	line, _ := cutLineEnd(f.opening)
	for more := true; more; {
		line, more, _ = f.addPlain(line)
	}
}

// strings returns the fields as parts of one string, with room for n at least.
func (f *fieldBuffer) strings(n int) []string {
	text := string(f.text)
	fields := make([]string, max(n, len(f.ends)))
	start := 0
	for i, end := range f.ends {
		fields[i] = text[start:end]
		start = end
	}
	return fields
}

// makeValid replaces what is not UTF-8 by U+FFFD. It says whether there was nothing to
// replace.
func makeValid(fields []string) (valid bool) {
	valid = true
	for i, field := range fields {
		if !utf8.ValidString(field) {
			fields[i] = strings.ToValidUTF8(field, "\ufffd")
			valid = false
		}
	}
	return valid
}

// csvParser places the rows of one file under the columns of the run.
type csvParser struct {
	rows   csvRows
	input  int   // the input column's place among the file's own
	places []int // of the file's own columns in the run's; nil when they are the same
	width  int   // how many columns the run has
	file   string
	log    *slog.Logger
}

// newCSVParser consumes the header and makes sure that it is still the one that
// was seen when the file was inspected.
func newCSVParser(f *file, lines *lines, width int, o *Options) (*csvParser, error) {
	p := &csvParser{
		rows:   csvRows{lines: lines, comma: f.comma, strict: o.StrictCSV},
		input:  f.input,
		places: f.places,
		width:  width,
		file:   f.info.Name,
		log:    o.Log,
	}
	if f.separator != "" {
		lines.skip()
	}
	if !o.NoHeader {
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
	if err == io.EOF && p.rows.short > 0 {
		p.log.Warn("some rows have fewer fields than the header: those that they lack are empty",
			"file", displayName(p.file), "rows", p.rows.short, "first_line", p.rows.firstShort)
	}
	if err != nil {
		return row{line: r.line}, err
	}
	out := row{line: r.line, fault: r.fault}
	if p.rows.want == 0 {
		return out, nil // the file has no columns, for none of its first rows is well-formed
	}
	out.fields = r.fields
	if r.fault == "" {
		out.input = r.fields[p.input]
	}
	if p.places != nil {
		out.fields = make([]string, p.width)
		for i, place := range p.places {
			out.fields[place] = r.fields[i]
		}
	}
	return out, nil
}
