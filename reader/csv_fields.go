package reader

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// fieldBuffer collects the fields of one row, line by line.
type fieldBuffer struct {
	dialect   *csvDialect
	escape    byte
	text      []byte // all fields, unquoted and concatenated
	ends      []int  // end of each field in text
	open      bool   // the last field is inside quotes
	crossed   bool   // the open field started on an earlier line
	opening   []byte // the line from the last opening quote
	stray     bool   // a field has text before or after quotes
	complete  bool   // a field is in quotes
	backslash bool   // a backslash precedes a quote in a quoted field
}

func (f *fieldBuffer) reset(d *csvDialect, escape byte) {
	f.dialect, f.escape, f.text, f.ends = d, escape, f.text[:0], f.ends[:0]
	f.open, f.crossed, f.stray, f.complete, f.backslash = false, false, false, false, false
}

// add adds a line with its line end, and returns its fault or "". If the buffer is open afterwards, the row
// continues on the next line.
func (f *fieldBuffer) add(raw []byte) (fault string) {
	line, lineEnd := cutLineEnd(raw)
	f.crossed = f.open
	quote := f.dialect.quote
	for {
		if !f.open && quote != 0 && len(line) > 0 && line[0] == quote {
			f.open, f.crossed = true, false
			f.opening, line = line, line[1:]
		}
		var more bool
		switch {
		case f.open && bytes.IndexByte(line, quote) < 0:
			if f.escape != 0 {
				line = bytes.ReplaceAll(line, []byte{f.escape, f.escape}, []byte{f.escape})
			}
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

// addQuoted adds the text of a quoted field up to the next quote, or up to an escape before that quote. It returns the rest of
// the line, and whether the rest belongs to the row.
func (f *fieldBuffer) addQuoted(line []byte) (rest []byte, more bool, fault string) {
	quote := f.dialect.quote
	i := bytes.IndexByte(line, quote)
	if f.escape != 0 && f.escape != quote {
		if j := bytes.IndexByte(line[:i], f.escape); j >= 0 {
			next := line[j+1]
			f.text = append(f.text, line[:j]...)
			if next != quote && next != f.escape {
				f.text = append(f.text, f.escape) // an escape before other characters is text
			}
			f.text = append(f.text, next)
			return line[j+2:], true, ""
		}
	}
	f.text = append(f.text, line[:i]...)
	f.backslash = f.backslash || i > 0 && line[i-1] == '\\'
	rest = line[i+1:]
	switch {
	case len(rest) == 0:
		f.complete = true
		f.end()
		return nil, false, ""
	case rest[0] == quote:
		f.text = append(f.text, quote)
		return rest[1:], true, ""
	case bytes.HasPrefix(rest, []byte(f.dialect.comma)):
		f.complete = true
		f.end()
		return rest[len(f.dialect.comma):], true, ""
	case f.dialect.strict || f.crossed:
		return nil, false, faultAfterQuote
	default:
		f.stray = true
		return f.addPlain(rest)
	}
}

// addPlain adds an unquoted field. It returns the rest of the line, and whether the rest belongs to the row.
func (f *fieldBuffer) addPlain(line []byte) (rest []byte, more bool, fault string) {
	field, rest, more := bytes.Cut(line, []byte(f.dialect.comma))
	if f.dialect.quote != 0 && bytes.IndexByte(field, f.dialect.quote) >= 0 {
		f.stray = true
		if f.dialect.strict {
			return nil, false, faultBareQuote
		}
	}
	for f.dialect.escape != 0 { // unquoted fields have only escapes that the options give
		i := bytes.IndexByte(field, f.dialect.escape)
		switch {
		case i < 0:
		case i+1 < len(field):
			f.text = append(append(f.text, field[:i]...), field[i+1])
			field = field[i+2:]
			continue
		case more:
			f.text = append(append(f.text, field[:i]...), f.dialect.comma...)
			field, rest, more = bytes.Cut(rest, []byte(f.dialect.comma))
			continue
		}
		break
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

// strings returns at least n fields. They share the memory of one string.
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
