package reader

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
)

const (
	// headerRows is the number of rows among which the header must be.
	headerRows = 20
	// shownRows is the number of rows that are examined for their quotes and values.
	shownRows = 100
)

// ofCSV returns the CSV dialect of the options, with a delimiter.
func (o *Options) ofCSV(comma string) csvDialect {
	d := &o.Dialect
	return csvDialect{
		comma:   comma,
		quote:   mark(cmp.Or(d.Quote, `"`)),
		escape:  mark(d.Escape),
		comment: given(d.Comment),
		strict:  d.Strict,
		sure:    d.Quote != "",
		noGuess: d.Escape != "" || d.Strict,
	}
}

// mark returns the character of a member of a dialect; 0 if there is none.
func mark(member string) byte {
	if given(member) == "" {
		return 0
	}
	return member[0]
}

// rowAt returns the first row of text; nil if the first line is blank or malformed.
func (o *Options) rowAt(text []byte, comma string) []string {
	r, err := (&csvRows{lines: newLineSplitter(bytes.NewReader(text)), csvDialect: o.ofCSV(comma)}).next()
	if err != nil || r.fault != "" || r.line != 1 {
		return nil
	}
	return r.fields
}

// headerOf returns the index of the line with the names of the columns, at least start. sure is false if the lines above may be
// data.
func headerOf(s *beginning, start int, o *Options) (line int, sure bool) {
	switch {
	case o.Dialect.Header > 0:
		return o.Dialect.Header - 1, true
	case o.Dialect.noHeader(), o.Dialect.Strict:
		return start, true
	}
	return o.headerRow(start, func(i int) []string {
		text := afterLines(s.lines(), i)
		return o.rowAt(text, commaOf(s.name, text, "", o))
	})
}

// headerRow returns the index of the first row from start that names the input column, or else start. fieldsAt returns nil for
// a blank row. sure is false if the rows above may be data.
func (o *Options) headerRow(start int, fieldsAt func(i int) []string) (header int, sure bool) {
	var above [][]string
	blank := false // a row above is blank
	for i := start; i < start+headerRows; i++ {
		fields := fieldsAt(i)
		if fields == nil {
			blank = true
			continue
		}
		if o.namesInput(fields) && (above == nil || areNames(fields)) {
			if below := fieldsAt(i + 1); len(below) == len(fields) && o.namesInput(below) && areKeys(below) && !areKeys(fields) {
				i, fields = i+1, below // the row above has titles for people, and this row has names for programs
			}
			return i, areNotes(above, fields, blank)
		}
		above = append(above, fields)
	}
	return start, true
}

// namesInput reports whether fields are the header of a table with the input column.
func (o *Options) namesInput(fields []string) bool {
	fields = withoutMark(fields)
	if len(o.Columns) > 0 {
		return !slices.ContainsFunc(o.Columns, func(name string) bool { return !slices.ContainsFunc(fields, likeName(name)) })
	}
	return slices.ContainsFunc(fields, func(field string) bool {
		return slices.ContainsFunc(o.Candidates, likeName(field))
	})
}

var (
	notName = regexp.MustCompile(`^[-+#$€£]?[0-9][0-9.,:/%-]*$|://|^www\.`)
	key     = regexp.MustCompile(`^[a-z0-9]+([-_.:][a-z0-9]+)*$`)
)

// areNames reports whether fields may be names of columns: most are different, and none is a number or a website.
func areNames(fields []string) bool {
	seen := map[string]bool{}
	for _, field := range fields {
		field = strings.TrimSpace(field)
		if field == "" {
			continue
		}
		if notName.MatchString(field) {
			return false
		}
		seen[field] = true
	}
	return 2*len(seen) > len(fields)
}

// areKeys reports whether fields are names for programs, such as item_sku. Rows above such names are not data.
func areKeys(fields []string) bool {
	joined := 0
	for _, field := range fields {
		if field != "" && !key.MatchString(field) {
			return false
		}
		if strings.ContainsAny(field, "-_.:") {
			joined++
		}
	}
	return len(fields) > 1 && joined > 0
}

// areNotes reports whether the rows above a header cannot be data: they have fewer fields, or look like notes.
func areNotes(above [][]string, header []string, blank bool) bool {
	width := filled(header)
	for _, fields := range above {
		isNote := len(header) > 1 && (filled(fields) < width || blank) || areKeys(header) || strings.HasPrefix(fields[0], "#") ||
			slices.ContainsFunc(fields, func(field string) bool { return strings.ContainsAny(field, "=") || strings.HasSuffix(field, ":") })
		if !isNote {
			return false
		}
	}
	return true
}

func filled(fields []string) (n int) {
	for _, field := range fields {
		if strings.TrimSpace(field) != "" {
			n++
		}
	}
	return n
}

// withoutMark returns a header without a leading number sign, which would make it a comment.
func withoutMark(header []string) []string {
	if len(header) == 0 {
		return header
	}
	name := strings.TrimSpace(strings.TrimLeft(header[0], "#"))
	if name == "" || name == header[0] || !strings.HasPrefix(header[0], "#") {
		return header
	}
	return append([]string{name}, header[1:]...)
}

// show reads the first rows below the header, completes the dialect from their quotes, and returns the rows.
func (l *csvLayout) show(s *beginning, o *Options, want int) (shown [][]string) {
	l.dialect.single = want == 1 && o.Dialect.Delimiter == "" && l.separator == "" && !l.dialect.strict && !o.Dialect.noHeader() && l.isSingle(s)
	rows := l.rows(newLineSplitter(bytes.NewReader(s.lines())))
	rows.want = want
	for i := range shownRows + 1 {
		r, err := rows.next()
		if err != nil {
			break
		}
		if r.fault == "" && (i > 0 || o.Dialect.noHeader()) {
			shown = append(shown, r.fields)
		}
	}
	l.dialect.quotes, l.dialect.escapes = rows.quotes, rows.escapes
	return shown
}

// isSingle reports whether the commas in a file with one column are text: some lines have none, or a space follows each comma.
func (l *csvLayout) isSingle(s *beginning) bool {
	var line []byte
	spaced, without := true, false // a space follows each comma; a line has no comma
	for rows, text := 0, afterLines(s.lines(), l.skip+1); rows < sniffRows && len(text) > 0; rows++ {
		line, text = cutLine(text)
		line = bytes.TrimRight(bytes.TrimSpace(line), ",")
		if len(line) == 0 || line[0] == '"' {
			continue
		}
		if bytes.Contains(line, []byte(`,"`)) {
			return false // the field after this comma is in quotes, and may have several lines
		}
		without = without || !bytes.Contains(line, []byte(","))
		spaced = spaced && bytes.Count(line, []byte(",")) == bytes.Count(line, []byte(", "))
	}
	return spaced || without
}

// separatorOf returns the delimiter in a first line such as "sep=;", with or without quotes, which Excel reads and writes; else
// "".
func separatorOf(data []byte, o *Options) string {
	line, _ := cutLine(data)
	text := strings.Trim(string(line), `"`)
	const prefix = "sep="
	if o.Dialect.Strict || len(text) <= len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return ""
	}
	separator := text[len(prefix):]
	if (&Dialect{Delimiter: separator}).check() != nil {
		return ""
	}
	return separator
}

// sniffRows is the number of rows that decide on a delimiter.
const sniffRows = 100

// delimiters are the known delimiters. The order breaks ties.
var delimiters = []string{",", ";", "\t", "|"}

// commaOf returns the delimiter of CSV text.
func commaOf(name string, text []byte, separator string, o *Options) string {
	if extension(name) == ".tsv" && !o.Dialect.Strict {
		separator = cmp.Or(separator, "\t")
	}
	return cmp.Or(o.Dialect.Delimiter, separator, detectDelimiter(text, o))
}

// detectDelimiter returns the delimiter with which most rows have as many fields as the first row, and more than one field; else
// a comma. Of equally good delimiters, the delimiter with more fields counts.
func detectDelimiter(text []byte, o *Options) string {
	best, bestFields, bestShare := delimiters[0], 1, 0.0
	for _, comma := range delimiters {
		fields, share := consistency(text, o.ofCSV(comma))
		if fields > 1 && (share > bestShare || share == bestShare && fields > bestFields) {
			best, bestFields, bestShare = comma, fields, share
		}
	}
	return best
}

// consistency returns the number of fields of the first row, and the fraction of the first sniffRows rows that have
// the same number.
func consistency(text []byte, d csvDialect) (fields int, share float64) {
	rows := csvRows{lines: newLineSplitter(bytes.NewReader(text)), csvDialect: d}
	same, all := 0, 0
	for all < sniffRows {
		r, err := rows.next()
		if err != nil {
			break
		}
		if all == 0 && r.fault == "" {
			fields = len(r.fields)
		}
		if r.fault == "" && len(r.fields) == fields {
			same++
		}
		all++
	}
	return fields, float64(same) / float64(max(all, 1))
}
