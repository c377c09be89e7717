package pages

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/delta"
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
	switch h.Type {
	case format.DataPage:
		n, e = h.DataPageHeader.V.NumValues, h.DataPageHeader.V.Encoding
	case format.DataPageV2:
		n, e = h.DataPageHeaderV2.V.NumValues, h.DataPageHeaderV2.V.Encoding
	case format.DictionaryPage:
		return v.readDictionary(h)
	}
	if n == 0 { // or a page of another type
		_, err := v.in.Discard(int(h.CompressedPageSize))
		return err
	}
	if int64(n) > v.ahead {
		return fmt.Errorf("a page has %d values, and the metadata has %d in all", n, v.meta.NumValues)
	}
	levels, values, err := v.readPage(h)
	if err != nil {
		return err
	}
	encodings := [2]format.Encoding{h.DataPageHeader.V.RepetitionLevelEncoding, h.DataPageHeader.V.DefinitionLevelEncoding}
	for i, most := range v.most {
		if most == 0 {
			continue
		}
		if h.Type == format.DataPage {
			if encodings[i] != format.RLE {
				return fmt.Errorf("levels in the encoding %v, which is not read", encodings[i])
			}
			levels[i], values = cutSized(values)
		}
		v.runs[i] = runs{data: levels[i], width: bits.Len(uint(most))}
	}
	v.left, v.ahead = int(n), v.ahead-int64(n)
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
	v.dictionary = v.column.Type().NewDictionary(v.column.Index(), n, values)
	v.kept, v.stored, v.plain = v.reserved, nil, nil // are the memory of the dictionary
	return nil
}

// cutSized returns the bytes at the beginning of data whose size precedes them.
func cutSized(data []byte) (sized, rest []byte) {
	end := 4 + int(binary.LittleEndian.Uint32(data))
	return data[4:end], data[end:]
}

// readPage reads a page, checks its sizes and checksum, and decompresses it. Only pages of version 2 have levels apart from
// values. Sizes of levels beyond the page are a panic, here and in cutSized, because the rest of the page begins after them.
func (v *Values) readPage(h *format.PageHeader) (levels [2][]byte, values []byte, err error) {
	size, compressed, cut := int(h.UncompressedPageSize), int(h.CompressedPageSize), [2]int{}
	packed := v.meta.Codec != format.Uncompressed
	if v2 := &h.DataPageHeaderV2.V; h.Type == format.DataPageV2 {
		cut = [2]int{int(v2.RepetitionLevelsByteLength), int(v2.DefinitionLevelsByteLength)}
		packed = packed && (!v2.IsCompressed.Valid || v2.IsCompressed.V)
	}
	v.file.reserved -= v.reserved
	v.reserved = 0
	if err := errors.Join(v.reserve(int(v.kept)), v.reserve(size), v.reserve(compressed)); err != nil {
		return levels, nil, err
	}
	v.stored = sized(v.stored, compressed)
	if _, err := io.ReadFull(v.in, v.stored); err != nil {
		return levels, nil, err
	}
	if h.CRC != 0 && uint32(h.CRC) != crc32.ChecksumIEEE(v.stored) {
		return levels, nil, errors.New("a page does not have its checksum")
	}
	values = v.stored
	for i := range levels {
		levels[i], values, size = values[:cut[i]], values[cut[i]:], size-cut[i]
	}
	if packed && size == 0 { // a page of nulls may have no compressed bytes
		return levels, nil, nil
	}
	if packed {
		v.plain = sized(v.plain, size)
		if values, err = decompress(v.meta.Codec, v.plain, values); err != nil {
			return levels, nil, fmt.Errorf("a page cannot be decompressed: %w", err)
		}
	}
	if len(values) != size {
		return levels, nil, fmt.Errorf("a page does not have the %d bytes of its header", h.UncompressedPageSize)
	}
	return levels, values, nil
}

// sized returns size bytes of memory, in b if possible, and one more: with this byte, a decompressor finds the end.
func sized(b []byte, size int) []byte { return slices.Grow(b[:0], size+1)[:size] }

// plainDictionary is RLEDictionary as older writers name it. The library's name is deprecated.
const plainDictionary format.Encoding = 2

// setValues sets the values of a page.
func (v *Values) setValues(e format.Encoding, data []byte) error {
	t := v.column.Type()
	switch {
	case e == format.RLEDictionary || e == plainDictionary:
		if v.dictionary == nil {
			return errors.New("a page has indexes of a dictionary, and there is none")
		}
		if len(data) == 0 { // all are null
			data = []byte{0}
		}
		v.runs[2], v.lookup = runs{data: data[1:], width: int(data[0])}, v.dictionary.Lookup
		return nil
	case e == format.RLE && t.Kind() == parquet.Boolean: // the library begins each run with a new byte
		data, _ = cutSized(data)
		v.runs[2], v.lookup = runs{data: data, width: 1}, t.NewDictionary(v.column.Index(), 2, encoding.BooleanValues([]byte{0b10})).Lookup
		return nil
	}
	n := 0
	for r, left := v.runs[1], v.left; left > 0; {
		levels := v.numbers[1][:min(left, mostValues)]
		if err := r.read(levels); err != nil {
			return err
		}
		n, left = n+v.count(levels), left-len(levels)
	}
	values, err := v.decode(e, n, data)
	if err == nil {
		v.lookup, v.present = nil, t.NewPage(v.column.Index(), n, values).Values()
	}
	return err
}

// decode decodes n values, which may take the memory of data.
func (v *Values) decode(e format.Encoding, n int, data []byte) (values encoding.Values, err error) {
	t, decoder, memory := v.column.Type(), parquet.LookupEncoding(e), data
	if !decoder.CanDecodeInPlace() {
		size := t.EstimateDecodeSize(n, data, decoder)
		if err := v.reserve(size); err != nil {
			return values, err
		}
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
		values, err = t.Decode(t.NewValues(memory, make([]uint32, 0, min(n, len(data))+1)), data, decoder)
	}
	if errors.Is(err, encoding.ErrNotSupported) {
		return values, fmt.Errorf("its values are of type %v in the encoding %v; write the file in another encoding", t.Kind(), e)
	}
	decoded, offsets := values.Data()
	if texts := t.Kind() == parquet.ByteArray; err == nil && (texts && len(offsets) != n+1 || !texts && len(decoded) < t.EstimateSize(n)) {
		err = errFewer // the library fills in zeros
	}
	return values, err
}
