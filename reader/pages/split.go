package pages

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// runs reads values of a number of bits in the encoding RLE.
type runs struct {
	data   []byte // after the current run
	width  int    // bits
	left   int    // values of the current run
	value  uint32 // they are equal to it, or
	packed []byte // they are packed here
	at     int    // index of the next one in packed
}

// runsOver is the number of values by which the last run may be too long: a run of packed values has up to 63 groups of
// eight.
const runsOver = 63 * 8

// next begins the next run.
func (r *runs) next() error {
	header, size := binary.Uvarint(r.data)
	if size <= 0 {
		return errFewer
	}
	if header>>1 > maxPage {
		return fmt.Errorf("a run of %d values", header>>1)
	}
	r.left, r.packed, r.at, r.value, r.data = int(header>>1), nil, 0, 0, r.data[size:]
	bytes := (r.width + 7) / 8
	if header&1 == 1 {
		r.left, bytes = 8*r.left, r.left*r.width
	}
	if bytes > len(r.data) {
		return io.ErrUnexpectedEOF
	}
	body := r.data[:bytes]
	if r.data = r.data[bytes:]; header&1 == 1 {
		r.packed = body
		return nil
	}
	for i, b := range body {
		r.value |= uint32(b) << (8 * i)
	}
	return nil
}

// read fills to. Values of no bits need no runs.
func (r *runs) read(to []uint32) error {
	for len(to) > 0 {
		if r.left == 0 {
			if r.width == 0 && len(r.data) == 0 {
				clear(to)
				return nil
			}
			if err := r.next(); err != nil {
				return err
			}
		}
		part := to[:min(len(to), r.left)]
		for i := range part {
			if part[i] = r.value; r.packed != nil {
				part[i] = unpack(r.packed, r.at+i, r.width)
			}
		}
		r.at, r.left, to = r.at+len(part), r.left-len(part), to[len(part):]
	}
	return nil
}

// unpack returns the value at an index of values with up to 32 bits.
func unpack(packed []byte, index, width int) uint32 {
	bit := index * width
	if packed = packed[bit/8:]; len(packed) < 8 {
		packed = append(make([]byte, 0, 16), packed...)[:8]
	}
	return uint32(binary.LittleEndian.Uint64(packed) >> (bit % 8) & (1<<width - 1))
}

// countRuns returns the number of values in the encoding RLE, of which n are wanted.
func countRuns(data []byte, width, n int) (total int, err error) {
	for r := (runs{data: data, width: width}); len(r.data) > 0; total += r.left {
		if err := r.next(); err != nil {
			return total, err
		}
		if total+r.left > n+runsOver {
			return total, errFewer
		}
	}
	return total, nil
}

// appendRun appends values as one run of packed values.
func appendRun(data []byte, values []uint32, width int) []byte {
	groups := (len(values) + 7) / 8
	data = binary.AppendUvarint(data, uint64(groups)<<1|1)
	var word uint64
	filled := 0
	for _, v := range values {
		word |= uint64(v) << filled
		for filled += width; filled >= 8; filled -= 8 {
			data = append(data, byte(word))
			word >>= 8
		}
	}
	if filled > 0 {
		data = append(data, byte(word))
	}
	return append(data, make([]byte, groups*width-(len(values)*width+7)/8)...)
}

// splitValues is the number of values of the pages into which a page of more values is split. A page of indexes of one bit
// takes 40 times its size when it is decoded, and programs write a million values to a page.
const splitValues = 8 << 10

// splitting is a data page with indexes of a dictionary, of a column without lists, whose runs have been counted. The library
// gets it in pages of splitValues.
type splitting struct {
	left                int // values
	definition, indexes runs
}

// splits reports whether the page is one to split.
func (s *stream) splits() bool {
	e := *s.page.encoding
	return s.page.n > splitValues && s.levels[0] == 0 && (e == format.RLEDictionary || e == plainDictionary)
}

// nextPart sets the page to the next part of the page that is split.
func (s *stream) nextPart() (err error) {
	p := &s.split
	n := min(p.left, splitValues)
	p.left -= n
	values, present := make([]uint32, n), n
	s.body = nil
	if s.levels[1] > 0 {
		if err := p.definition.read(values); err != nil {
			return err
		}
		present = 0
		for _, level := range values {
			if int(level) == s.levels[1] {
				present++
			}
		}
		levels := appendRun(nil, values, p.definition.width)
		s.body = append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
	}
	if err := p.indexes.read(values[:present]); err != nil {
		return err
	}
	s.body = appendRun(append(s.body, byte(p.indexes.width)), values[:present], p.indexes.width)
	s.page.n, s.page.least, s.page.most = n, present, present
	return s.emit(&format.PageHeader{Type: format.DataPage, DataPageHeader: thrift.New(format.DataPageHeader{
		NumValues: int32(n), Encoding: format.RLEDictionary, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
	})})
}
