package answers

import (
	"bytes"
	"errors"
	"io"
)

const (
	// nearRead bytes hold most packs; a longer pack takes a second read.
	nearRead = 4 << 10

	// farRead bytes are read at once where pack follows on pack.
	farRead = 64 << 10

	// maxPack bounds the length that a header may tell. No answer is as long.
	maxPack = 1 << 30
)

// cursor reads packs. A cursor is for one goroutine.
type cursor struct {
	log    *log
	ahead  int // how many bytes are read at once
	memory []byte
	window []byte // of the log, in memory
	from   place  // of the window
}

// bytes returns n bytes from a place on, valid until the next call.
func (c *cursor) bytes(at place, n int) ([]byte, error) {
	if at >= c.from && uint64(at-c.from) <= uint64(len(c.window)) {
		if rest := c.window[at-c.from:]; len(rest) >= n {
			return rest[:n], nil
		}
	}
	size := max(n, c.ahead)
	if cap(c.memory) < size || cap(c.memory) > 16*size { // a single long pack's memory is not kept
		c.memory = make([]byte, size)
	}
	window, err := c.log.read(c.memory[:size], at, n)
	if errors.Is(err, errTorn) {
		err = errDamaged
	}
	c.window, c.from = window, at
	if err != nil {
		return nil, err
	}
	return window[:n], nil
}

func (c *cursor) header(at place) (packHeader, error) {
	text, err := c.bytes(at, packHeaderSize)
	if err != nil {
		return packHeader{}, err
	}
	h, ok := parsePackHeader(text, at)
	if !ok || h.size > maxPack {
		return packHeader{}, errDamaged
	}
	return h, nil
}

// pack is a pack that was read.
type pack struct {
	at      place
	records [][]byte
	memory  []byte // of the records
}

// read reads the pack at a place. The error is errDamaged, or the disk's. The records are valid
// until p is used again.
func (c *cursor) read(at place, p *pack) error {
	p.at, p.records = at, p.records[:0]
	h, err := c.header(at)
	if err != nil {
		return err
	}
	text, err := c.bytes(at, h.length())
	if err != nil {
		return err
	}
	if p.memory, err = h.decode(p.memory[:0], text[packHeaderSize:]); err == nil {
		p.records, err = h.splitPack(p.records, p.memory)
	}
	if err != nil {
		p.records = p.records[:0]
	}
	return err
}

// next reads the first pack from a place on, and returns the place behind the pack. The error
// is io.EOF behind the last pack, errDamaged, or the disk's. After errDamaged the place behind
// is that of the next pack whose header is sound.
func (c *cursor) next(at place, p *pack) (behind place, err error) {
	at, end := c.log.from(at)
	for at < end {
		h, err := c.header(at)
		if err == nil {
			return at + place(h.length()), c.read(at, p)
		}
		if !errors.Is(err, errDamaged) {
			return at, err
		}
		p.at, p.records = at, p.records[:0]
		behind, empty, err := c.search(at, end)
		if err != nil {
			return at, err
		}
		if !empty {
			return behind, errDamaged
		}
		at, end = c.log.from(behind)
	}
	return at, io.EOF
}

// search returns the place of the first pack behind at whose header is sound, or end, and
// whether all bytes in between are zero, as cut leaves them.
func (c *cursor) search(at, end place) (behind place, empty bool, err error) {
	empty = true
	for behind = at; behind < end; {
		if _, err := c.bytes(behind, 1); errors.Is(err, errDamaged) {
			return end, false, nil
		} else if err != nil {
			return end, false, err
		}
		text := c.window[behind-c.from:]
		n := bytes.IndexByte(text, packMagic)
		if n == 0 && behind > at {
			if _, err := c.header(behind); err == nil {
				return behind, empty, nil
			} else if !errors.Is(err, errDamaged) {
				return end, false, err
			}
		}
		if n == 0 {
			n, empty = 1, false
		} else if n < 0 {
			n = len(text)
		}
		empty = empty && len(bytes.Trim(text[:n], "\x00")) == 0
		behind += place(n)
	}
	return end, empty, nil
}
