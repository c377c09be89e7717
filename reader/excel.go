package reader

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// inspectExcel finds the columns of a sheet.
func (r *Reader) inspectExcel(name string, body Source, size int64) (f *file, err error) {
	f = &file{info: FileInfo{Name: name, Format: formatExcel}}
	rows, err := openSheet(name, body, size, &r.options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	header, err := rows.next()
	switch {
	case err == io.EOF:
		return f, nil // no records, so no columns
	case err != nil:
		return nil, &ReadError{name, rows.at(), damagedRow(err)}
	}
	return f, f.setHeader(header, &r.options)
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
	raw    *rawReader
	size   int64 // of the file, in bytes
	want   int   // number of columns of the file
	input  inputs
	places []int // index in the run's columns of each of the file's columns; nil if they are equal
	width  int   // number of the run's columns
}

// newExcelParser opens a file again, which has not changed since Open.
func newExcelParser(f *file, body Source, raw *rawReader, width int, o *Options) (*excelParser, error) {
	info, err := body.Stat()
	if err != nil {
		return nil, &OpenError{f.info.Name, err}
	}
	rows, err := openSheet(f.info.Name, body, info.Size(), o)
	if err != nil {
		return nil, err
	}
	p := &excelParser{rows: rows, raw: raw, size: info.Size(), want: len(f.columns), input: inputs{f.inputs, o.joiner()}, places: f.places, width: width}
	if o.NoHeader || p.want == 0 {
		return p, nil
	}
	header, err := rows.next()
	if err != nil || !slices.Equal(columnNames(header), f.columns) {
		return nil, errors.Join(&FormatError{f.info.Name, rows.at(), "the header has changed since the run began; start again", ""}, p.Close())
	}
	return p, nil
}

// damagedRow is the error of a row that cannot be read.
func damagedRow(err error) error { return fmt.Errorf("damaged Excel file: %w", err) }

func (p *excelParser) Close() error { return p.rows.Close() }

func (p *excelParser) at() int64 { return p.rows.at() }

// excelStride is the number of rows after which the checksum of the file follows.
const excelStride = 4096

func (p *excelParser) next() (row, error) {
	cells, err := p.rows.next()
	if err == io.EOF {
		return row{}, err
	}
	if err != nil {
		return row{}, damagedRow(err)
	}
	if p.rows.number%excelStride == 0 {
		if err := p.raw.follow(p.size, p.rows.share()); err != nil {
			return row{}, err
		}
	}
	r := row{line: p.rows.number}
	switch {
	case p.rows.bytes > maxRecord:
		r.fault = faultLongRow
	case strings.Join(cells[min(p.want, len(cells)):], "") != "":
		r.fault = wrongNumber(len(cells), p.want)
	}
	r.fields = make([]string, p.width)
	for i, cell := range cells[:min(p.want, len(cells))] {
		if p.places == nil {
			r.fields[i] = cell
		} else {
			r.fields[p.places[i]] = cell
		}
	}
	if r.fault == "" {
		r.input = p.input.of(cells)
	}
	return r, nil
}

const faultLongRow = "the cells of the row are longer than 1 MiB together"
