package answers

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/s2"
)

const (
	packVersion = 3

	packPlain = 0
	packS2    = 1

	packChecksumAt = 2
	packHeaderSize = 6

	// A pack is full with this many bytes or answers. All of it is unpacked for a single one:
	// with twice the bytes a store is smaller by 1%, and scattered lookups take a quarter more
	// time (BenchmarkLookup).
	packBytes   = 4 << 10
	packAnswers = 256

	// Less is left for the database to compress together with other packs, and so is more, a
	// single long answer: what is unpacked is never larger.
	leastPacked = packBytes / 2
	mostPacked  = 16 * packBytes
)

// packer gathers answers for a pack.
type packer struct {
	answers []byte // as they are in a pack
	count   int
}

// add adds an answer's value, or nothing in the place of one that has been replaced.
func (p *packer) add(value []byte) {
	p.answers = binary.AppendUvarint(p.answers, uint64(len(value)))
	p.answers = append(p.answers, value...)
	p.count++
}

func (p *packer) isFull() bool { return len(p.answers) >= packBytes || p.count >= packAnswers }

// appendPack appends the pack of what was added to dst, and is empty then.
func (p *packer) appendPack(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, packVersion, packPlain, 0, 0, 0, 0)
	dst = binary.AppendUvarint(dst, uint64(p.count))
	if n := len(p.answers); leastPacked <= n && n <= mostPacked {
		dst[start+1] = packS2
		at, most := len(dst), s2.MaxEncodedLen(n)
		dst = slices.Grow(dst, most)
		dst = dst[:at+len(s2.Encode(dst[at:at+most], p.answers))]
	} else {
		dst = append(dst, p.answers...)
	}
	binary.BigEndian.PutUint32(dst[start+packChecksumAt:], packChecksum(dst[start:]))
	p.answers, p.count = p.answers[:0], 0
	return dst
}

func packChecksum(value []byte) uint32 {
	sum := crc32.Update(0, castagnoli, value[:packChecksumAt])
	return crc32.Update(sum, castagnoli, value[packHeaderSize:])
}

// pack is what was read of a pack, or of a single answer of format 2. The zero value has no
// answers.
type pack struct {
	last   Position
	values [][]byte // in successive positions; an empty one has been replaced
	memory []byte   // of the values, used again for the next pack
}

// parse reads the pack that lies at a position. After an error it has no answers.
func (p *pack) parse(last Position, value []byte) error {
	p.reset()
	p.last = last
	if len(value) > 0 && value[0] == valueVersion {
		p.memory = append(p.memory[:0], value...)
		p.values = append(p.values, p.memory)
		return nil
	}
	if len(value) < packHeaderSize || value[0] != packVersion || binary.BigEndian.Uint32(value[packChecksumAt:]) != packChecksum(value) {
		return errDamaged
	}
	count, n := binary.Uvarint(value[packHeaderSize:])
	if n <= 0 || count == 0 || count > packAnswers || count > uint64(last) || !p.unpack(value[1], value[packHeaderSize+n:]) {
		return errDamaged
	}
	rest := p.memory
	for range count {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			p.values = p.values[:0]
			return errDamaged
		}
		end := n + int(size)
		p.values = append(p.values, rest[n:end:end])
		rest = rest[end:]
	}
	return nil
}

// reset makes it a pack without answers.
func (p *pack) reset() { p.last, p.values = 0, p.values[:0] }

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

// first is the position of the first answer; after last where there is none.
func (p *pack) first() Position { return p.last - Position(len(p.values)) + 1 }

func (p *pack) holds(at Position) bool { return p.first() <= at && at <= p.last }

// empty takes the answer in a position out, and says whether it is one of the pack's.
func (p *pack) empty(at Position) bool {
	if !p.holds(at) {
		return false
	}
	p.values[at-p.first()] = nil
	return true
}

// value gives the answer in a position; nothing if it is not here, or has been replaced.
func (p *pack) value(at Position) []byte {
	if !p.holds(at) {
		return nil
	}
	return p.values[at-p.first()]
}
