package pages

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// codecs decompress src into the whole of dst, and fail if src has more or less. They do not take memory for more.
var codecs = [...]func(dst, src []byte) error{
	format.Uncompressed: func(dst, src []byte) error { return filled(dst, copy(dst, src), len(src)) },
	format.Snappy:       unsnappy,
	format.Gzip:         ungzip,
	format.Brotli: func(dst, src []byte) error {
		return fill(dst, brotli.NewReader(bytes.NewReader(src)))
	},
	format.Lz4:    unhadoop,
	format.Zstd:   unzstd,
	format.Lz4Raw: unlz4,
}

var errMore = errors.New("a page has more bytes than its header says")

// filled returns an error unless all n bytes filled dst.
func filled(dst []byte, copied, n int) error {
	if copied < len(dst) {
		return fmt.Errorf("a page has %d bytes, and its header says %d", copied, len(dst))
	} else if n > len(dst) {
		return errMore
	}
	return nil
}

// fill reads the whole of dst, and the end of r.
func fill(dst []byte, r io.Reader) error {
	if n, err := io.ReadFull(r, dst); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return filled(dst, n, n)
		}
		return err
	}
	var more [1]byte
	switch n, err := io.ReadFull(r, more[:]); {
	case n > 0:
		return errMore
	case err != io.EOF:
		return err
	}
	return nil
}

func unsnappy(dst, src []byte) error {
	n, err := snappy.DecodedLen(src)
	if err != nil {
		return err
	}
	if n != len(dst) {
		return filled(dst, min(n, len(dst)), n)
	}
	_, err = snappy.Decode(dst, src)
	return err
}

// gzips has readers, which are large.
var gzips sync.Pool

func ungzip(dst, src []byte) error {
	z, _ := gzips.Get().(*gzip.Reader)
	if z == nil {
		z = new(gzip.Reader)
	}
	defer gzips.Put(z)
	if err := z.Reset(bytes.NewReader(src)); err != nil {
		return err
	}
	return fill(dst, z)
}

var zstdDecoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(0), zstd.WithDecoderLowmem(true))
})

func unzstd(dst, src []byte) error {
	d, err := zstdDecoder()
	if err != nil {
		return err
	}
	out, err := d.DecodeAll(src, dst[:0:len(dst)])
	if err == nil {
		err = filled(dst, len(out), len(out))
	}
	return err
}

func unlz4(dst, src []byte) error {
	if len(dst) == 0 {
		return nil // there is a block of a zero byte, or none
	}
	n, err := lz4.UncompressBlock(src, dst)
	if err != nil {
		return err
	}
	return filled(dst, n, n)
}

// unhadoop decompresses the codec LZ4, which is the format of Hadoop's files: blocks with their sizes. Some programs
// wrote blocks of LZ4_RAW.
func unhadoop(dst, src []byte) error {
	if unblock(dst, src) == nil {
		return nil
	}
	return unlz4(dst, src)
}

// unblock decompresses blocks of Hadoop: the size, and then the parts with their compressed sizes. The integers are
// big-endian.
func unblock(dst, src []byte) error {
	for len(src) > 0 {
		size, rest, err := cutSize(src, len(dst))
		if err != nil {
			return err
		}
		src = rest
		for block := dst[:size]; len(block) > 0; {
			part, rest, err := cutSize(src, len(src)-4)
			if err != nil {
				return err
			}
			n, err := lz4.UncompressBlock(rest[:part], block)
			if err != nil || n == 0 {
				return errors.Join(err, errMore)
			}
			block, src = block[n:], rest[part:]
		}
		dst = dst[size:]
	}
	return filled(dst, 0, 0)
}

// cutSize returns the size at the beginning of src, which is at most limit.
func cutSize(src []byte, limit int) (size int, rest []byte, err error) {
	if len(src) < 4 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	if n := binary.BigEndian.Uint32(src); uint64(n) <= uint64(max(limit, 0)) {
		return int(n), src[4:], nil
	}
	return 0, nil, errMore
}
