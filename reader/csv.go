package reader

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
)

var csvFormat = inputFormat{
	name:       "csv",
	extensions: []string{".csv", ".tsv"},
	content:    "rows with `,` `;` tab or a bar between the fields",
	fit:        fitCSV,
	examine:    examineCSV,
}

// csvLayout is the result of examineCSV.
type csvLayout struct {
	separator string // the delimiter in a first line such as "sep=;"; else ""
	skip      int    // lines above the header, or above the first row
	dialect   csvDialect
}

// fitCSV recognizes CSV by a first line such as "sep=;", by options about columns, by the name of an input column, and by tabs
// in every line.
func fitCSV(s *beginning, o *Options) fit {
	line := firstLine(s.lines())
	switch {
	case len(line) == 0:
		return noFit
	case separatorOf(s.lines(), o) != "":
		return sureFit
	}
	first := o.rowAt(line, commaOf("", s.lines(), "", o))
	header, sure := headerOf(s, 0, o)
	switch {
	// This exceeds the fit of a JSON string, because a quoted column name looks like a JSON string.
	case o.Dialect.Header != 0 || o.Dialect.Delimiter != "" || o.namesInput(first) || header > 0 && sure || haveTabs(s.lines()):
		return strongFit
	case len(o.Columns) > 0 && len(first) > 1:
		return weakFit
	}
	return noFit
}

// haveTabs reports whether all first lines have the same number of tabs, above 0.
func haveTabs(text []byte) bool {
	var line []byte
	n, tabs := 0, 0
	for n < sniffRows && len(text) > 0 {
		line, text = cutLine(text)
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if n++; n == 1 {
			tabs = bytes.Count(line, []byte{'\t'})
		}
		if tabs == 0 || bytes.Count(line, []byte{'\t'}) != tabs {
			return false
		}
	}
	return n > 1
}

// examineCSV finds the layout and the columns.
func examineCSV(f *file, s *beginning, o *Options) (opener, error) {
	l := &csvLayout{separator: separatorOf(s.lines(), o)}
	for {
		first, err := l.find(s, o)
		switch {
		case (err == io.EOF || first.fault != "") && s.canGrow():
			if err := s.grow(sampleLimit); err != nil {
				return nil, err
			}
			continue
		case err == io.EOF && !s.whole:
			return nil, &FormatError{s.name, 1, "no row in the first 4 MiB: name the format if this is not CSV", "Format"}
		case err == io.EOF:
			return l.open, nil // no records, so no columns
		case err != nil:
			return nil, err
		case first.fault != "" && o.Dialect.noHeader():
			return nil, &FormatError{s.name, first.line, fmt.Sprintf("the first %d rows are malformed; this one: %s", sniffRows, first.fault), optionFor(first.fault)}
		case first.fault != "":
			return nil, malformedHeader(s.name, first)
		}
		shown := l.show(s, o, len(first.fields))
		if err = f.setHeader(first.fields, o, shown); err == nil {
			l.tell(f, o)
		}
		return l.open, err
	}
}

// find sets skip and the dialect, and returns the row that decides on the columns.
func (l *csvLayout) find(s *beginning, o *Options) (r row, err error) {
	start := 0
	if l.separator != "" {
		start = 1
	}
	header, sure := headerOf(s, start, o)
	if !sure {
		return r, notSure(s.name, header)
	}
	l.skip = header
	l.dialect = o.ofCSV(commaOf(s.name, afterLines(s.lines(), l.skip), l.separator, o))
	return l.firstRow(s, o)
}

// tell logs unusual properties of a file.
func (l *csvLayout) tell(f *file, o *Options) {
	file := displayName(f.info.Name)
	if l.skip > 0 && l.separator == "" && o.Dialect.Header == 0 {
		o.Log.Info("the names of the columns are not in the first line: the lines above are skipped", "file", file, "line", l.skip+1)
	}
	if l.dialect.escapes && o.Dialect.Escape == "" {
		o.Log.Info("a backslash before a quote is read as an escape", "file", file)
	}
}

// notSure returns the error for rows above a header that may be data.
func notSure(file string, header int) error {
	return &FormatError{file, int64(header) + 1, "this row may have the names of the columns, but the rows above may be data; say which it is", "Dialect"}
}

func malformedHeader(file string, r row) error {
	return &FormatError{file, r.line, "malformed header: " + r.fault, optionFor(r.fault)}
}

// rows returns the rows from the header on.
func (l *csvLayout) rows(lines *lineSplitter) csvRows {
	for range l.skip {
		lines.skip()
	}
	return csvRows{lines: lines, csvDialect: l.dialect}
}

// firstRow returns the row that decides on the columns: the header or, without a header, the first of sniffRows rows that is not
// malformed. If the sample can grow, a malformed row is perhaps only cut off, and is returned.
func (l *csvLayout) firstRow(s *beginning, o *Options) (r row, err error) {
	rows := l.rows(newLineSplitter(bytes.NewReader(s.lines())))
	for range sniffRows {
		r, err = rows.next()
		if err != nil || r.fault == "" || !o.Dialect.noHeader() || s.canGrow() {
			break
		}
	}
	r.fields = slices.Clone(r.fields)
	return r, err
}

// csvParser reads the rows of one file.
type csvParser struct {
	rows   csvRows
	header []string // nil for none, and in strict mode, where no row repeats the header
	file   string
	log    *slog.Logger

	repeated, long int64 // number of rows that repeat the header, and of rows with many lines
}

// open consumes the header, and checks that it has not changed.
func (l *csvLayout) open(r *Reader, f *file, s *stream) (parser, error) {
	o := &r.options
	p := &csvParser{rows: l.rows(s.splitLines(o.MaxRecord)), file: f.info.Name, log: o.Log}
	if !o.Dialect.noHeader() {
		first, err := p.rows.next()
		switch {
		case err != nil && err != io.EOF:
			return nil, &ReadError{f.info.Name, first.line, err}
		case first.fault != "":
			return nil, malformedHeader(f.info.Name, first)
		case !f.hasHeader(first.fields):
			return nil, changedSince(f, first.line, "the header")
		}
		if !o.Dialect.Strict {
			p.header = slices.Clone(first.fields)
		}
	}
	p.rows.want = len(f.columns)
	return p, nil
}

func (p *csvParser) at() int64 { return p.rows.lines.number }

// longRecord is the most lines of an ordinary record. A longer record probably begins with a stray quote.
const longRecord = 20

func (p *csvParser) next() (row, error) {
	for {
		p.rows.spanned = 0
		r, err := p.rows.next()
		if p.rows.spanned > longRecord {
			if p.long++; p.long == 1 {
				p.log.Warn("a record has many lines: perhaps a quote at the beginning of a field does not quote",
					"option", "reader.Dialect", "file", displayName(p.file), "line", r.line, "lines", p.rows.spanned)
			}
		}
		if err == nil && r.fault == "" { // a file that was joined from several files repeats the header
			var same bool
			if same, err = p.isHeader(r.fields); same {
				p.repeated++
				continue
			}
		}
		if err == io.EOF {
			p.warn()
		}
		if err != nil || p.rows.want == 0 { // without columns, examine has read only malformed rows
			return row{line: r.line, fault: r.fault}, err
		}
		return r, nil
	}
}

var errOtherHeader = errors.New("the row has the names of the columns in another order, so that the rows below have other columns; split the file here")

// isHeader reports whether a row is the header. The error is errOtherHeader.
func (p *csvParser) isHeader(fields []string) (bool, error) {
	first := strings.TrimPrefix(fields[0], "\ufeff")
	if !slices.Contains(p.header, first) {
		return false, nil
	}
	fields = slices.Clone(fields)
	fields[0] = first
	if slices.Equal(fields, p.header) {
		return true, nil
	}
	header := slices.Sorted(slices.Values(p.header))
	if slices.Sort(fields); len(fields) > 1 && slices.Equal(fields, header) {
		return false, errOtherHeader
	}
	return false, nil
}

// warn logs unusual properties of the rows.
func (p *csvParser) warn() {
	file := displayName(p.file)
	if p.rows.short > 0 {
		p.log.Warn("some rows have fewer fields than the header: the missing fields are empty",
			"file", file, "rows", p.rows.short, "first_line", p.rows.firstShort)
	}
	if p.rows.texts > 0 {
		p.log.Warn("some quotes do not quote, and are read as text", "option", "reader.Dialect", "file", file, "rows", p.rows.texts, "first_line", p.rows.firstText)
	}
	if p.repeated > 0 {
		p.log.Info("the header is repeated in the file, and these rows are no records", "file", file, "rows", p.repeated)
	}
}
