package pages

import (
	"encoding/binary"
	"io"
)

// runs reads integers of a number of bits in the encoding RLE: levels, indexes of a dictionary, and booleans. The library
// decodes all of a page at once, which takes 40 times the size of a page of indexes of one bit; programs write a million
// values to a page.
type runs struct {
	data   []byte // after the current run
	width  int    // bits
	left   int    // values left in the current run
	value  int32  // each of them, if packed is nil
	packed []byte // all values of the run, packed; nil if they are equal
	at     int    // index of the next value in packed
}

// next begins the next run.
func (r *runs) next() error {
	header, size := binary.Uvarint(r.data)
	if size <= 0 {
		return errFewer
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
		r.value |= int32(b) << (8 * i)
	}
	return nil
}

// read fills to. Values of no bits need no runs.
func (r *runs) read(to []int32) error {
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
		if r.packed == nil {
			for i := range part {
				part[i] = r.value
			}
		} else {
			for i := range part {
				part[i] = unpack(r.packed, r.at+i, r.width)
			}
		}
		r.at, r.left, to = r.at+len(part), r.left-len(part), to[len(part):]
	}
	return nil
}

// unpack returns the value at an index of packed values of up to 32 bits.
func unpack(packed []byte, index, width int) int32 {
	bit := index * width
	if packed = packed[bit/8:]; len(packed) < 8 {
		packed = append(make([]byte, 0, 16), packed...)[:8]
	}
	return int32(binary.LittleEndian.Uint64(packed) >> (bit % 8) & (1<<width - 1))
}
