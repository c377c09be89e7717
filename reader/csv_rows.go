package reader

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// csvRows splits CSV into rows of fields, as pandas and Excel do: a quote inside an unquoted field and text after a closing
// quote are text, missing fields of a short row are empty, and a line of spaces is blank. Strict mode accepts only RFC 4180,
// and a row must have as many fields as the header.
//
// Unlike pandas, csvRows requires that a quoted field of several lines closes before a delimiter or a line
// end, and that its row has the wanted number of fields. Otherwise the opening quote is a stray quote, and the
// next row starts on the next line. encoding/csv cannot do this: after a stray quote it has consumed the lines
// up to the next quote or to the end of the file.
//
// The look-ahead takes linear time. If the look-ahead passes a line without closing a field, the line has an even number of
// quotes, so a row that starts on this line also ends on it. If the line closes a field, it adds a field to the row, and a row
// has at most the wanted number of fields. So the look-ahead passes each line at most once per column, and once in strict mode.
type csvRows struct {
	lines *lineSplitter
	csvDialect
	want   int // number of fields of a row; 0 for any
	fields fieldBuffer
	slab   slab[string]

	short, firstShort int64 // number of short rows that are not malformed, and the line of the first
	texts, firstText  int64 // number of rows with quotes that are text, and the line of the first
	spanned           int64 // number of lines of the last row with quotes
}

// csvDialect is the dialect of a file: from the options, or detected.
type csvDialect struct {
	comma   string
	quote   byte // 0 for none
	escape  byte // before quotes and delimiters; 0 for none, or a backslash that is detected
	comment string
	strict  bool
	sure    bool // the options give the quote
	noGuess bool // do not detect escapes
	single  bool // a line that does not begin with a quote is one field
	quotes  bool // the file has quoted fields
	escapes bool // the file has escaped quotes in quoted fields
}

// next returns the next row that is not blank, with the fields in the order of the file's columns, and io.EOF after the last
// row. A malformed row has the fields that are certain: users find it by its id. If its end is not certain, next consumes one
// line.
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
		case len(line) == 0, !c.strict && c.comma != " " && len(bytes.TrimLeft(line, " ")) == 0,
			c.comment != "" && bytes.HasPrefix(line, []byte(c.comment)):
			c.lines.advance(len(raw))
			continue
		case c.single && line[0] != c.quote:
			r.fields, r.fault = c.only(line)
		case c.quote != 0 && bytes.IndexByte(line, c.quote) >= 0, c.escape != 0 && bytes.IndexByte(line, c.escape) >= 0:
			return c.quoted(r)
		default:
			r.fields, r.fault = c.plain(line)
		}
		if len(line) > longLine {
			c.slab = nil
		}
		c.lines.advance(len(raw))
		return r, nil
	}
}

// only returns the line as the field of a single column, without empty fields after it.
func (c *csvRows) only(line []byte) (fields []string, fault string) {
	if first, rest, found := bytes.Cut(line, []byte(c.comma)); found && len(bytes.Trim(rest, c.comma)) == 0 {
		line = first
	}
	if n := bytes.Count(bytes.TrimSpace(line), []byte{'\t'}); n > 0 {
		return []string{""}, wrongNumber(n+1, 1)
	}
	fields = []string{string(line)}
	if !makeValid(fields) {
		fault = faultEncoding
	}
	return fields, fault
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

// fit returns the wanted number of fields of a row with n fields. fields has capacity for missing fields. A short row is
// malformed only in strict mode. Surplus fields are a fault unless they are empty.
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

// quoted reads a row with quotes on its first line, which may have several lines.
func (c *csvRows) quoted(r row) (row, error) {
	g, err := c.gather(r.line, c.escape)
	if err == nil && c.escape == 0 && !c.noGuess && (c.escapes && bytes.IndexByte(c.fields.text, '\\') >= 0 || c.fields.backslash && !g.clean) {
		// A backslash before a quote is an escape in all rows if one row is well-formed only with this escape.
		if g, err = c.gather(r.line, '\\'); err == nil && g.clean {
			c.escapes = true
		} else if err == nil {
			g, err = c.gather(r.line, 0)
		}
	}
	if err != nil {
		return r, err
	}
	if g.fault != "" || g.lines > 1 || len(c.fields.ends) != c.want {
		line, _ := c.lines.peek(0) // cannot fail: next has seen the line
		switch text, fault := c.isText(&g, line); {
		case text:
			if c.texts++; c.texts == 1 {
				c.firstText = r.line
			}
			plain, _ := cutLineEnd(line)
			r.fields, r.fault = c.plain(plain)
			c.lines.advance(len(line))
			return r, nil
		case fault != "":
			r.fault, r.fields = fault, c.salvage(line, false)
			c.lines.advance(len(line))
			return r, nil
		}
	}
	c.quotes = c.quotes || c.fields.complete
	c.spanned = g.lines
	fields, fault := c.fields.strings(c.want), ""
	if !makeValid(fields) {
		fault = faultEncoding
	}
	r.fields, r.fault = c.fit(fields, len(c.fields.ends), fault)
	c.lines.advance(g.size) // the end of the row is certain
	return r, nil
}

// isText reports whether the quotes of a row are text: the file has shown no quoted field, and the first line is a row by
// itself. Otherwise it returns the fault if the end of the row is not certain.
func (c *csvRows) isText(g *gathered, first []byte) (text bool, fault string) {
	fits := c.want > 1 && c.split(first) == c.want
	switch {
	case c.strict || c.sure:
		return false, g.fault
	case g.fault == faultUnclosed, g.fault == faultLongRecord: // if the file is cut off, the lines within the open quote are not rows
		return c.comma == "\t" && fits && g.areRows() && !c.quotes && !c.fields.complete, g.fault
	case g.fault != "":
		return false, g.fault
	case g.lines > 1 && g.areRows() && c.quotes:
		return false, fmt.Sprintf("a quote opened on this line is closed on a later one, but each of these %d lines is a row itself", g.lines)
	case g.lines > 1:
		return g.areRows(), ""
	}
	n := len(c.fields.ends)
	return n != c.want && (!c.fields.complete || c.comma == "\t") && !c.quotes && fits, ""
}

// split returns the number of fields of a line if its quotes are text.
func (c *csvRows) split(line []byte) int { return bytes.Count(line, []byte(c.comma)) + 1 }

// alone returns the number of fields of a line by itself. A quote that does not close on the line is text. If the file has no
// quoted fields, all quotes are text.
func (c *csvRows) alone(line []byte) (n int) {
	if !c.quotes || c.strict {
		return c.split(line)
	}
	var f fieldBuffer
	f.reset(&c.csvDialect, c.escape)
	_ = f.add(line) // without strict mode a single line has no fault
	if f.open {
		f.reopenAsText()
	}
	return len(f.ends)
}

// gathered describes the row in the field buffer.
type gathered struct {
	size  int    // in bytes
	fault string // why the end of the row is not certain
	clean bool   // no text stands before or after quotes
	lines int64

	// Of several lines: the number of lines that are not blank, and of lines that are rows by themselves; the last line is a row.
	filled, rows int64
	last         bool
}

// areRows reports whether the lines of the row are probably rows by themselves.
func (g *gathered) areRows() bool { return g.last && g.rows > 1 && 5*g.rows >= 4*g.filled }

// gather fills the field buffer with the row that starts on line number first.
func (c *csvRows) gather(first int64, escape byte) (g gathered, err error) {
	f := &c.fields
	f.reset(&c.csvDialect, escape)
	for g.size == 0 || f.open {
		raw, err := c.lines.peek(g.size)
		switch {
		case err == errLong:
			g.fault = faultLongRecord
			return g, nil
		case err == io.EOF:
			g.fault = faultUnclosed
			return g, nil
		case err != nil:
			return g, err
		}
		fault := f.add(raw)
		g.size += len(raw)
		g.lines++
		if f.open || g.lines > 1 {
			g.count(c, raw)
		}
		if fault == "" && g.lines > 1 {
			fault = c.misfit()
		}
		if fault != "" && g.lines > 1 {
			fault = fmt.Sprintf("a quote opened on this line is closed on line %d, but: %s", first+g.lines-1, fault)
		}
		if fault != "" {
			return gathered{fault: fault}, nil
		}
	}
	g.clean = !f.stray && (c.want == 0 || len(f.ends) <= c.want)
	return g, nil
}

// count counts one of several lines.
func (g *gathered) count(c *csvRows, raw []byte) {
	g.last = c.want > 1 && c.alone(raw) == c.want
	if g.last {
		g.rows++
	}
	if line, _ := cutLineEnd(raw); len(line) > 0 {
		g.filled++
	}
}

// misfit returns why the gathered lines cannot be a row with the wanted number of fields; "" if they can.
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
	lax := c.csvDialect
	lax.strict = false
	f.reset(&lax, c.escape)
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
