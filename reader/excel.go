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
	sheets := rows.book.names()
	several := o.Sheet == "" && len(sheets) > 1
	first, err := findColumns(f, rows, o)
	if err != nil {
		if e, isColumn := errors.AsType[*ColumnError](err); isColumn && several { // the first may be a cover
			e.Sheets = sheets
		}
		return nil, err
	}
	if several {
		if others := rows.book.unread(); len(others) > 0 {
			o.Log.Warn("only the first sheet is read, and other sheets have rows, too",
				"option", "reader.Sheet", "file", f.info.Name, "sheet", sheets[0], "others", listColumns(others))
		}
	}
	return func(r *Reader, f *file, s *stream) (parser, error) { return openExcel(r, f, s, first) }, nil
}

// findColumns finds the columns of a sheet: in the row that names the input column, or else in the first row. It returns the
// number of the row.
func findColumns(f *file, rows *sheetRows, o *Options) (number int64, err error) {
	var numbers []int64
	var first [][]string
	for range shownRows {
		cells, err := rows.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return 0, &ReadError{f.info.Name, rows.at(), damagedRow(err)}
		}
		if rows.number >= int64(o.Dialect.Header) {
			numbers, first = append(numbers, rows.number), append(first, slices.Clone(cells))
		}
	}
	if len(first) == 0 {
		return 0, nil // no records, so no columns
	}
	header, sure := 0, true
	if o.Dialect.Header == 0 {
		header, sure = o.headerRow(0, func(i int) []string {
			if i >= len(first) {
				return nil
			}
			return first[i]
		})
	}
	if !sure {
		return 0, notSure(f.info.Name, int(numbers[header])-1)
	}
	if header > 0 {
		o.Log.Info("the names of the columns are not in the first row: the rows above are skipped", "file", f.info.Name, "row", numbers[header])
	}
	below := first[header+1:]
	if o.Dialect.noHeader() {
		below = first
	}
	return numbers[header], f.setHeader(first[header], o, below)
}

// openSheet opens the sheet that the options name.
func openSheet(name string, body io.ReaderAt, size int64, o *Options) (*sheetRows, error) {
	b, err := newBook(body, size)
	switch {
	case errors.Is(err, errNoWorkbook):
		return nil, &UnsupportedError{name, "an Office file that is no .xlsx workbook", "save the list as CSV or .xlsx"}
	case err != nil:
		return nil, damagedExcel(name, err)
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
	*sheetRows
	stream *stream
	want   int // number of columns of the file
}

// openExcel opens the sheet again, and checks that its header, in the row with the number first, has not changed.
func openExcel(r *Reader, f *file, s *stream, first int64) (parser, error) {
	rows, err := openSheet(f.info.Name, s.seekable, s.size, &r.options)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, rows)
	p := &excelParser{rows, s, len(f.columns)}
	if r.options.Dialect.noHeader() || p.want == 0 {
		return p, nil
	}
	header, err := rows.next()
	for err == nil && rows.number < first {
		header, err = rows.next()
	}
	if err != nil || !f.hasHeader(header) {
		return nil, changedSince(f, rows.at(), "the header")
	}
	return p, nil
}

// damagedRow returns the error of a row that cannot be read.
func damagedRow(err error) error { return fmt.Errorf("damaged Excel file: %w", err) }

func (p *excelParser) next() (row, error) {
	cells, err := p.sheetRows.next()
	if err == io.EOF {
		return row{}, err
	}
	if err != nil {
		return row{}, damagedRow(err)
	}
	if err := p.stream.follow(p.number, p.share()); err != nil {
		return row{}, err
	}
	r := row{line: p.number, fields: make([]string, p.want)}
	copy(r.fields, cells)
	switch {
	case p.bytes > maxRecord:
		r.fault = faultLongRow
	case strings.Join(cells[min(p.want, len(cells)):], "") != "":
		r.fault = wrongNumber(len(cells), p.want)
	}
	return r, nil
}

const faultLongRow = "the cells of the row are longer than " + oneMiB + " together"
