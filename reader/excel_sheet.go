package reader

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const (
	// The size of a sheet in Excel.
	excelRowLimit    = 1 << 20
	excelColumnLimit = 1 << 14
)

// sheetLevel is the level of the element sheetData.
const sheetLevel = 2

// sheetRows reads the rows of a sheet. Dates are as Excel shows them, and other values as stored.
type sheetRows struct {
	part         *xmlPart
	size         uint64 // of the part, in bytes
	book         *book
	strings      *sharedStrings
	number       int64 // of the last row, from 1
	inside       bool  // the row has not been read to its end
	cells        []string
	bytes        int  // of the row's cells
	uncalculated bool // the row has a formula without a value, and is not blank
	text         []byte
}

// rows opens a sheet.
func (b *book) rows(s bookSheet) (r *sheetRows, err error) {
	p, err := b.open(s.part, "worksheet")
	if err != nil {
		return nil, err
	}
	r = &sheetRows{part: p, size: b.parts[s.part][0].UncompressedSize64, book: b, strings: &sharedStrings{book: b, loaded: -1}}
	if err := r.findRows(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// findRows reads up to the element sheetData.
func (r *sheetRows) findRows() error {
	for {
		switch e, more, err := r.part.child(sheetLevel - 1); {
		case err != nil:
			return err
		case !more:
			return fmt.Errorf("%s: it has no sheetData", r.part.name)
		case e.Name.Local == "sheetData":
			return nil
		}
	}
}

func (r *sheetRows) Close() error { return errors.Join(r.part.Close(), r.strings.Close()) }

// at returns the number of the row that is being read, or of the next row.
func (r *sheetRows) at() int64 {
	if r.inside {
		return r.number
	}
	return r.number + 1
}

// share returns the share of the sheet that has been read.
func (r *sheetRows) share() float64 {
	return min(1, float64(r.part.decoder.InputOffset())/float64(r.size))
}

// next returns the cells of the next row that is not empty, without the empty cells at its end, and io.EOF after the last
// row. The cells are valid until the next call.
func (r *sheetRows) next() ([]string, error) {
	for {
		e, more, err := r.part.child(sheetLevel)
		if err != nil {
			return nil, err
		}
		if !more {
			return nil, r.finish()
		}
		if e.Name.Local != "row" {
			continue
		}
		if err := r.readRow(e); err != nil {
			return nil, err
		}
		for len(r.cells) > 0 && r.cells[len(r.cells)-1] == "" {
			r.cells = r.cells[:len(r.cells)-1]
		}
		if len(r.cells) > 0 || r.uncalculated {
			return r.cells, nil
		}
	}
}

// finish reads the parts to their ends, which checks their checksums. It returns io.EOF without an error.
func (r *sheetRows) finish() error {
	err := r.part.each(func(e xml.StartElement) error {
		if e.Name.Local == "sheetData" {
			return fmt.Errorf("%s: it has more than one sheetData", r.part.name)
		}
		return nil
	})
	if err == nil {
		err = errors.Join(r.part.end(), r.strings.finish())
	}
	if err == nil {
		err = io.EOF
	}
	return err
}

func (r *sheetRows) readRow(e xml.StartElement) error {
	number := r.number + 1
	if ref := attribute(e, "r"); ref != "" {
		var err error
		if number, err = strconv.ParseInt(ref, 10, 64); err != nil {
			return fmt.Errorf("a row has the number %q", ref)
		}
	}
	if number <= r.number || number > excelRowLimit {
		return fmt.Errorf("row %d follows row %d; a sheet has at most %d rows in ascending order", number, r.number, excelRowLimit)
	}
	r.number, r.inside, r.bytes, r.uncalculated = number, true, 0, false
	clear(r.cells)
	r.cells = r.cells[:0]
	column := 0
	err := r.part.each(func(e xml.StartElement) (err error) {
		if e.Name.Local == "c" {
			column, err = r.readCell(e, column)
		}
		return err
	})
	r.inside = err != nil
	return err
}

// readCell reads a cell, and returns the number of its column, from 1. The cell is in the column after the given column, unless
// the cell names its column.
func (r *sheetRows) readCell(e xml.StartElement, column int) (int, error) {
	column++
	if ref := attribute(e, "r"); ref != "" {
		if column = columnOf(ref); column == 0 {
			return 0, fmt.Errorf("a cell has the reference %q", ref)
		}
	}
	if column > excelColumnLimit {
		return 0, fmt.Errorf("a row has more than %d cells", excelColumnLimit)
	}
	value, err := r.value(e)
	if err != nil || value == "" {
		return column, err
	}
	for len(r.cells) < column {
		r.cells = append(r.cells, "")
	}
	if r.cells[column-1] != "" {
		return 0, fmt.Errorf("two cells are in column %d", column)
	}
	if r.bytes += len(value); r.bytes <= maxRecord { // else the parser returns faultLongRow
		r.cells[column-1] = value
	}
	return column, nil
}

// columnOf returns the number of the column in a reference such as AB12, from 1; 0 if there is none.
func columnOf(ref string) int {
	column := 0
	letters := strings.TrimRight(ref, "0123456789")
	if len(letters) > 3 || len(letters) == len(ref) {
		return 0
	}
	for _, letter := range strings.ToUpper(letters) {
		if letter < 'A' || letter > 'Z' {
			return 0
		}
		column = column*26 + int(letter-'A') + 1
	}
	return column
}

// value returns the text of a cell.
func (r *sheetRows) value(e xml.StartElement) (string, error) {
	var stored string
	isFormula := false
	kind, style := attribute(e, "t"), attribute(e, "s")
	err := r.part.each(func(e xml.StartElement) (err error) {
		switch e.Name.Local {
		case "f":
			isFormula = true
		case "v":
			r.text, err = r.part.text(r.text[:0])
			stored = string(r.text)
		case "is":
			r.text, err = r.part.richText(r.text[:0])
			stored = unescape(string(r.text))
		}
		return err
	})
	if err != nil || stored == "" {
		r.uncalculated = r.uncalculated || isFormula && kind != "str" // a calculated empty text is a "str"
		return "", err
	}
	switch kind {
	case "s":
		return r.strings.get(strings.TrimSpace(stored))
	case "inlineStr":
		return stored, nil
	case "str", "e", "d":
		return unescape(stored), nil
	case "b":
		if isTrue(stored) {
			return "TRUE", nil
		}
		return "FALSE", nil
	}
	return r.book.number(stored, style)
}
