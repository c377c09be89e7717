package answers

import (
	"encoding/binary"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/s2"
)

const (
	packMagic = 0xBC // no byte of UTF-8 text in Latin letters, so that a search for packs seldom stops

	packPlain = 0
	packS2    = 1

	packHeaderSize = 16

	// A pack is full with this many bytes or records. A lookup of a single answer decodes a whole
	// pack; larger packs save 1% of the disk.
	packBytes   = 4 << 10
	packRecords = 256

	// maxCompressed bounds the memory that decoding takes. A longer record is stored as it is.
	maxCompressed = 16 * packBytes
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// packHeader is the header of a pack.
type packHeader struct {
	encoding byte
	records  int
	size     int    // of the encoded records, in bytes
	checksum uint32 // of the encoded records
}

// appendPack appends the pack of some records, each with its length before it, as the pack
// lies at a place. It compresses the records if that makes them smaller.
func appendPack(dst []byte, at place, records []byte, n int) []byte {
	start := len(dst)
	h := packHeader{encoding: packPlain, records: n}
	dst = slices.Grow(dst, packHeaderSize+s2.MaxEncodedLen(len(records)))[:start+packHeaderSize]
	encoded := records
	if len(records) <= maxCompressed {
		encoded = s2.Encode(dst[len(dst):cap(dst)], records)
		h.encoding = packS2
	}
	if len(encoded) >= len(records) {
		encoded, h.encoding = records, packPlain
	}
	h.size, h.checksum = len(encoded), crc32.Checksum(encoded, castagnoli)
	h.put(dst[start:], at)
	return append(dst, encoded...)
}

func (h packHeader) put(dst []byte, at place) {
	dst[0], dst[1] = packMagic, h.encoding
	binary.BigEndian.PutUint16(dst[2:], uint16(h.records))
	binary.BigEndian.PutUint32(dst[4:], uint32(h.size))
	binary.BigEndian.PutUint32(dst[8:], h.checksum)
	binary.BigEndian.PutUint32(dst[12:], headerChecksum(dst, at))
}

// headerChecksum covers the place, so that bytes that were meant for another place are no pack.
func headerChecksum(header []byte, at place) uint32 {
	sum := crc32.Checksum(header[:12], castagnoli)
	return crc32.Update(sum, castagnoli, at.append(nil))
}

// parsePackHeader reads the header of the pack at a place; false if there is no pack.
func parsePackHeader(text []byte, at place) (h packHeader, ok bool) {
	if len(text) < packHeaderSize || text[0] != packMagic || binary.BigEndian.Uint32(text[12:]) != headerChecksum(text, at) {
		return packHeader{}, false
	}
	return packHeader{
		encoding: text[1],
		records:  int(binary.BigEndian.Uint16(text[2:])),
		size:     int(binary.BigEndian.Uint32(text[4:])),
		checksum: binary.BigEndian.Uint32(text[8:]),
	}, true
}

// length is the number of bytes of the whole pack.
func (h packHeader) length() int { return packHeaderSize + h.size }

// decode appends the records of a pack, each with its length before it, to dst.
func (h packHeader) decode(dst, encoded []byte) ([]byte, error) {
	switch size, err := s2.DecodedLen(encoded); {
	case crc32.Checksum(encoded, castagnoli) != h.checksum:
		return nil, errDamaged
	case h.encoding == packPlain:
		return append(dst, encoded...), nil
	case h.encoding != packS2 || err != nil || size > maxCompressed:
		return nil, errDamaged
	default:
		dst = slices.Grow(dst, size)
		decoded, err := s2.Decode(dst[len(dst):len(dst)+size], encoded)
		if err != nil {
			return nil, errDamaged
		}
		return dst[:len(dst)+len(decoded)], nil
	}
}

// splitPack splits the records of a pack and appends them to dst.
func (h packHeader) splitPack(dst [][]byte, records []byte) ([][]byte, error) {
	for range h.records {
		record, rest, ok := cutSized(records)
		if !ok {
			return nil, errDamaged
		}
		dst, records = append(dst, record), rest
	}
	return dst, nil
}
