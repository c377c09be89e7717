package pages

import (
	"encoding/binary"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// splitValues is the number of values of the pages into which a page of more values is split. A page of indexes of one bit
// takes 40 times its size when it is decoded, and programs write a million values to a page.
const splitValues = 8 << 10

// splitting is a data page with indexes of a dictionary, of a column without lists. The library gets it in pages of
// splitValues.
type splitting struct {
	left       int // values
	most       int // the greatest definition level
	width      int // of an index in bits
	definition runs
	indexes    runs
}

// splits reports whether the page, whose header was read, is one to split.
func (s *stream) splits() bool {
	n, _ := s.page.values()
	if n <= splitValues || s.leaf.rep > 0 {
		return false
	}
	e := s.page.encoding()
	return e == format.RLEDictionary || e == plainDictionary
}

// split reads the page.
func (s *stream) split() error {
	n, _ := s.page.values()
	data := make([]byte, s.page.UncompressedPageSize)
	if err := s.body(data); err != nil {
		return err
	}
	levels, indexes := data[:s.page.first], data[s.page.first:]
	if s.page.Type == format.DataPage && len(levels) > 0 {
		levels = levels[4:] // their size
	}
	p := &splitting{left: int(n), most: s.leaf.definition}
	if len(indexes) > 0 {
		p.width, indexes = int(indexes[0]), indexes[1:]
	}
	p.definition = runs{data: levels, width: bits.Len(uint(p.most))}
	p.indexes = runs{data: indexes, width: p.width}
	s.parts = p
	return nil
}

// nextPart sets the page to the next part of the page that is split.
func (s *stream) nextPart() error {
	p := s.parts
	n := min(p.left, splitValues)
	if p.left -= n; p.left == 0 {
		s.parts = nil
	}
	var body []byte
	present := n
	if p.most > 0 {
		levels := make([]uint32, n)
		present = 0
		for i := range levels {
			if levels[i] = p.definition.next(); int(levels[i]) == p.most {
				present++
			}
		}
		packed := appendRun(nil, levels, p.definition.width)
		body = append(binary.LittleEndian.AppendUint32(body, uint32(len(packed))), packed...)
	}
	indexes := make([]uint32, present)
	for i := range indexes {
		indexes[i] = p.indexes.next()
	}
	body = appendRun(append(body, byte(p.width)), indexes, p.width)
	s.rewritten = body
	s.page = page{PageHeader: format.PageHeader{
		Type: format.DataPage, UncompressedPageSize: int32(len(body)),
		DataPageHeader: thrift.New(format.DataPageHeader{
			NumValues: int32(n), Encoding: format.RLEDictionary, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE,
		}),
	}}
	return s.begin()
}

// runs reads values in the encoding RLE, which have been checked.
type runs struct {
	data  []byte
	width int
	run   run
	at    int // index of the next value of run
}

// next returns the next value. Without data all values are 0.
func (r *runs) next() uint32 {
	for r.at == r.run.count && len(r.data) > 0 {
		var err error
		if r.run, r.data, err = nextRun(r.data, r.width); err != nil {
			r.data = nil
		}
		r.at = 0
	}
	if r.at == r.run.count {
		return 0
	}
	r.at++
	if r.run.packed == nil {
		return r.run.value
	}
	return unpack(r.run.packed, r.at-1, r.width)
}

// unpack returns the value at an index of values with up to 32 bits.
func unpack(packed []byte, index, width int) uint32 {
	bit := index * width
	var word [8]byte
	copy(word[:], packed[bit/8:])
	return uint32(binary.LittleEndian.Uint64(word[:]) >> (bit % 8) & (1<<width - 1))
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
