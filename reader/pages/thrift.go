package pages

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// maxDepth is more than the depth of any structure of the Parquet format.
const maxDepth = 32

var errThrift = errors.New("a structure of the metadata is not valid")

// unmarshal decodes the structure of the compact protocol at the beginning of data, and returns its size. The error is
// io.ErrUnexpectedEOF if data ends before the structure.
//
// The library reserves memory for lists before it reads their elements, and follows unknown structures without a
// bound, so the structure is measured first.
func unmarshal(data []byte, to any) (size int, err error) {
	m := measure{data: data}
	if err := m.structure(0); err != nil {
		return 0, err
	}
	return m.at, thrift.Unmarshal(new(thrift.CompactProtocol), data[:m.at], to)
}

// measure finds the end of a structure.
type measure struct {
	data []byte
	at   int
}

// The types of the compact protocol.
const (
	typeTrue   = 1
	typeFalse  = 2
	typeByte   = 3
	typeI16    = 4
	typeI32    = 5
	typeI64    = 6
	typeDouble = 7
	typeBinary = 8
	typeList   = 9
	typeSet    = 10
	typeMap    = 11
	typeStruct = 12
	typeUUID   = 13
)

func (m *measure) structure(depth int) error {
	if depth > maxDepth {
		return errThrift
	}
	for {
		b, err := m.byte()
		if err != nil || b == 0 {
			return err
		}
		if b>>4 == 0 { // the number of the field follows
			if _, err := m.number(); err != nil {
				return err
			}
		}
		if kind := b & 15; kind != typeTrue && kind != typeFalse { // they are values themselves
			if err := m.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

func (m *measure) value(kind byte, depth int) error {
	switch kind {
	case typeTrue, typeFalse, typeByte:
		return m.skip(1)
	case typeI16, typeI32, typeI64:
		_, err := m.number()
		return err
	case typeDouble:
		return m.skip(8)
	case typeUUID:
		return m.skip(16)
	case typeBinary:
		n, err := m.number()
		if err != nil {
			return err
		}
		return m.skip(n)
	case typeList, typeSet:
		return m.list(depth)
	case typeMap:
		return m.pairs(depth)
	case typeStruct:
		return m.structure(depth + 1)
	}
	return errThrift
}

func (m *measure) list(depth int) error {
	b, err := m.byte()
	if err != nil {
		return err
	}
	n := uint64(b >> 4)
	if n == 15 {
		if n, err = m.number(); err != nil {
			return err
		}
	}
	for ; n > 0 && err == nil; n-- {
		err = m.value(b&15, depth+1)
	}
	return err
}

func (m *measure) pairs(depth int) error {
	n, err := m.number()
	if err != nil || n == 0 {
		return err
	}
	kinds, err := m.byte()
	for ; n > 0 && err == nil; n-- {
		if err = m.value(kinds>>4, depth+1); err == nil {
			err = m.value(kinds&15, depth+1)
		}
	}
	return err
}

func (m *measure) byte() (byte, error) {
	if m.at == len(m.data) {
		return 0, io.ErrUnexpectedEOF
	}
	m.at++
	return m.data[m.at-1], nil
}

func (m *measure) number() (uint64, error) {
	u, n := binary.Uvarint(m.data[m.at:])
	switch {
	case n == 0:
		return 0, io.ErrUnexpectedEOF
	case n < 0:
		return 0, errThrift
	}
	m.at += n
	return u, nil
}

func (m *measure) skip(n uint64) error {
	if n > uint64(len(m.data)-m.at) {
		return io.ErrUnexpectedEOF
	}
	m.at += int(n)
	return nil
}
