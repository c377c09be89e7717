package writer

import (
	"io"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// compressor compresses text. Close ends the compressed stream, but does not close the underlying writer.
type compressor interface {
	io.WriteCloser
	Flush() error
}

// newCompressor returns a compressor for an extension: "gz", "zst", or "" for no compression.
func newCompressor(w io.Writer, extension string) (compressor, error) {
	switch extension {
	case "gz":
		gz := gzip.NewWriter(w)
		gz.ModTime = time.Unix(0, 0) // stands for "no time" (RFC 1952 §2.3.1)
		return gz, nil
	case "zst":
		return zstd.NewWriter(w, zstdOptions...)
	default:
		return plain{w}, nil
	}
}

// plain is a compressor without compression.
type plain struct{ io.Writer }

func (plain) Flush() error { return nil }
func (plain) Close() error { return nil }

// zstdOptions bound the memory of zstd, which is several times its window. The default window of 8 MiB would take more memory
// than the rest of the package, and pages of pageBytes do not need it.
var zstdOptions = []zstd.EOption{
	zstd.WithWindowSize(1 << 20),
	zstd.WithEncoderConcurrency(1), // without goroutines
	zstd.WithZeroFrames(true),      // an output without rows is a valid frame
}

// pageCodec is the zstd codec of the Parquet library with zstdOptions.
type pageCodec struct {
	compress.Codec
	encoder *zstd.Encoder
}

func newPageCodec() (pageCodec, error) {
	// Parquet has a checksum per page, so zstd needs none.
	encoder, err := zstd.NewWriter(nil, append(slices.Clone(zstdOptions), zstd.WithEncoderCRC(false))...)
	return pageCodec{&parquet.Zstd, encoder}, err
}

// Encode compresses src into dst, which grows if necessary.
func (c pageCodec) Encode(dst, src []byte) ([]byte, error) {
	return c.encoder.EncodeAll(src, dst[:0]), nil
}
