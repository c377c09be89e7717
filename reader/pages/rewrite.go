package pages

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/format"
)

// decoder returns the function that decodes the n values of the page to the encoding PLAIN, if the library cannot; nil
// if it can.
func (s *stream) decoder() func(data []byte, n int) ([]byte, error) {
	switch e := s.page.encoding(); {
	case e == format.RLE && s.leaf.kind == format.Boolean:
		return decodeBooleans
	case e == format.DeltaBinaryPacked && s.leaf.kind == format.Int32:
		return decodeDelta32
	}
	return nil
}

// rewrite replaces the values of the page by values in the encoding PLAIN.
func (s *stream) rewrite(decode func(data []byte, n int) ([]byte, error)) error {
	data := make([]byte, s.page.UncompressedPageSize)
	if err := s.body(data); err != nil {
		return err
	}
	values, err := decode(data[s.page.first:], s.page.present)
	if err != nil {
		return err
	}
	s.rewritten = append(data[:s.page.first], values...)
	s.page.UncompressedPageSize = int32(len(s.rewritten))
	s.page.DataPageHeader.V.Encoding, s.page.DataPageHeaderV2.V.Encoding = format.Plain, format.Plain
	return nil
}

// decodeBooleans decodes the encoding RLE. The library begins each run with a new byte.
func decodeBooleans(data []byte, n int) ([]byte, error) {
	values := make([]byte, (n+7)/8)
	data, _, err := cutLevels(data, 1, format.RLE)
	r := runs{data: data, width: 1}
	for at := range n {
		values[at/8] |= byte(r.next()&1) << (at % 8)
	}
	return values, err
}

// decodeDelta32 decodes integers of 32 bits whose differences may have more bits, with which the library fails.
func decodeDelta32(data []byte, n int) ([]byte, error) {
	integers, err := new(delta.BinaryPackedEncoding).DecodeInt64(nil, data)
	if err == nil && len(integers) != n {
		err = errFewer
	}
	values := make([]byte, 0, 4*len(integers))
	for _, i := range integers {
		values = binary.LittleEndian.AppendUint32(values, uint32(i))
	}
	return values, err
}
