package pages

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// decompress decompresses a page, in the memory of dst if the page has the size of dst. The library does not have the codec LZ4,
// and decodes numbers that LZ4_RAW does not make smaller as zeros. Some programs wrote blocks of LZ4_RAW for LZ4.
func decompress(codec format.CompressionCodec, dst, src []byte) ([]byte, error) {
	switch {
	case codec == format.Lz4 && unblock(dst, src):
		return dst, nil
	case codec == format.Lz4 || codec == format.Lz4Raw:
		n, err := lz4.UncompressBlock(src, dst)
		return dst[:n], err
	}
	return parquet.LookupCompressionCodec(codec).Decode(dst, src)
}

// unblock decompresses the codec LZ4, which is the format of Hadoop's files: blocks of their size, and then of parts with their
// compressed sizes. The integers are big-endian. It returns false if src is something else.
func unblock(dst, src []byte) bool {
	left := 0 // bytes of the block
	for len(src) >= 4 {
		size := int(binary.BigEndian.Uint32(src))
		src = src[4:]
		if left == 0 {
			left = size
			continue
		}
		if size > len(src) || left > len(dst) {
			return false
		}
		n, err := lz4.UncompressBlock(src[:size], dst[:left])
		if err != nil || n == 0 {
			return false
		}
		dst, src, left = dst[n:], src[size:], left-n
	}
	return len(dst)+len(src)+left == 0
}
