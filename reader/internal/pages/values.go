package pages

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

const (
	// streamBuffer is the size of the read buffer of a column chunk in bytes.
	streamBuffer = 8 << 10
	// streamMemory is the memory of a column that is read, without its pages, in bytes: the buffer, and the values that a
	// caller takes at once.
	streamMemory = 40 << 10
	// MostValues is the most values that are read at once.
	MostValues = 128
)

var errFewer = errors.New("a page does not have the number of values of its header")

// Values reads the values of a column chunk, page by page.
type Values struct {
	file   *File
	column *parquet.Column
	levels [2]int // the maxima of the repetition and the definition levels
	meta   footerMetadata
	name   string
	group  int   // 1-based
	rowsOf int64 // of the row group

	source    source
	in        *bufio.Reader
	raw, body []byte // memory of the page, stored and decompressed
	reserved  int64  // bytes that count for the file

	dictionary     parquet.Dictionary
	dictionarySize int64   // bytes
	left           int     // values of the page
	runs           [3]runs // the page's levels, and its indexes of the dictionary or its booleans
	lookup         func(indexes []int32, to []parquet.Value)
	plain          parquet.ValueReader // the page's values, if lookup is nil

	numbers      [3][MostValues]int32 // of runs
	values, rows int64                // number of values in the pages so far, and of rows that were read
}

// Values returns the values of a leaf in a row group.
func (f *File) Values(group, leaf int) *Values {
	g, column := f.meta.RowGroups[group], f.columns[leaf]
	v := &Values{
		file: f, column: column, levels: [2]int{column.MaxRepetitionLevel(), column.MaxDefinitionLevel()},
		meta: g.Columns[leaf].Meta, rowsOf: g.NumRows,
		name: strings.Join(column.Path(), "."), group: group + 1,
	}
	first := v.meta.DataPage
	if d := v.meta.DictionaryPage; d > 0 {
		first = min(first, d)
	}
	v.source.Reader = io.NewSectionReader(f.body, first, max(f.end-first, 0))
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

// placed adds the place to an error of the content. The end of the input is not the end of the rows, so io.EOF is not wrapped.
func (v *Values) placed(err error) error {
	if _, unsupported := errors.AsType[*UnsupportedError](err); unsupported || v.source.failed {
		return err
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return damagedf("row group %d, column %q: %w", v.group, v.name, err)
}

// Read reads the next values, up to MostValues. The error is io.EOF after the last value, if the chunk has all of its values and
// rows. A panic of the library, which trusts the content, is an error.
func (v *Values) Read(to []parquet.Value) (n int, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("%v", reason)
		}
		if err != nil {
			n, err = 0, v.placed(err)
		} else if n == 0 {
			err = io.EOF
		}
	}()
	for v.left == 0 && v.values < v.meta.NumValues {
		if err := v.nextPage(); err != nil {
			return 0, err
		}
	}
	if v.left == 0 && v.rows != v.rowsOf {
		return 0, fmt.Errorf("%d rows, and the row group has %d", v.rows, v.rowsOf)
	}
	n = min(len(to), v.left, MostValues)
	v.left -= n
	return n, v.fill(to[:n])
}

// fill fills to with values and their levels.
func (v *Values) fill(to []parquet.Value) error {
	repetition, definition := v.numbers[0][:len(to)], v.numbers[1][:len(to)]
	for i, most := range v.levels {
		if most > 0 {
			if err := v.runs[i].read(v.numbers[i][:len(to)]); err != nil {
				return err
			}
		}
	}
	left := len(to) // values that are not null
	if v.levels[1] > 0 {
		left = v.count(definition)
	}
	if err := v.readPresent(to[:left]); err != nil {
		return err
	}
	if v.levels[0] == 0 {
		v.rows += int64(len(to))
	}
	if v.levels[1] == 0 {
		return nil
	}
	for i, level := range slices.Backward(definition) { // the values move to the right
		var value parquet.Value
		if int(level) == v.levels[1] {
			left--
			value = to[left]
		}
		if v.levels[0] > 0 && repetition[i] == 0 {
			v.rows++
		}
		to[i] = value.Level(int(repetition[i]), int(level), v.column.Index())
	}
	return nil
}

// count returns the number of values that are not null.
func (v *Values) count(definition []int32) (n int) {
	for _, level := range definition {
		if int(level) == v.levels[1] {
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
		n, err := v.plain.ReadValues(to)
		if to = to[n:]; len(to) > 0 && err != nil {
			return errFewer
		}
	}
	return nil
}

// plainDictionary is RLEDictionary as older writers name it.
const plainDictionary format.Encoding = 2

// setValues sets the values of a page.
func (v *Values) setValues(e format.Encoding, data []byte) (err error) {
	v.lookup, v.plain = nil, nil
	switch {
	case e == format.RLEDictionary || e == plainDictionary:
		if v.dictionary == nil {
			return errors.New("a page has indexes of a dictionary, and there is none")
		}
		if len(data) == 0 { // all are null
			data = []byte{0}
		}
		if data[0] > 32 {
			return fmt.Errorf("indexes of %d bits", data[0])
		}
		v.runs[2], v.lookup = runs{data: data[1:], width: int(data[0])}, v.dictionary.Lookup
		return nil
	case e == format.RLE && v.column.Type().Kind() == parquet.Boolean: // the library begins each run with a new byte
		data, _, err = cutSized(data)
		v.runs[2], v.lookup = runs{data: data, width: 1}, func(bits []int32, to []parquet.Value) {
			for i, bit := range bits {
				to[i] = parquet.BooleanValue(bit == 1)
			}
		}
		return err
	}
	n := v.left
	if v.levels[1] > 0 {
		n = 0
		for r, left := v.runs[1], v.left; left > 0; {
			levels := v.numbers[1][:min(left, MostValues)]
			if err := r.read(levels); err != nil {
				return err
			}
			n, left = n+v.count(levels), left-len(levels)
		}
	}
	values, err := v.decode(e, n, data)
	if err == nil {
		v.plain = v.column.Type().NewPage(v.column.Index(), n, values).Values()
	}
	return err
}

// decode decodes n values, which may take the memory of data.
func (v *Values) decode(e format.Encoding, n int, data []byte) (values encoding.Values, err error) {
	t, decoder := v.column.Type(), parquet.LookupEncoding(e)
	texts, inPlace := t.Kind() == parquet.ByteArray, decoder.CanDecodeInPlace()
	size, ends := 0, 0
	if texts {
		ends = n + 1
	}
	if !inPlace {
		size = t.EstimateDecodeSize(n, data, decoder)
	}
	if err := v.reserve(int64(size + 4*ends)); err != nil {
		return values, err
	}
	memory := data
	if !inPlace {
		memory = make([]byte, size)
	}
	if e == format.DeltaBinaryPacked && t.Kind() == parquet.Int32 { // the differences may have more bits, as in files of DuckDB
		var integers []int64
		integers, err = new(delta.BinaryPackedEncoding).DecodeInt64(nil, data)
		narrow := make([]int32, len(integers))
		for i, integer := range integers {
			narrow[i] = int32(integer)
		}
		values = encoding.Int32Values(narrow)
	} else {
		values, err = t.Decode(t.NewValues(memory, make([]uint32, ends)), data, decoder)
	}
	if errors.Is(err, encoding.ErrNotSupported) {
		return values, &UnsupportedError{v.name, fmt.Sprintf("has values of type %v in the encoding %v", t.Kind(), e), "write the file in another encoding"}
	}
	decoded, offsets := values.Data()
	if err == nil && (texts && len(offsets) != n+1 || !texts && 8*len(decoded) < n*widthOf(t)) { // the library fills in zeros
		err = errFewer
	}
	return values, err
}

// widthOf returns the size of a value in bits.
func widthOf(t parquet.Type) int {
	if t.Kind() == parquet.Boolean {
		return 1
	}
	return t.Length()
}

// Close frees the memory of the column for other columns.
func (v *Values) Close() {
	v.file.reserved.Add(-v.reserved)
	v.reserved = 0
}
