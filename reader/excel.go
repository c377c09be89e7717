package reader

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

var excelFormat = inputFormat{
	name:       "xlsx",
	extensions: []string{".xlsx", ".xlsm"},
	content:    "a sheet of an Excel file",
	recognize:  isExcel,
	inspect:    inspectExcel,
	damaged:    damagedExcel,
}

// inspectExcel finds the columns of a sheet.
func inspectExcel(f *file, body Source, size int64, o *Options) (open opener, err error) {
	rows, err := openSheet(f.info.Name, body, size, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var in inputs
	header, err := rows.next()
	switch {
	case err == io.EOF: // no records, so no columns
	case err != nil:
		return nil, &ReadError{f.info.Name, rows.at(), damagedRow(err)}
	default:
		if in, err = f.setHeader(header, o); err != nil {
			return nil, err
		}
	}
	return in.openExcel, nil
}

// openSheet opens the sheet of an Excel file that the options name.
func openSheet(name string, body io.ReaderAt, size int64, o *Options) (*sheetRows, error) {
	b, err := openBook(name, body, size)
	if err != nil {
		return nil, err
	}
	sheet, err := b.choose(name, o.Sheet)
	if err != nil {
		return nil, err
	}
	rows, err := b.rows(sheet)
	if err != nil {
		return nil, damagedExcel(name, err)
	}
	return rows, nil
}

// excelParser reads the rows of one sheet.
type excelParser struct {
	rows   *sheetRows
	stream *stream
	want   int // number of columns of the file
	input  inputs
	places placement
	width  int // number of the run's columns
}

// openExcel opens the sheet again, and checks that its header has not changed.
func (in inputs) openExcel(r *Reader, f *file, s *stream) (parser, error) {
	rows, err := openSheet(f.info.Name, s.seekable, s.size, &r.options)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, rows)
	p := &excelParser{rows: rows, stream: s, want: len(f.columns), input: in, places: f.places, width: len(r.columns)}
	if r.options.NoHeader || p.want == 0 {
		return p, nil
	}
	header, err := rows.next()
	if err != nil || !slices.Equal(columnNames(header), f.columns) {
		return nil, changedSince(f, rows.at(), "the header")
	}
	return p, nil
}

// damagedRow is the error of a row that cannot be read.
func damagedRow(err error) error { return fmt.Errorf("damaged Excel file: %w", err) }

func (p *excelParser) at() int64 { return p.rows.at() }

func (p *excelParser) next() (row, error) {
	cells, err := p.rows.next()
	if err == io.EOF {
		return row{}, err
	}
	if err != nil {
		return row{}, damagedRow(err)
	}
	if err := p.stream.follow(p.rows.number, p.rows.share()); err != nil {
		return row{}, err
	}
	r := row{line: p.rows.number}
	switch {
	case p.rows.bytes > maxRecord:
		r.fault = faultLongRow
	case strings.Join(cells[min(p.want, len(cells)):], "") != "":
		r.fault = wrongNumber(len(cells), p.want)
	}
	r.fields = p.places.place(cells[:min(p.want, len(cells))], p.width)
	if r.fault == "" {
		r.input = p.input.of(cells)
	}
	return r, nil
}

const faultLongRow = "the cells of the row are longer than 1 MiB together"
