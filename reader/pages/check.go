package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// leaf is the column of a stream.
type leaf struct {
	name            string
	kind            format.Type
	width           int // of a value in bits; 0 for byte arrays
	definition, rep int // the greatest levels
}

// plainDictionary is the encoding PLAIN_DICTIONARY, which old files have.
const plainDictionary format.Encoding = 2

// widths are the sizes of values in bits.
var widths = map[format.Type]int{
	format.Boolean: 1, format.Int32: 32, format.Int64: 64, format.Int96: 96, format.Float: 32, format.Double: 64,
}

func newLeaf(c *chunk) leaf {
	element := c.file.leaves[c.column]
	column := c.Node().(*parquet.Column)
	l := leaf{
		name: strings.Join(column.Path(), "."), kind: element.Type.V, width: widths[element.Type.V],
		definition: column.MaxDefinitionLevel(), rep: column.MaxRepetitionLevel(),
	}
	if l.kind == format.FixedLenByteArray {
		l.width = 8 * int(element.TypeLength.V)
	}
	return l
}

// checkBody checks the content of a page that is not compressed, and counts its values and rows.
func (s *stream) checkBody(data []byte) error {
	n, _ := s.page.values()
	switch {
	case s.page.Type == format.DictionaryPage:
		s.hasDictionary = true
		if e := s.page.DictionaryPageHeader.V.Encoding; e != format.Plain && e != plainDictionary {
			return s.unsupported(e)
		}
		if err := s.limit(int64(len(data)) + 4*n); err != nil {
			return err
		}
		return s.leaf.checkPlain(data, int(n))
	case s.page.Type == format.DataPageV2:
		h := s.page.DataPageHeaderV2.V
		repetition := data[:h.RepetitionLevelsByteLength]
		definition := data[len(repetition):s.page.levels]
		s.page.first = s.page.levels
		return s.checkValues(int(n), h.Encoding, repetition, definition, data[s.page.levels:], int(h.NumNulls))
	}
	h, size := s.page.DataPageHeader.V, len(data)
	repetition, data, err := cutLevels(data, s.leaf.rep, h.RepetitionLevelEncoding)
	if err != nil {
		return err
	}
	definition, data, err := cutLevels(data, s.leaf.definition, h.DefinitionLevelEncoding)
	if err != nil {
		return err
	}
	s.page.first = size - len(data)
	return s.checkValues(int(n), h.Encoding, repetition, definition, data, -1)
}

// cutLevels returns the levels at the beginning of a data page of version 1.
func cutLevels(data []byte, most int, e format.Encoding) (levels, rest []byte, err error) {
	switch {
	case most == 0:
		return nil, data, nil
	case e != format.RLE:
		return nil, nil, fmt.Errorf("levels in the encoding %v, which is not read", e)
	case len(data) < 4:
		return nil, nil, io.ErrUnexpectedEOF
	}
	size, data := binary.LittleEndian.Uint32(data), data[4:]
	if uint64(size) > uint64(len(data)) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	return data[:size], data[size:], nil
}

// checkValues checks the levels and the values of a data page of n values. The number of nulls is -1 if it is unknown.
func (s *stream) checkValues(n int, e format.Encoding, repetition, definition, data []byte, nulls int) error {
	rows, present := n, n
	memory := len(data)
	if s.leaf.rep > 0 {
		zeros, err := countLevels(repetition, n, s.leaf.rep, 0, s.values == 0 || nulls >= 0)
		if err != nil {
			return fmt.Errorf("repetition levels: %w", err)
		}
		rows = zeros
		memory += n
	}
	if s.leaf.definition > 0 {
		most, err := countLevels(definition, n, s.leaf.definition, s.leaf.definition, false)
		if err != nil {
			return fmt.Errorf("definition levels: %w", err)
		}
		present = most
		memory += n
	}
	if nulls >= 0 && present != n-nulls {
		return fmt.Errorf("a page has %d nulls, and its header says %d", n-present, nulls)
	}
	if err := s.limit(int64(memory) + 8*int64(present)); err != nil {
		return err
	}
	if err := s.reserveDecoded(s.decodedSize(int64(memory), int64(present), e)); err != nil {
		return err
	}
	s.values, s.rows, s.page.present = s.values+int64(n), s.rows+int64(rows), present
	return s.checkEncoded(data, present, e)
}

// decodedSize returns what a page takes once it is decoded: data and levels of some memory, and the values that are present.
func (s *stream) decodedSize(memory, present int64, e format.Encoding) int64 {
	switch byteArray := s.leaf.kind == format.ByteArray; {
	case s.splits():
		return int64(s.page.UncompressedPageSize) + 8*splitValues
	case byteArray || e == format.RLEDictionary || e == plainDictionary:
		return memory + 4*present // offsets or indexes
	case e != format.Plain:
		return memory + present*int64(s.leaf.width)/8
	}
	return memory
}

// reserveDecoded counts the decoded page if that has more than twice the size of the page.
func (s *stream) reserveDecoded(decoded int64) error {
	if decoded > 2*int64(s.page.UncompressedPageSize) {
		return s.reserve(s.dictionary, decoded)
	}
	return nil
}

func (s *stream) unsupported(e format.Encoding) error {
	return &UnsupportedError{s.leaf.name, fmt.Sprintf("has values of type %v in the encoding %v", s.leaf.kind, e), "write the file in another encoding"}
}

// checkEncoded checks that data has n values.
func (s *stream) checkEncoded(data []byte, n int, e format.Encoding) error {
	l := &s.leaf
	switch byteArray := l.kind == format.ByteArray; {
	case e == format.Plain:
		return l.checkPlain(data, n)
	case e == format.RLEDictionary || e == plainDictionary:
		return s.checkIndexes(data, n)
	case e == format.RLE && l.kind == format.Boolean:
		levels, _, err := cutLevels(data, 1, e)
		if err == nil {
			err = countRuns(levels, n, n, 1)
		}
		return err
	case e == format.DeltaBinaryPacked && (l.kind == format.Int32 || l.kind == format.Int64):
		_, err := measureDelta(data, n, 64) // DuckDB writes int32 with up to 33 bits
		return err
	case e == format.DeltaLengthByteArray && byteArray:
		_, _, err := deltaLengths(data, n)
		return err
	case e == format.DeltaByteArray && (byteArray || l.kind == format.FixedLenByteArray):
		return s.checkPrefixes(data, n)
	case e == format.ByteStreamSplit && !byteArray && l.kind != format.Boolean && l.kind != format.Int96:
		if len(data)*8 != n*l.width {
			return errFewer
		}
		return nil
	}
	return s.unsupported(e)
}

var errFewer = errors.New("a page does not have the number of values of its header")

// checkPlain checks that data has n values in the encoding PLAIN.
func (l *leaf) checkPlain(data []byte, n int) error {
	if l.kind != format.ByteArray {
		if len(data) < (n*l.width+7)/8 {
			return errFewer
		}
		return nil
	}
	for ; n > 0 && len(data) >= 4; n-- {
		size := binary.LittleEndian.Uint32(data)
		if data = data[4:]; uint64(size) > uint64(len(data)) {
			return io.ErrUnexpectedEOF
		}
		data = data[size:]
	}
	if n > 0 || len(data) > 0 {
		return errFewer
	}
	return nil
}

// checkIndexes checks that data has n indexes of the dictionary.
func (s *stream) checkIndexes(data []byte, n int) error {
	if !s.hasDictionary {
		return errors.New("a page has indexes of a dictionary, and there is none")
	}
	if len(data) == 0 {
		if n > 0 {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	width := int(data[0])
	if width > 32 {
		return fmt.Errorf("indexes of %d bits", width)
	}
	least := n
	if width == 0 { // all indexes are 0, and no run is needed
		least = 0
	}
	return countRuns(data[1:], least, n, width)
}

// runsOver is the number of values by which the last run may be too long: a run of packed values has up to 63 groups of
// eight.
const runsOver = 63 * 8

// run is a run of the encoding RLE: count values that are equal to value, or, if packed is set, that are packed in it.
type run struct {
	count  int
	value  uint32
	packed []byte
}

// nextRun cuts off the first run of values with a number of bits.
func nextRun(data []byte, width int) (r run, rest []byte, err error) {
	header, size := binary.Uvarint(data)
	if size <= 0 {
		return r, nil, io.ErrUnexpectedEOF
	}
	data = data[size:]
	if header>>1 > maxPage {
		return r, nil, fmt.Errorf("a run of %d values", header>>1)
	}
	r.count = int(header >> 1)
	bytes := (width + 7) / 8
	if header&1 == 1 {
		bytes = r.count * width
		r.count *= 8
	}
	if bytes > len(data) {
		return r, nil, io.ErrUnexpectedEOF
	}
	if header&1 == 1 {
		r.packed = data[:bytes]
		return r, data[bytes:], nil
	}
	for i, b := range data[:bytes] {
		r.value |= uint32(b) << (8 * i)
	}
	return r, data[bytes:], nil
}

// countRuns checks that data has least to most values of a number of bits in the encoding RLE.
func countRuns(data []byte, least, most, width int) error {
	total := 0
	for len(data) > 0 {
		r, rest, err := nextRun(data, width)
		if err != nil {
			return err
		}
		if total += r.count; total > most+runsOver {
			return errFewer
		}
		data = rest
	}
	if total < least {
		return errFewer
	}
	return nil
}

// countLevels counts the levels that are equal to level among the first n of data. No level may be greater than most,
// and the first one must be 0 if fresh is set.
func countLevels(data []byte, n, most, level int, fresh bool) (count int, err error) {
	width := bits.Len(uint(most))
	if err := countRuns(data, n, n, width); err != nil {
		return 0, err
	}
	for left := n; left > 0; {
		r, rest, err := nextRun(data, width)
		if err != nil {
			return 0, err
		}
		data = rest
		size, value := min(r.count, left), int(r.value)
		if r.packed != nil {
			size = min(size, 1)
		}
		for i := 0; i < min(r.count, left); i += size {
			if r.packed != nil {
				value = int(unpack(r.packed, i, width))
			}
			if value > most || left == n && i == 0 && fresh && value != 0 {
				return 0, fmt.Errorf("level %d, and at most %d may be here", value, most)
			}
			if value == level {
				count += size
			}
		}
		left -= min(r.count, left)
	}
	return count, nil
}

// measureDelta checks n integers of at most a number of bits in the encoding DELTA_BINARY_PACKED at the beginning of
// data, and returns their size in bytes.
func measureDelta(data []byte, n, width int) (size int, err error) {
	m := measure{data: data}
	var head [4]uint64 // the size of a block, the number of its parts, the number of values, the first value
	for i := range head {
		if head[i], err = m.number(); err != nil {
			return 0, err
		}
	}
	block, parts := head[0], head[1]
	if head[2] != uint64(n) {
		return 0, errFewer
	}
	if block == 0 || block > 1<<16 || block%128 != 0 || parts == 0 || parts > block || block%parts != 0 || block/parts%32 != 0 {
		return 0, fmt.Errorf("blocks of %d values in %d parts", block, parts)
	}
	part := int(block / parts)
	for left := n - 1; left > 0; {
		if _, err = m.number(); err != nil {
			return 0, err
		}
		at := m.at
		if err := m.skip(parts); err != nil {
			return 0, err
		}
		for _, bits := range data[at : at+int(parts)] {
			if left <= 0 {
				break
			}
			if int(bits) > width {
				return 0, fmt.Errorf("integers of %d bits", bits)
			}
			if err := m.skip(uint64(part / 8 * int(bits))); err != nil {
				return 0, err
			}
			left -= part
		}
	}
	return m.at, nil
}

// deltaLengths returns the n lengths at the beginning of data, and the rest of data.
func deltaLengths(data []byte, n int) (lengths []int32, rest []byte, err error) {
	size, err := measureDelta(data, n, 32)
	if err != nil {
		return nil, nil, err
	}
	lengths, err = new(delta.BinaryPackedEncoding).DecodeInt32(nil, data[:size])
	if err == nil && len(lengths) != n {
		err = errFewer
	}
	return lengths, data[size:], err
}

// checkPrefixes checks the encoding DELTA_BYTE_ARRAY, whose values have the beginning of the value before. A small page
// can have large values.
func (s *stream) checkPrefixes(data []byte, n int) error {
	prefixes, data, err := deltaLengths(data, n)
	if err != nil {
		return err
	}
	suffixes, _, err := deltaLengths(data, n)
	if err != nil {
		return err
	}
	total := int64(8 * n)
	for i, prefix := range prefixes {
		if prefix < 0 || suffixes[i] < 0 || s.leaf.kind == format.FixedLenByteArray && int(prefix)+int(suffixes[i]) != s.leaf.width/8 {
			return fmt.Errorf("a value of %d and %d bytes", prefix, suffixes[i])
		}
		total += int64(prefix) + int64(suffixes[i])
	}
	if err := s.limit(total); err != nil {
		return err
	}
	return s.reserveDecoded(total)
}
