package pages

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
)

// Bounds of memory in bytes.
const (
	maxPage     = 100 << 20 // DuckDB writes pages of up to 100,000,000 bytes
	maxReserved = 192 << 20 // of the buffers, current pages and dictionaries of all columns that are read
	// streamBuffer is the size of the read buffer of a column.
	streamBuffer = 8 << 10
	// streamMemory is the memory of a column that is read, without its pages: the buffer, and the values that are
	// read at once.
	streamMemory = 40 << 10
)

// mostValues is the most values that are read at once.
const mostValues = 128

var errFewer = errors.New("a page does not have the number of values of its header")

// Values reads the values of a leaf in all row groups, page by page.
type Values struct {
	file     *File
	column   *parquet.Column
	most     [2]int // the maxima of the repetition and the definition levels
	kept     int64  // bytes of memory for the column, without its current page
	reserved int64  // bytes of memory for the column

	// Of the current column chunk.
	group      int // the number of its row group, from 1
	meta       metadata
	source     source
	in         *bufio.Reader
	ahead      int64 // values in later pages
	rows       int64 // that begin in later values
	dictionary parquet.Dictionary

	// Of the current page.
	stored, plain []byte                                    // its memory, as stored and decompressed
	left          int                                       // values
	runs          [3]runs                                   // the levels, and the indexes of the dictionary
	lookup        func(indexes []int32, to []parquet.Value) // of the dictionary
	present       parquet.ValueReader                       // the values that are not null, if lookup is nil
	numbers       [3][mostValues]int32                      // of runs

	batch [mostValues]parquet.Value
}

// Values returns the values of a leaf.
func (f *File) Values(leaf *parquet.Column) *Values {
	v := &Values{file: f, column: leaf, most: [2]int{leaf.MaxRepetitionLevel(), leaf.MaxDefinitionLevel()}}
	v.in = bufio.NewReaderSize(&v.source, streamBuffer)
	return v
}

// source notes an error of the file system or of a network: the file may be intact.
type source struct {
	io.Reader
	failed bool
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	s.failed = s.failed || err != nil && err != io.EOF
	return n, err
}

// Read returns the next values, which are valid until the next call. The error is io.EOF after the last value.
func (v *Values) Read() (values []parquet.Value, err error) {
	for v.left == 0 && v.ahead == 0 {
		if v.group == len(v.file.meta.RowGroups) {
			return nil, io.EOF
		}
		v.openChunk()
	}
	defer func() {
		if reason := recover(); reason != nil { // of the library, which trusts the content
			err = fmt.Errorf("%v", reason)
		}
		if err != nil && !v.source.failed {
			err = damagef("row group %d, column %q: %w", v.group, strings.Join(v.column.Path(), "."), err)
		}
	}()
	for v.left == 0 {
		err := v.nextPage()
		if errors.Is(err, io.EOF) { // which is not the end of the rows
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
	}
	values = v.batch[:min(v.left, mostValues)]
	return values, v.fill(values)
}

// openChunk begins the column chunk of the next row group.
func (v *Values) openChunk() {
	g := v.file.meta.RowGroups[v.group]
	v.group++
	v.meta = g.Columns[v.column.Index()].Meta
	v.ahead, v.rows, v.dictionary, v.kept = v.meta.NumValues, g.NumRows, nil, streamMemory
	first := v.meta.DataPage
	if d := v.meta.DictionaryPage; d > 0 {
		first = min(first, d)
	}
	v.source.Reader = io.NewSectionReader(v.file.body, first, max(v.file.end-first, 0))
	v.in.Reset(&v.source)
}

// fill fills to with values and their levels.
func (v *Values) fill(to []parquet.Value) error {
	repetition, definition := v.numbers[0][:len(to)], v.numbers[1][:len(to)]
	if err := errors.Join(v.runs[0].read(repetition), v.runs[1].read(definition)); err != nil {
		return err
	}
	present := v.count(definition)
	if err := v.readPresent(to[:present]); err != nil {
		return err
	}
	v.left -= len(to)
	for i, level := range slices.Backward(definition) { // the values move to the right
		var value parquet.Value
		if int(level) == v.most[1] {
			present--
			value = to[present]
		}
		if repetition[i] == 0 {
			v.rows--
		}
		to[i] = value.Level(int(repetition[i]), int(level), v.column.Index())
	}
	if v.rows < 0 || v.rows > 0 && v.left == 0 && v.ahead == 0 {
		return fmt.Errorf("the values are not the %d rows of the row group", v.file.meta.RowGroups[v.group-1].NumRows)
	}
	return nil
}

// count returns the number of values that are not null.
func (v *Values) count(definition []int32) (n int) {
	for _, level := range definition {
		if int(level) == v.most[1] {
			n++
		}
	}
	return n
}

// readPresent fills to with values that are not null.
func (v *Values) readPresent(to []parquet.Value) error {
	if v.lookup != nil {
		indexes := v.numbers[2][:len(to)]
		err := v.runs[2].read(indexes)
		if err == nil {
			v.lookup(indexes, to)
		}
		return err
	}
	for len(to) > 0 {
		n, err := v.present.ReadValues(to)
		if to = to[n:]; len(to) > 0 && err != nil {
			return errFewer
		}
	}
	return nil
}

// reserve counts memory for the current page of the column.
func (v *Values) reserve(size int) error {
	v.reserved += int64(size)
	v.file.reserved += int64(size)
	switch {
	case size > maxPage:
		return fmt.Errorf("it has a page of %d MiB, more than %d; write the file with smaller pages or row groups", size>>20, maxPage>>20)
	case v.file.reserved > maxReserved:
		return fmt.Errorf("it and the others need more than %d MiB for their pages; write the file with smaller pages or row groups, or name the columns that are needed", maxReserved>>20)
	}
	return nil
}
