package writer

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// compressor is what text goes through. Close ends the compressed stream, not the writer below.
type compressor interface {
	io.WriteCloser
	Flush() error
}

// newCompressor makes a compressor for an extension: "gz", "zst", or "" for one that changes nothing.
func newCompressor(w io.Writer, extension string) (compressor, error) {
	switch extension {
	case "":
		return plain{w}, nil
	case "gz":
		gz := gzip.NewWriter(w)
		gz.ModTime = time.Unix(0, 0) // the header then says "no time" (RFC 1952, section 2.3.1)
		return gz, nil
	case "zst":
		return zstd.NewWriter(w, zstdOptions...)
	default:
		return nil, fmt.Errorf("unknown compression %q", extension)
	}
}

// plain is the compressor that changes nothing.
type plain struct{ io.Writer }

func (plain) Flush() error { return nil }
func (plain) Close() error { return nil }

// zstdOptions keep zstd modest. The window is what it looks back over, and it holds several times that
// in memory: the default of 8 MiB would take more than all the rest of the package, and gain nothing on
// pages of pageBytes.
var zstdOptions = []zstd.EOption{
	zstd.WithWindowSize(1 << 20),
	zstd.WithEncoderConcurrency(1), // no goroutines
	zstd.WithZeroFrames(true),      // no rows make an empty frame, not an empty file
}

// pageCodec is the Parquet library's zstd, but compresses with zstdOptions.
type pageCodec struct {
	compress.Codec
	encoder *zstd.Encoder
}

func newPageCodec() (pageCodec, error) {
	// Without a checksum of zstd's own, since Parquet keeps one per page.
	encoder, err := zstd.NewWriter(nil, append(slices.Clone(zstdOptions), zstd.WithEncoderCRC(false))...)
	return pageCodec{&parquet.Zstd, encoder}, err
}

// Encode compresses src into dst, which is made longer if need be.
func (c pageCodec) Encode(dst, src []byte) ([]byte, error) {
	return c.encoder.EncodeAll(src, dst[:0]), nil
}
