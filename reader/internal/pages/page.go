package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// nextPage reads a page of values, the dictionary, or a page to skip.
func (v *Values) nextPage() error {
	h := new(format.PageHeader)
	if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(v.in)).Decode(h); err != nil {
		return fmt.Errorf("the header of a page: %w", err)
	}
	n, e := int32(0), format.Plain
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		n, e = h.DataPageHeader.V.NumValues, h.DataPageHeader.V.Encoding
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		n, e = h.DataPageHeaderV2.V.NumValues, h.DataPageHeaderV2.V.Encoding
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		return v.readDictionary(h)
	}
	if n == 0 { // or a page of another type
		_, err := v.in.Discard(int(h.CompressedPageSize))
		return err
	}
	if n < 0 || int64(n) > v.meta.NumValues-v.values {
		return fmt.Errorf("a page has %d values, and the metadata has %d in all", n, v.meta.NumValues)
	}
	levels, values, err := v.readPage(h)
	if err != nil {
		return err
	}
	for i, most := range v.levels {
		if most > 0 && h.Type == format.DataPage {
			if e := [...]format.Encoding{h.DataPageHeader.V.RepetitionLevelEncoding, h.DataPageHeader.V.DefinitionLevelEncoding}[i]; e != format.RLE {
				return fmt.Errorf("levels in the encoding %v, which is not read", e)
			}
			if levels[i], values, err = cutSized(values); err != nil {
				return err
			}
		}
		v.runs[i] = runs{data: levels[i], width: bits.Len(uint(most))}
	}
	v.left, v.values = int(n), v.values+int64(n)
	return v.setValues(e, values)
}

func (v *Values) readDictionary(h *format.PageHeader) error {
	_, data, err := v.readPage(h)
	if err != nil {
		return err
	}
	n := int(h.DictionaryPageHeader.V.NumValues)
	values, err := v.decode(format.Plain, n, data)
	if err != nil {
		return err
	}
	v.dictionary, v.dictionarySize = v.column.Type().NewDictionary(v.column.Index(), n, values), int64(len(data))+4*int64(n)
	v.raw, v.body = nil, nil // are the memory of the dictionary
	return v.reserve(0)
}

// cutSized returns the bytes at the beginning of data whose size precedes them.
func cutSized(data []byte) (sized, rest []byte, err error) {
	if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
		return nil, nil, io.ErrUnexpectedEOF
	}
	end := 4 + binary.LittleEndian.Uint32(data)
	return data[4:end], data[end:], nil
}

// readPage reads a page, checks its sizes and checksum, and decompresses it. Only pages of version 2 have levels apart from
// values.
func (v *Values) readPage(h *format.PageHeader) (levels [2][]byte, values []byte, err error) {
	size, compressed, cut := int(h.UncompressedPageSize), int(h.CompressedPageSize), [2]int{}
	packed := v.meta.Codec != format.Uncompressed
	if v2 := &h.DataPageHeaderV2.V; h.Type == format.DataPageV2 {
		cut = [2]int{int(v2.RepetitionLevelsByteLength), int(v2.DefinitionLevelsByteLength)}
		packed = packed && (!v2.IsCompressed.Valid || v2.IsCompressed.V)
	}
	if cut[0] < 0 || cut[1] < 0 || cut[0]+cut[1] > min(size, compressed) || !packed && size != compressed {
		return levels, nil, fmt.Errorf("a page has %d bytes, %d of them compressed, and its levels have %d and %d", size, compressed, cut[0], cut[1])
	}
	if err := v.reserve(int64(max(size, compressed))); err != nil {
		return levels, nil, err
	}
	v.raw = grow(v.raw, compressed)
	if _, err := io.ReadFull(v.in, v.raw); err != nil {
		return levels, nil, err
	}
	if h.CRC != 0 && uint32(h.CRC) != crc32.ChecksumIEEE(v.raw) {
		return levels, nil, errors.New("a page does not have its checksum")
	}
	values = v.raw
	for i := range levels {
		levels[i], values, size = values[:cut[i]], values[cut[i]:], size-cut[i]
	}
	if packed && (size > 0 || len(values) > 0) { // a page of nulls may have no values and no compressed bytes
		v.body = grow(v.body, size)
		if values, err = decompress(v.meta.Codec, v.body, values); err != nil {
			return levels, nil, fmt.Errorf("a page cannot be decompressed: %w", err)
		}
	}
	if len(values) != size {
		return levels, nil, fmt.Errorf("a page does not have the %d bytes of its header", h.UncompressedPageSize)
	}
	return levels, values, nil
}

// grow returns size bytes of memory, in b if b has one byte more: with this byte, a decompressor finds the end.
func grow(b []byte, size int) []byte {
	if cap(b) <= size {
		b = make([]byte, size+1)
	}
	return b[:size]
}

// reserve counts memory for the file: the present page, or its decoded values in addition. Too much memory is an
// *UnsupportedError.
func (v *Values) reserve(size int64) error {
	if size > maxPage {
		return &UnsupportedError{v.name, fmt.Sprintf("has a page of %d MiB, more than %d", size>>20, maxPage>>20),
			"write the file with smaller pages or row groups"}
	}
	total := v.dictionarySize + int64(cap(v.raw)+cap(v.body)) + size + streamMemory
	reserved := v.file.reserved.Add(total - v.reserved)
	v.reserved = total
	if reserved <= maxReserved {
		return nil
	}
	return &UnsupportedError{v.name, fmt.Sprintf("and the others need more than %d MiB for their pages", maxReserved>>20),
		"write the file with smaller pages or row groups, or name the columns that are needed"}
}
