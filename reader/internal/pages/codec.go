package pages

import (
	"encoding/binary"
	"errors"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// isRead reports whether pages of the codec are read.
func isRead(codec format.CompressionCodec) bool {
	return codec == format.Lz4 || parquet.LookupCompressionCodec(codec).String() != "UNSUPPORTED"
}

// decompress decompresses a page, in the memory of dst if the page has the size of dst. The library does not have the codec LZ4,
// and decodes numbers that LZ4_RAW does not make smaller as zeros.
func decompress(codec format.CompressionCodec, dst, src []byte) ([]byte, error) {
	switch codec {
	case format.Lz4:
		n, err := unhadoop(dst, src)
		return dst[:n], err
	case format.Lz4Raw:
		n, err := unlz4(dst, src)
		return dst[:n], err
	}
	return parquet.LookupCompressionCodec(codec).Decode(dst, src)
}

func unlz4(dst, src []byte) (int, error) {
	if len(dst) == 0 {
		return 0, nil // there is a block of a zero byte, or none
	}
	return lz4.UncompressBlock(src, dst)
}

// unhadoop decompresses the codec LZ4, which is the format of Hadoop's files: blocks with their sizes. Some programs wrote blocks
// of LZ4_RAW instead.
func unhadoop(dst, src []byte) (int, error) {
	if n, err := unblock(dst, src); err == nil && n == len(dst) {
		return n, nil
	}
	return unlz4(dst, src)
}

var errBlock = errors.New("a block of LZ4 does not have its size")

// unblock decompresses blocks of Hadoop: the size, and then the parts with their compressed sizes. The integers are
// big-endian.
func unblock(dst, src []byte) (total int, err error) {
	for len(src) > 0 {
		size, rest, err := cutSize(src, len(dst))
		if err != nil {
			return total, err
		}
		src = rest
		for block := dst[:size]; len(block) > 0; {
			part, rest, err := cutSize(src, len(src)-4)
			if err != nil {
				return total, err
			}
			n, err := lz4.UncompressBlock(rest[:part], block)
			if err != nil || n == 0 {
				return total, errors.Join(err, errBlock)
			}
			block, src = block[n:], rest[part:]
		}
		dst, total = dst[size:], total+size
	}
	return total, nil
}

// cutSize returns the size at the beginning of src, which is at most limit.
func cutSize(src []byte, limit int) (size int, rest []byte, err error) {
	if len(src) < 4 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	if n := binary.BigEndian.Uint32(src); uint64(n) <= uint64(max(limit, 0)) {
		return int(n), src[4:], nil
	}
	return 0, nil, errBlock
}
