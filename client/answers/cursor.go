package answers

import (
	"bytes"
	"cmp"
	"errors"
	"io"
)

const (
	// nearRead bytes hold most packs: one that is longer is read with two reads.
	nearRead = 4 << 10

	// farRead is read at once where pack follows on pack.
	farRead = 64 << 10

	// mostRead is what a damaged pack may pretend to be long: above any answer.
	mostRead = 1 << 30
)

// cursor reads packs. It is for one goroutine.
type cursor struct {
	segments *segments
	memory   []byte
	window   []byte // of the segments, in memory
	from     position
	ahead    int // how many bytes are read at once
}

// bytes gives n bytes from a position on, which are good until the next call. The error is
// errTorn where there are not as many.
func (c *cursor) bytes(at position, n int) ([]byte, error) {
	if at >= c.from && uint64(at-c.from) <= uint64(len(c.window)) {
		if rest := c.window[at-c.from:]; len(rest) >= n {
			return rest[:n], nil
		}
	}
	if size := max(n, c.ahead); cap(c.memory) < size {
		c.memory = make([]byte, size)
	}
	window, err := c.segments.read(c.memory[:max(n, c.ahead)], at, n)
	if err != nil {
		c.window = nil
		return nil, err
	}
	c.window, c.from = window, at
	return window[:n], nil
}

// header reads the header of the pack at a position. The error is errDamaged or the disk's.
func (c *cursor) header(at position) (packHeader, error) {
	head, err := c.bytes(at, packHeaderSize)
	if err != nil {
		return packHeader{}, damagedIfTorn(err)
	}
	h, ok := parsePackHeader(head, at)
	if !ok || h.length() > mostRead {
		return packHeader{}, errDamaged
	}
	return h, nil
}

// read reads the pack at a position. The error is errDamaged or the disk's; with errDamaged
// come the pack's marks, as far as they are known.
func (c *cursor) read(at position, p *pack) error {
	p.reset()
	p.at = at
	h, err := c.header(at)
	if err != nil {
		return err
	}
	text, err := c.bytes(at, h.length())
	if err != nil {
		return damagedIfTorn(err)
	}
	return p.parse(at, text)
}

func damagedIfTorn(err error) error {
	if errors.Is(err, errTorn) {
		return errDamaged
	}
	return err
}

// next reads the first pack from a position on, and gives the position behind it. The error
// is io.EOF behind the last one, errDamaged, or the disk's. It does not come to the same
// damage twice.
func (c *cursor) next(at position, p *pack) (behind position, err error) {
	p.reset()
	at, end := c.segments.from(at)
	if at == end {
		return at, io.EOF
	}
	p.at = at
	h, err := c.header(at)
	if errors.Is(err, errDamaged) {
		behind, err := c.search(at+1, end)
		return behind, cmp.Or(err, errDamaged)
	}
	if err != nil {
		return at, err
	}
	return at + position(h.length()), c.read(at, p)
}

// seek gives the position of the first pack from a position on, damaged ones left out.
func (c *cursor) seek(at position) (position, error) {
	return c.search(c.segments.from(at))
}

// search gives the position of the first pack from a position on whose header is sound; end
// if there is none.
func (c *cursor) search(at, end position) (position, error) {
	for at < end {
		_, err := c.bytes(at, 1)
		if err != nil {
			return end, damagedIfTorn(err)
		}
		text := c.window[at-c.from:]
		n := bytes.IndexByte(text, packVersion)
		if n < 0 {
			at += position(len(text))
			continue
		}
		at += position(n)
		if _, err := c.header(at); !errors.Is(err, errDamaged) {
			return at, err
		}
		at++
	}
	return end, nil
}

// from gives the first position that is not below one and lies in a segment, and the end of
// that; twice the same if there is none.
func (s *segments) from(at position) (first, end position) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if i := s.index(at); i < len(s.list) {
		return max(at, s.list[i].base), s.list[i].end
	}
	return at, at
}
