package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// plainDictionary is the encoding PLAIN_DICTIONARY, which old files have.
const plainDictionary format.Encoding = 2

// widths are the sizes of values in bits.
var widths = map[format.Type]int{
	format.Boolean: 1, format.Int32: 32, format.Int64: 64, format.Int96: 96, format.Float: 32, format.Double: 64,
}

var errFewer = errors.New("a page does not have the number of values of its header")

// page is the page that the library reads.
type page struct {
	n           int // values of the header
	least, most int // of the values that are not null, as the values have it
	encoding    *format.Encoding
}

// pageOf returns a page without values if it is of an unknown type.
func pageOf(h *format.PageHeader) page {
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		return page{n: int(h.DataPageHeader.V.NumValues), encoding: &h.DataPageHeader.V.Encoding}
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		return page{n: int(h.DataPageHeaderV2.V.NumValues), encoding: &h.DataPageHeaderV2.V.Encoding}
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		return page{n: int(h.DictionaryPageHeader.V.NumValues), encoding: &h.DictionaryPageHeader.V.Encoding}
	}
	return page{}
}

// checkBody counts the levels and the values of the page: the library takes zeros or other memory for those that are
// missing, and memory for those that are too many. Values that the library decodes wrongly become PLAIN.
func (s *stream) checkBody(h *format.PageHeader) (err error) {
	values := s.body
	var levels []byte
	for i, most := range s.levels {
		switch {
		case h.Type == format.DictionaryPage:
			continue
		case h.Type == format.DataPageV2:
			v2 := &h.DataPageHeaderV2.V
			size := [...]int32{v2.RepetitionLevelsByteLength, v2.DefinitionLevelsByteLength}[i]
			levels, values = values[:size], values[size:]
		case most > 0:
			v1 := &h.DataPageHeader.V
			if e := [...]format.Encoding{v1.RepetitionLevelEncoding, v1.DefinitionLevelEncoding}[i]; e != format.RLE {
				return fmt.Errorf("levels in the encoding %v, which is not read", e)
			}
			if levels, values, err = cutSized(values); err != nil {
				return err
			}
		}
		if most > 0 {
			if n, err := countRuns(levels, bits.Len(uint(most)), s.page.n); err != nil || n < s.page.n {
				return errors.Join(err, errFewer)
			}
		}
	}
	plain, err := s.decode(values)
	if plain != nil {
		s.body = append(s.body[:len(s.body)-len(values):len(s.body)-len(values)], plain...)
		*s.page.encoding, values = format.Plain, plain
	}
	if err == nil {
		s.page.least, s.page.most, err = s.count(values)
	}
	if s.page.least > s.page.n {
		err = errors.Join(err, errFewer)
	}
	if err != nil {
		return err
	}
	if h.Type == format.DictionaryPage {
		if s.dictionary >= 0 || s.page.most < s.page.n {
			return errors.New("a second dictionary, or one without its values")
		}
		s.dictionary = int64(len(s.body)) + 4*int64(s.page.n)
		return s.reserve(0)
	}
	if s.splits() {
		s.split = splitting{s.page.n, runs{data: levels, width: bits.Len(uint(s.levels[1]))}, runs{}}
		if len(values) > 0 {
			s.split.indexes = runs{data: values[1:], width: int(values[0])}
		}
		return s.reserve(int64(len(s.body)) + 8*splitValues)
	}
	decoded := int64(len(s.body))
	if *s.page.encoding != format.Plain || s.width == 0 {
		decoded += 4 * int64(s.page.n) // of offsets or indexes
	}
	if *s.page.encoding == format.DeltaBinaryPacked {
		decoded += 4 * int64(s.page.n)
	}
	for _, most := range s.levels {
		decoded += int64(min(most, 1) * s.page.n)
	}
	return s.reserve(decoded)
}

// cutSized returns the bytes at the beginning of data whose size precedes them.
func cutSized(data []byte) (sized, rest []byte, err error) {
	if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	end := 4 + binary.LittleEndian.Uint32(data)
	return data[4:end], data[end:], nil
}

// count returns how many values the page has that are not null.
func (s *stream) count(values []byte) (least, most int, err error) {
	byteArray := s.kind == format.ByteArray
	switch e := *s.page.encoding; {
	case (e == format.Plain || e == plainDictionary && s.dictionary < 0) && byteArray:
		for ; len(values) >= 4 && err == nil; most++ {
			_, values, err = cutSized(values)
		}
		if len(values) > 0 {
			err = io.ErrUnexpectedEOF
		}
		return most, most, err
	case e == format.Plain || e == plainDictionary && s.dictionary < 0,
		e == format.ByteStreamSplit && !byteArray && s.kind != format.Boolean && s.kind != format.Int96:
		return 0, len(values) * 8 / s.width, nil
	case e == format.RLEDictionary || e == plainDictionary:
		switch {
		case s.dictionary < 0:
			return 0, 0, errors.New("a page has indexes of a dictionary, and there is none")
		case len(values) == 0:
			return 0, 0, nil
		case values[0] > 32:
			return 0, 0, fmt.Errorf("indexes of %d bits", values[0])
		case values[0] == 0: // all indexes are 0, and no run is needed
			return 0, math.MaxInt, nil
		}
		most, err = countRuns(values[1:], int(values[0]), s.page.n)
		return most - runsOver, most, err
	case e == format.DeltaBinaryPacked && s.kind == format.Int64, e == format.DeltaLengthByteArray && byteArray,
		e == format.DeltaByteArray && (byteArray || s.kind == format.FixedLenByteArray):
		return s.countDelta(values, e == format.DeltaByteArray)
	}
	return 0, 0, &UnsupportedError{s.name, fmt.Sprintf("has values of type %v in the encoding %v", s.kind, *s.page.encoding), "write the file in another encoding"}
}

// countDelta returns the number of integers at the beginning of values. They may be the lengths of beginnings that values
// have in common with the value before: a small page can have large values.
func (s *stream) countDelta(values []byte, prefixes bool) (least, most int, err error) {
	head := values
	for range 2 { // the size of a block and the number of its parts
		_, size := binary.Uvarint(head)
		head = head[max(size, 0):]
	}
	n, size := binary.Uvarint(head)
	if size <= 0 || n > uint64(s.page.n) {
		return 0, 0, errFewer
	}
	if prefixes {
		var lengths []int32
		lengths, err = new(delta.BinaryPackedEncoding).DecodeInt32(nil, values)
		total := int64(len(values))
		for _, l := range lengths {
			total += int64(max(l, 0))
		}
		err = errors.Join(err, s.reserve(total))
	}
	return int(n), int(n), err
}

// decode decodes booleans in the encoding RLE, of which the library begins each run with a new byte, and integers of 32
// bits whose differences may have more bits, as those of DuckDB, to the encoding PLAIN; nil for others.
func (s *stream) decode(values []byte) (plain []byte, err error) {
	switch e := *s.page.encoding; {
	case e == format.RLE && s.kind == format.Boolean:
		values, _, err = cutSized(values)
		n := 0
		if err == nil {
			n, err = countRuns(values, 1, s.page.n)
		}
		if err != nil {
			return nil, err
		}
		bits := make([]uint32, n)
		err = (&runs{data: values, width: 1}).read(bits)
		plain = make([]byte, (n+7)/8)
		for i, bit := range bits {
			plain[i/8] |= byte(bit) << (i % 8)
		}
		return plain, err
	case e == format.DeltaBinaryPacked && s.kind == format.Int32:
		if _, _, err := s.countDelta(values, false); err != nil {
			return nil, err
		}
		integers, err := new(delta.BinaryPackedEncoding).DecodeInt64(nil, values)
		plain = make([]byte, 0, 4*len(integers))
		for _, i := range integers {
			plain = binary.LittleEndian.AppendUint32(plain, uint32(i))
		}
		return plain, err
	}
	return nil, nil
}
