package pages

import "encoding/binary"

// runs reads integers of a number of bits in the encoding RLE: levels, indexes of a dictionary, and booleans. The library
// decodes all of a page at once, which takes 40 times the size of a page of indexes of one bit; programs write a million
// values to a page.
type runs struct {
	data  []byte // after the current run
	width int    // bits
	left  int    // values left in the current run
	run   []byte // begins with the values of the current run, packed
	at    int    // index of the next value in run
	step  int    // to the index of the value after it: 0 if all values of the run are equal
}

// next begins the next run.
func (r *runs) next() error {
	header, size := binary.Uvarint(r.data)
	if size <= 0 {
		return errFewer
	}
	bytes := (r.width + 7) / 8
	r.run, r.left, r.at, r.step = r.data[size:], int(header>>1), 0, int(header&1)
	if r.step == 1 {
		r.left, bytes = 8*r.left, r.left*r.width
	}
	r.data = r.run[bytes:]
	return nil
}

// read fills to. Values of no bits need no runs.
func (r *runs) read(to []int32) error {
	if r.width == 0 {
		clear(to)
		return nil
	}
	for i := range to {
		for r.left == 0 {
			if err := r.next(); err != nil {
				return err
			}
		}
		to[i] = unpack(r.run, r.at, r.width)
		r.at, r.left = r.at+r.step, r.left-1
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
