package answers

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/s2"
)

const (
	packVersion = 4

	packPlain = 0
	packS2    = 1

	packHeaderSize     = 16
	packChecksumAt     = 8
	packHeadChecksumAt = 12

	// A pack is full with this many bytes or answers. All of it is read and unpacked for a single
	// one: with twice the bytes a store is smaller by 1%, and scattered lookups take a quarter
	// more time (BenchmarkLookup).
	packBytes   = 4 << 10
	packAnswers = 256

	// mostPacked is more than a pack of several answers has. A single long one is left as it
	// is, so that what is unpacked is never larger than what was read.
	mostPacked = 16 * packBytes

	// replacedMark stands for an answer that has been replaced. It is written into a pack that
	// is there, and no checksum covers it: it counts with most of its bits.
	replacedMark = 0xff

	// newerMark stands for an answer in the journal that replaces an older one. Here, too, one
	// bit says nothing.
	newerMark = 0x07
)

var errTorn = errors.New("the segment ends early")

// packer gathers answers for a pack.
type packer struct {
	answers []byte // as they are in a pack
	count   int
	packed  []byte // memory for appendPack
}

// add adds an answer's value.
func (p *packer) add(value []byte) {
	p.answers = appendSized(p.answers, value)
	p.count++
}

func (p *packer) isFull() bool { return len(p.answers) >= packBytes || p.count >= packAnswers }

// appendPack appends the pack of what was added to dst, as it lies at a position, and is
// empty then.
func (p *packer) appendPack(dst []byte, at position) []byte {
	encoding, packed := byte(packPlain), p.answers
	if len(p.answers) <= mostPacked {
		p.packed = slices.Grow(p.packed[:0], s2.MaxEncodedLen(len(p.answers)))
		encoding, packed = packS2, s2.Encode(p.packed[:cap(p.packed)], p.answers)
	}
	dst = appendPack(dst, at, encoding, make([]byte, p.count), packed)
	p.answers, p.count = p.answers[:0], 0
	return dst
}

// appendPack appends a pack as it lies at a position. It has a mark for each answer.
func appendPack(dst []byte, at position, encoding byte, marks, packed []byte) []byte {
	head := len(dst)
	dst = append(dst, make([]byte, packHeaderSize)...)
	dst = append(append(dst, marks...), packed...)
	h := packHeader{encoding, len(marks), len(packed), crc32.Checksum(packed, castagnoli)}
	h.put(dst[head:], at)
	return dst
}

// packHeader is what a pack begins with.
type packHeader struct {
	encoding byte
	answers  int
	size     int    // of the packed answers, in bytes
	checksum uint32 // of them
}

// put writes the header of a pack that lies at a position.
func (h packHeader) put(dst []byte, at position) {
	dst[0], dst[1] = packVersion, h.encoding
	binary.BigEndian.PutUint16(dst[2:], uint16(h.answers))
	binary.BigEndian.PutUint32(dst[4:], uint32(h.size))
	binary.BigEndian.PutUint32(dst[packChecksumAt:], h.checksum)
	binary.BigEndian.PutUint32(dst[packHeadChecksumAt:], headChecksum(dst, at))
}

// headChecksum covers the position, too: what lies in another place is no pack.
func headChecksum(head []byte, at position) uint32 {
	sum := crc32.Checksum(head[:packHeadChecksumAt], castagnoli)
	return crc32.Update(sum, castagnoli, appendPosition(nil, at))
}

// parsePackHeader reads the header of the pack at a position; false if there is none.
func parsePackHeader(head []byte, at position) (h packHeader, ok bool) {
	if len(head) < packHeaderSize || head[0] != packVersion || binary.BigEndian.Uint32(head[packHeadChecksumAt:]) != headChecksum(head, at) {
		return packHeader{}, false
	}
	h = packHeader{
		encoding: head[1],
		answers:  int(binary.BigEndian.Uint16(head[2:])),
		size:     int(binary.BigEndian.Uint32(head[4:])),
		checksum: binary.BigEndian.Uint32(head[packChecksumAt:]),
	}
	return h, h.answers > 0
}

// length is that of the whole pack, in bytes.
func (h packHeader) length() int { return packHeaderSize + h.answers + h.size }

// pack is what was read of a pack. The zero value has no answers.
type pack struct {
	at     position
	all    bool     // has values that have been replaced, too
	values [][]byte // nil where it has been replaced
	marks  []byte   // of the answers, until the next pack is read
	memory []byte   // of the values, used again for the next pack
}

// parse reads the pack that lies at a position. After an error it has no answers. One of
// which all answers were replaced is never damaged.
func (p *pack) parse(at position, text []byte) error {
	p.reset()
	p.at = at
	h, ok := parsePackHeader(text, at)
	if !ok || len(text) != h.length() {
		return errDamaged
	}
	p.marks = text[packHeaderSize : packHeaderSize+h.answers]
	packed := text[packHeaderSize+h.answers:]
	if !p.all && !slices.ContainsFunc(p.marks, func(mark byte) bool { return !isReplaced(mark) }) {
		return nil
	}
	if crc32.Checksum(packed, castagnoli) != h.checksum || !p.unpack(h.encoding, packed) {
		return errDamaged
	}
	rest := p.memory
	for _, mark := range p.marks {
		value, after, ok := cutSized(rest)
		if !ok {
			p.values = p.values[:0]
			return errDamaged
		}
		if isReplaced(mark) && !p.all {
			value = nil
		}
		p.values = append(p.values, value)
		rest = after
	}
	return nil
}

func isReplaced(mark byte) bool { return bits.OnesCount8(mark) > 4 }

func isNewer(mark byte) bool { return bits.OnesCount8(mark) > 1 }

// reset makes it a pack without answers.
func (p *pack) reset() { p.at, p.values, p.marks = 0, p.values[:0], nil }

// unpack fills the memory with the answers of a pack.
func (p *pack) unpack(encoding byte, answers []byte) bool {
	if encoding == packPlain {
		p.memory = append(p.memory[:0], answers...)
		return true
	}
	if size, err := s2.DecodedLen(answers); err != nil || size > mostPacked || encoding != packS2 {
		return false
	}
	unpacked, err := s2.Decode(p.memory[:cap(p.memory)], answers)
	if err != nil {
		return false
	}
	p.memory = unpacked
	return true
}

// find gives the index of the answer with a key, -1 for none.
func (p *pack) find(key []byte) int {
	return slices.IndexFunc(p.values, func(value []byte) bool { return isOf(key, value) })
}

// appendSized appends a value with its length before it.
func appendSized(dst, value []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(value)))
	return append(dst, value...)
}

// cutSized cuts the first value off.
func cutSized(text []byte) (value, rest []byte, ok bool) {
	size, n := binary.Uvarint(text)
	if n <= 0 || size > uint64(len(text)-n) {
		return nil, nil, false
	}
	end := n + int(size)
	return text[n:end:end], text[end:], true
}
