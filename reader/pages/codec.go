package pages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// codecs decompress src into dst, and return the size of what src has. They take no memory for more than dst; the size is then
// more than that of dst, or there is an error.
var codecs = [...]func(dst, src []byte) (int, error){
	format.Uncompressed: func(dst, src []byte) (int, error) { copy(dst, src); return len(src), nil },
	format.Snappy:       unsnappy,
	format.Gzip:         ungzip,
	format.Brotli:       func(dst, src []byte) (int, error) { return fill(dst, brotli.NewReader(bytes.NewReader(src))) },
	format.Lz4:          unhadoop,
	format.Zstd:         unzstd,
	format.Lz4Raw:       unlz4,
}

// fill reads the whole of dst, and the end of r.
func fill(dst []byte, r io.Reader) (n int, err error) {
	if n, err = io.ReadFull(r, dst); err == nil {
		var more [1]byte
		var beyond int
		beyond, err = io.ReadFull(r, more[:])
		n += beyond
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil // the size says it
	}
	return n, err
}

func unsnappy(dst, src []byte) (int, error) {
	n, err := snappy.DecodedLen(src)
	if err == nil && n == len(dst) {
		_, err = snappy.Decode(dst, src)
	}
	return n, err
}

func ungzip(dst, src []byte) (int, error) {
	z, err := gzip.NewReader(bytes.NewReader(src))
	if err != nil {
		return 0, err
	}
	return fill(dst, z)
}

var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true))
})

func unzstd(dst, src []byte) (int, error) {
	d, err := zstdDecoder()
	if err != nil {
		return 0, err
	}
	out, err := d.DecodeAll(src, dst[:0:len(dst)])
	return len(out), err
}

func unlz4(dst, src []byte) (int, error) {
	if len(dst) == 0 {
		return 0, nil // there is a block of a zero byte, or none
	}
	return lz4.UncompressBlock(src, dst)
}

// unhadoop decompresses the codec LZ4, which is the format of Hadoop's files: blocks with their sizes. Some programs
// wrote blocks of LZ4_RAW.
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
