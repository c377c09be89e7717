package answers

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/s2"
)

const (
	packMagic  = 0xBC // in no UTF-8 text in Latin letters, so that a search for packs seldom stops
	packHeader = 16

	packPlain = 0
	packS2    = 1

	// A pack is full with this many bytes or records. A lookup of a single answer decodes a whole
	// pack; larger packs save 1% of the disk.
	packBytes   = 4 << 10
	packRecords = 256

	// maxCompressed bounds the memory that decoding takes. Longer records are stored as they are.
	maxCompressed = 16 * packBytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendPack appends the pack of n records, each with its length before it, as the pack lies at a
// place. The records are compressed if that makes them smaller.
func appendPack(dst []byte, at place, records []byte, n int) []byte {
	start := len(dst)
	dst = slices.Grow(dst, packHeader+s2.MaxEncodedLen(len(records)))[:start+packHeader]
	encoded, encoding := records, byte(packPlain)
	if len(records) <= maxCompressed {
		if block := s2.Encode(dst[len(dst):cap(dst)], records); len(block) < len(records) {
			encoded, encoding = block, packS2
		}
	}
	header := dst[start:]
	header[0], header[1] = packMagic, encoding
	binary.BigEndian.PutUint16(header[2:], uint16(n))
	binary.BigEndian.PutUint32(header[4:], uint32(len(encoded)))
	binary.BigEndian.PutUint32(header[8:], crc32.Checksum(encoded, castagnoli))
	binary.BigEndian.PutUint32(header[12:], headerChecksum(header, at))
	return append(dst, encoded...)
}

// headerChecksum covers the place, so that bytes that were meant for another place are no pack.
func headerChecksum(header []byte, at place) uint32 {
	sum := crc32.Checksum(header[:12], castagnoli)
	return crc32.Update(sum, castagnoli, at.append(nil))
}

// packLength returns the length of the pack that begins with text, and lies at a place; 0 if text
// does not begin with the header of a pack.
func packLength(text []byte, at place) int {
	if len(text) < packHeader || text[0] != packMagic || binary.BigEndian.Uint32(text[12:]) != headerChecksum(text, at) {
		return 0
	}
	if size := binary.BigEndian.Uint32(text[4:]); size < maxPack {
		return packHeader + int(size)
	}
	return 0
}

// pack is a pack that was read: its records and their memory.
type pack struct {
	at      place
	records [][]byte
	memory  []byte
}

// parse decodes a pack whose header is sound, and reports whether the rest is. A damaged pack has no
// records, nor has a nil text.
func (p *pack) parse(at place, text []byte) bool {
	p.at, p.records, p.memory = at, p.records[:0], p.memory[:0]
	if text == nil {
		return false
	}
	encoded := text[packHeader:]
	size, err := s2.DecodedLen(encoded)
	switch {
	case crc32.Checksum(encoded, castagnoli) != binary.BigEndian.Uint32(text[8:]):
		return false
	case text[1] == packPlain:
		p.memory = append(p.memory, encoded...)
	case text[1] != packS2 || err != nil || size > maxCompressed:
		return false
	default:
		if p.memory, err = s2.Decode(slices.Grow(p.memory, size)[:size], encoded); err != nil {
			return false
		}
	}
	rest := p.memory
	for range binary.BigEndian.Uint16(text[2:]) {
		record, behind, ok := cutSized(rest)
		if key, _ := splitRecord(record); !ok || key == nil {
			p.records = p.records[:0]
			return false
		}
		p.records, rest = append(p.records, record), behind
	}
	return true
}

// packAt returns the pack at a place, and what was read behind it: from text, which begins there,
// or from the log, into memory if that is long enough. The pack is nil if its header is damaged or
// the log ends early.
func (l *log) packAt(at place, text, memory []byte) (encoded, rest []byte, err error) {
	n := packLength(text, at)
	if n == 0 || n > len(text) {
		if text, err = l.read(memory, at); err != nil {
			return nil, nil, err
		}
		n = packLength(text, at)
	}
	if n > len(text) {
		if text, err = l.read(make([]byte, n), at); err != nil {
			return nil, nil, err
		}
	}
	if n == 0 || n > len(text) {
		return nil, nil, nil
	}
	return text[:n], text[n:], nil
}

// sum returns the checksum that the header of the pack at a place has; 0 if no sound header is there.
func (l *log) sum(at place) (uint32, error) {
	header, err := l.read(make([]byte, packHeader), at)
	if err != nil || packLength(header, at) == 0 {
		return 0, err
	}
	return binary.BigEndian.Uint32(header[12:]), nil
}

// search returns the place of the first pack behind at whose header is sound, or end, and whether
// all bytes before are zero, as cut leaves them.
func (l *log) search(at, end place) (behind place, empty bool, err error) {
	memory := make([]byte, farRead)
	empty = true
	for from := at; from < end; {
		text, err := l.read(memory, from)
		if err != nil || len(text) == 0 {
			return end, false, err
		}
		last := len(text) < len(memory) || from+place(len(text)) >= end
		for i := range text {
			if rest := text[i:]; len(rest) < packHeader && !last {
				text = text[:i] // read again from here on
				break
			} else if here := from + place(i); here > at && packLength(rest, here) > 0 {
				return here, empty && len(bytes.Trim(text[:i], "\x00")) == 0, nil
			}
		}
		empty = empty && len(bytes.Trim(text, "\x00")) == 0
		from += place(len(text))
	}
	return end, empty, nil
}
