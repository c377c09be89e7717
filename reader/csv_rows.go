package reader

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// csvRows splits CSV into rows of fields, as pandas and Excel do: a quote inside an unquoted field and text
// after a closing quote are text; missing fields of a short row are empty; a line of spaces is blank. Strict
// mode accepts only RFC 4180, and a row must have as many fields as the header.
//
// Unlike pandas, csvRows requires that a quoted field of several lines closes before a delimiter or a line
// end, and that its row has the wanted number of fields. Otherwise the opening quote is a stray quote, and the
// next row starts on the next line. encoding/csv cannot do this: after a stray quote it has consumed the lines
// up to the next quote or to the end of the file.
//
// The look-ahead takes linear time. A line that an open row looks through without closing a field has an even
// number of quotes, so a row that starts on this line also ends on it. A line that closes a field adds a field
// to the row, and a row has at most the wanted number of fields. So each line is looked through at most once per
// column, and once in strict mode, except for a line on which a look-ahead ends.
type csvRows struct {
	lines  *lineSplitter
	comma  string
	strict bool
	want   int // number of fields of a row; 0 for any
	fields fieldBuffer
	slab   slab[string]

	short      int64 // number of short rows that are not malformed
	firstShort int64 // line of the first short row
}

// next returns the next row that is not blank, with the fields in the order of the file's columns, and io.EOF after the
// last row. A malformed row has the fields that are certain, so that users can find the row by its id; if its end is not
// certain, it consumes one line.
func (c *csvRows) next() (row, error) {
	for {
		r := row{line: c.lines.number}
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

// plain splits a line without quotes. The fields share the memory of one string.
func (c *csvRows) plain(line []byte) (fields []string, fault string) {
	if !utf8.Valid(line) {
		line = bytes.ToValidUTF8(line, []byte("\ufffd"))
		fault = faultEncoding
	}
	rest := string(line)
	n := strings.Count(rest, c.comma) + 1
	fields = c.slab.take(max(n, c.want))
	for i := range n - 1 {
		fields[i], rest, _ = strings.Cut(rest, c.comma)
	}
	fields[n-1] = rest
	return c.fit(fields, n, fault)
}

// fit returns the wanted number of fields of a row that has n, and capacity for the missing fields. A short row
// is malformed only in strict mode. Surplus fields are a fault unless they are empty.
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

// quoted reads a row that has quotes on its first line, and so may have several lines.
func (c *csvRows) quoted(r row) (row, error) {
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
	c.lines.advance(size) // the end of the row is certain
	return r, nil
}

// gather fills the field buffer with the row that starts on line number first, and returns the size of the row in
// bytes. A fault says why the end of the row is not certain.
func (c *csvRows) gather(first int64) (size int, fault string, err error) {
	c.fields.reset(c.comma, c.strict)
	last := first - 1 // last line that was looked through
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

// misfit says why the gathered lines cannot be a row with the wanted number of fields; "" if they can.
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

// salvage returns the fields on the first line of a malformed row. A quote that does not close on the line is
// text if the line then has the wanted number of fields; otherwise the fields from the quote on are unknown. If
// the line is cut off, its last field is unknown.
func (c *csvRows) salvage(line []byte, cutOff bool) []string {
	f := &c.fields
	f.reset(c.comma, false)
	_ = f.add(line) // without strict mode a single line has no fault
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
	text    []byte // all fields, unquoted and concatenated
	ends    []int  // end of each field in text
	open    bool   // the last field is inside quotes
	crossed bool   // the open field started on an earlier line
	opening []byte // the rest of the line from the last opening quote
}

func (f *fieldBuffer) reset(comma string, strict bool) {
	*f = fieldBuffer{comma: comma, strict: strict, text: f.text[:0], ends: f.ends[:0]}
}

// add adds a line with its line end, and returns its fault or "". If the buffer is open afterwards, the row
// continues on the next line.
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

// addQuoted adds the text up to and including the next quote. It returns the rest of the line, and whether the
// rest belongs to the row.
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

// addPlain adds an unquoted field. It returns the rest of the line, and whether the rest belongs to the row.
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

// reopenAsText reads the line again from the open quote, which is now text.
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

// strings returns the fields, with a length of at least n. They share the memory of one string.
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

// makeValid replaces invalid UTF-8 by U+FFFD. It reports whether all fields were valid.
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
