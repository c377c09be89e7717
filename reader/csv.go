package reader

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"slices"
)

var csvFormat = inputFormat{
	name:       "csv",
	extensions: []string{".csv", ".tsv"},
	plain:      true,
	content:    "rows with `,` `;` tab or a bar between the fields",
	fit:        fitCSV,
	examine:    examineCSV,
}

// csvLayout is what examineCSV learns about a file.
type csvLayout struct {
	separator string // the delimiter in a first line such as sep=;; else ""
	comma     string // the delimiter
	inputs    inputs
}

// fitCSV recognizes CSV by a first line such as sep=;, by options about columns, and by the name of an input column.
func fitCSV(s *beginning, o *Options) fit {
	line := firstLine(s.lines())
	switch {
	case len(line) == 0:
		return noFit
	case separatorOf(s.lines(), o) != "":
		return sureFit
	}
	comma := detectDelimiter(s.lines(), o.StrictCSV)
	if o.Delimiter != 0 {
		comma = string(o.Delimiter)
	}
	row, _ := (&csvRows{lines: newLineSplitter(bytes.NewReader(line)), comma: comma, strict: o.StrictCSV}).next()
	if row.fault != "" {
		row.fields = nil
	}
	switch {
	// This is more than the fit of a JSON string, because a quoted column name looks like a JSON string.
	case o.NoHeader || o.Delimiter != 0 || slices.ContainsFunc(row.fields, o.isInputName):
		return strongFit
	case len(o.Columns) > 0 && len(row.fields) > 1:
		return weakFit
	}
	return noFit
}

func (o *Options) isInputName(column string) bool {
	same := likeName(column)
	return slices.ContainsFunc(o.Columns, same) || slices.ContainsFunc(o.Candidates, same)
}

// examineCSV finds the columns in the first row.
func examineCSV(f *file, s *beginning, o *Options) (opener, error) {
	l := &csvLayout{separator: separatorOf(s.lines(), o)}
	for {
		l.comma = commaOf(s, l.separator, o)
		first, err := l.firstRow(s, o)
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
		case first.fault != "" && o.NoHeader:
			return nil, &FormatError{s.name, first.line, fmt.Sprintf("the first %d rows are malformed; this one: %s", sniffRows, first.fault), optionFor(first.fault)}
		case first.fault != "":
			return nil, malformedHeader(s.name, first)
		}
		l.inputs, err = f.setHeader(first.fields, o)
		return l.open, err
	}
}

func malformedHeader(file string, r row) error {
	return &FormatError{file, r.line, "malformed header: " + r.fault, optionFor(r.fault)}
}

// rows returns the rows after a first line such as sep=;.
func (l *csvLayout) rows(lines *lineSplitter, o *Options) csvRows {
	if l.separator != "" {
		lines.skip()
	}
	return csvRows{lines: lines, comma: l.comma, strict: o.StrictCSV}
}

// firstRow returns the row that decides on the columns. Without a header, this is the first of sniffRows that is
// not malformed. If the sample can grow, the search ends at a malformed row, which may only be cut off.
func (l *csvLayout) firstRow(s *beginning, o *Options) (r row, err error) {
	rows := l.rows(newLineSplitter(bytes.NewReader(s.lines())), o)
	for range sniffRows {
		r, err = rows.next()
		if err != nil || r.fault == "" || !o.NoHeader || s.canGrow() {
			break
		}
	}
	return r, err
}

// csvParser places the rows of one file under the columns of the run.
type csvParser struct {
	rows   csvRows
	input  inputs
	places placement
	width  int // number of the run's columns
	file   string
	log    *slog.Logger
}

// open consumes the header, and checks that the header has not changed.
func (l *csvLayout) open(r *Reader, f *file, s *stream) (parser, error) {
	o := &r.options
	p := &csvParser{
		rows:   l.rows(s.splitLines(), o),
		input:  l.inputs,
		places: f.places,
		width:  len(r.columns),
		file:   f.info.Name,
		log:    o.Log,
	}
	if !o.NoHeader {
		first, err := p.rows.next()
		switch {
		case err != nil && err != io.EOF:
			return nil, &ReadError{f.info.Name, first.line, err}
		case first.fault != "":
			return nil, malformedHeader(f.info.Name, first)
		case !slices.Equal(columnNames(first.fields), f.columns):
			return nil, changedSince(f, first.line, "the header")
		}
	}
	p.rows.want = len(f.columns)
	return p, nil
}

func (p *csvParser) at() int64 { return p.rows.lines.number }

func (p *csvParser) next() (row, error) {
	r, err := p.rows.next()
	if err == io.EOF && p.rows.short > 0 {
		p.log.Warn("some rows have fewer fields than the header: the missing fields are empty",
			"file", displayName(p.file), "rows", p.rows.short, "first_line", p.rows.firstShort)
	}
	if err != nil || p.rows.want == 0 { // without columns, all rows that examine has read are malformed
		return row{line: r.line, fault: r.fault}, err
	}
	if r.fault == "" {
		r.input = p.input.of(r.fields)
	}
	if p.places != nil {
		r.fields = p.places.place(r.fields, p.width)
	}
	return r, nil
}
