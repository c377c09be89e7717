package reader

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"
)

const (
	// excelUnzipped is the most bytes that an Excel file may have unzipped: a sheet has at most a million rows, so that
	// a larger file is not a list but a zip bomb.
	excelUnzipped = 2 << 30
	// excelInMemory is the most bytes of a part of an Excel file in memory. Larger parts are unzipped into temporary
	// files.
	excelInMemory = 16 << 20
)

// The numbers of days that Excel can show as dates: up to the year 9999.
const maxExcelDate = 2958466

// zipMagic begins a zip archive, which an Excel file is.
const zipMagic = "PK\x03\x04"

// isExcel reports whether a zip archive is an Excel workbook in the format .xlsx: it begins with a part of the Office
// Open XML formats, and has a workbook.
func isExcel(body Source) bool {
	info, err := body.Stat()
	if err != nil {
		return false
	}
	archive, err := zip.NewReader(body, info.Size())
	return err == nil && slices.ContainsFunc(archive.File, func(f *zip.File) bool { return f.Name == "xl/workbook.xml" })
}

// unzippedSize returns the number of bytes that a zip archive says to have unzipped. The unzipping of a part fails
// once it exceeds the size that the archive says.
func unzippedSize(body io.ReaderAt, size int64) (unzipped uint64, err error) {
	archive, err := zip.NewReader(body, size)
	if err != nil {
		return 0, err
	}
	for _, f := range archive.File {
		unzipped += min(f.UncompressedSize64, excelUnzipped)
	}
	return unzipped, nil
}

// book is an opened Excel file.
type book struct {
	*excelize.File
	sheet string
}

// openBook opens the sheet of an Excel file. It reads the whole file into memory.
func openBook(name string, body io.ReaderAt, size int64, o *Options) (b *book, err error) {
	damaged := func(reason any) error {
		return &UnsupportedError{name, fmt.Sprintf("a damaged Excel file (%v)", reason), "save it again, or save it as CSV"}
	}
	defer func() {
		if reason := recover(); reason != nil {
			err = damaged(reason)
		}
	}()
	unzipped, err := unzippedSize(body, size)
	if err != nil {
		return nil, damaged(err)
	}
	if unzipped >= excelUnzipped { // before the library, which takes memory for as much
		return nil, damaged("it has more than 2 GiB unzipped")
	}
	opened, err := excelize.OpenReader(io.NewSectionReader(body, 0, size), excelize.Options{
		UnzipSizeLimit: excelUnzipped, UnzipXMLSizeLimit: excelInMemory, ShortDatePattern: "yyyy-mm-dd",
	})
	if err != nil {
		return nil, damaged(err)
	}
	sheets := opened.GetSheetList()
	if len(sheets) == 0 {
		return nil, errors.Join(damaged("it has no sheet"), opened.Close())
	}
	b = &book{opened, sheets[0]}
	if o.Sheet != "" {
		i := slices.IndexFunc(sheets, sameName(o.Sheet))
		if i < 0 {
			err := &OptionError{"Sheet", fmt.Sprintf("%s has no sheet %q; its sheets: %s", displayName(name), o.Sheet, listColumns(sheets))}
			return nil, errors.Join(err, opened.Close())
		}
		b.sheet = sheets[i]
	}
	return b, nil
}

// excelRows reads the rows of a sheet: as Excel shows them where they are dates, else as they are stored.
type excelRows struct {
	shown, stored *excelize.Rows
	number        int64 // of the last row, from 1
}

func (b *book) rows() (*excelRows, error) {
	shown, err := b.Rows(b.sheet)
	if err != nil {
		return nil, err
	}
	stored, err := b.Rows(b.sheet)
	if err != nil {
		return nil, errors.Join(err, shown.Close())
	}
	return &excelRows{shown: shown, stored: stored}, nil
}

func (r *excelRows) Close() error { return errors.Join(r.shown.Close(), r.stored.Close()) }

// next returns the cells of the next row that is not empty, and io.EOF after the last.
func (r *excelRows) next() (cells []string, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("damaged Excel file: %v", reason)
		}
	}()
	for {
		if !r.stored.Next() || !r.shown.Next() {
			if err := errors.Join(r.stored.Error(), r.shown.Error()); err != nil {
				return nil, err
			}
			return nil, io.EOF
		}
		r.number++
		stored, err := r.stored.Columns(excelize.Options{RawCellValue: true})
		if err != nil {
			return nil, err
		}
		shown, err := r.shown.Columns()
		if err != nil {
			return nil, err
		}
		for i, cell := range stored {
			if i < len(shown) {
				stored[i] = cellText(cell, shown[i])
			}
		}
		if strings.Join(stored, "") != "" {
			return stored, nil
		}
	}
}

// cellText returns the text of a cell. Numbers keep their digits, which the form that Excel shows may round; dates,
// which Excel stores as numbers of days, keep the form that Excel shows.
func cellText(stored, shown string) string {
	if stored == shown {
		return stored
	}
	x, err := strconv.ParseFloat(stored, 64)
	switch {
	case err != nil, math.IsNaN(x), math.IsInf(x, 0), shown == "TRUE", shown == "FALSE":
		return shown
	case x >= 0 && x < maxExcelDate && looksLikeDate(shown):
		return shown
	}
	return numberText(stored, x)
}

// The forms of dates and times: 2026-01-02, 1.2.26, 12:30, 1-Jan-26, 5. March 2026, January 5, 2026.
var dateForms = regexp.MustCompile(`^(\d+[-/.]\d+[-/.]\d+|\d+/\d+|\d+[-/. ]+\pL{3,}[-/. ]+\d+|(?i:\pL+, )?(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\pL*[-/. ]+\d+.*|\d+:\d\d.*)([ T]\d+:.*)?$`)

func looksLikeDate(text string) bool { return dateForms.MatchString(text) }

// numberText returns a stored number without an exponent. Excel shows 15 digits; the 16th and 17th are of the binary
// fraction, such as 19.989999999999998 for 19.99.
func numberText(stored string, x float64) string {
	if strings.Trim(stored, "-0123456789") == "" {
		return stored
	}
	const digits = 15
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if err != nil || x == math.Trunc(x) {
		rounded = x
	}
	return string(appendFloat(nil, rounded, 64))
}

// inspectExcel finds the columns of a sheet.
func (r *Reader) inspectExcel(name string, body Source, size int64) (f *file, err error) {
	b, err := openBook(name, body, size, &r.options)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	f = &file{info: FileInfo{Name: name, Format: formatExcel}}
	rows, err := b.rows()
	if err != nil {
		return nil, &ReadError{name, 1, err}
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	header, err := rows.next()
	switch {
	case err == io.EOF:
		return f, nil // no records, so no columns
	case err != nil:
		return nil, &ReadError{name, rows.number, err}
	}
	return f, f.setHeader(header, &r.options)
}

// excelParser reads the rows of one sheet.
type excelParser struct {
	book   *book
	rows   *excelRows
	want   int // number of columns of the file
	input  int
	places []int // index in the run's columns of each of the file's columns; nil if they are equal
	width  int   // number of the run's columns
}

// newExcelParser reads the file into memory, through raw for its checksum.
func newExcelParser(f *file, raw *rawReader, width int, o *Options) (*excelParser, error) {
	var content bytes.Buffer
	if _, err := content.ReadFrom(raw); err != nil {
		return nil, &ReadError{f.info.Name, 1, err}
	}
	b, err := openBook(f.info.Name, bytes.NewReader(content.Bytes()), int64(content.Len()), o)
	if err != nil {
		return nil, err
	}
	p := &excelParser{book: b, want: len(f.columns), input: f.input, places: f.places, width: width}
	if p.rows, err = b.rows(); err != nil {
		return nil, errors.Join(&ReadError{f.info.Name, 1, err}, b.Close())
	}
	if o.NoHeader || p.want == 0 {
		return p, nil
	}
	header, err := p.rows.next()
	if err != nil || !slices.Equal(columnNames(header), f.columns) {
		return nil, errors.Join(&FormatError{f.info.Name, p.at(), "the header has changed since the run began; start again", ""}, p.Close())
	}
	return p, nil
}

func (p *excelParser) Close() error { return errors.Join(p.rows.Close(), p.book.Close()) }

func (p *excelParser) at() int64 { return p.rows.number + 1 }

func (p *excelParser) next() (row, error) {
	cells, err := p.rows.next()
	if err != nil {
		return row{}, err
	}
	r := row{line: p.rows.number}
	if strings.Join(cells[min(p.want, len(cells)):], "") != "" {
		r.fault = wrongNumber(len(cells), p.want)
	}
	makeValid(cells)
	r.fields = make([]string, p.width)
	for i, cell := range cells[:min(p.want, len(cells))] {
		if p.places == nil {
			r.fields[i] = cell
		} else {
			r.fields[p.places[i]] = cell
		}
	}
	if r.fault == "" && p.input < len(cells) {
		r.input = cells[p.input]
	}
	return r, nil
}
