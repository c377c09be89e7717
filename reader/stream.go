package reader

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// readSize is the size of a read from a file in bytes, large enough that system calls cost little.
	readSize = 64 << 10
	// zstdWindow bounds the memory of a zstd frame: the default bound of the zstd tool.
	zstdWindow = 128 << 20
)

// stream is an opened input.
type stream struct {
	seekable Source        // the file, if it is read by offset and so has no text
	size     int64         // of seekable, in bytes
	text     io.Reader     // decompressed, in UTF-8
	lines    *lineSplitter // of the text; nil if a parser does not read by lines
	encoding string        // of the file, if it is known and not utf-8
	raw      *rawReader
	origin   *origin // nil unless it is a regular file
	closers  []io.Closer
}

// newStream returns a stream that owns body, and closes body on an error. The stream adds the raw bytes that it
// reads to total. A table is read from the archive body. For encoding and found see decode. If it is strict, end marks are text. The error is a *ReadError, or an *UnsupportedError for content
// that is not a list, compressed or not.
func newStream(name string, body io.ReadCloser, table *zippedTable, encoding string, strict bool, found func(string), total *atomic.Int64) (*stream, error) {
	s := &stream{
		raw:     &rawReader{src: body, hash: sha256.New(), total: total},
		closers: []io.Closer{body},
	}
	stored := bufio.NewReaderSize(s.raw, readSize)
	if table != nil {
		unzipped, err := table.open(stored)
		if err != nil {
			s.Close() // nothing was written: only the first error matters
			return nil, &ReadError{name, 1, err}
		}
		stored = bufio.NewReaderSize(unzipped, readSize)
	}
	head, _ := stored.Peek(headSize) // the next Read returns an error met here
	if err := refuse(name, head); err != nil {
		s.Close() // nothing was written: only the first error matters
		return nil, err
	}
	plain, err := decompress(name, stored)
	if err != nil {
		s.Close()
		return nil, &ReadError{name, 1, err}
	}
	s.closers = append(s.closers, plain)
	text := bufio.NewReaderSize(plain, readSize)
	head, _ = text.Peek(headSize)
	if err := refuse(name, head); err != nil {
		s.Close()
		return nil, err
	}
	s.text, s.encoding = decode(text, encoding, found)
	if !strict {
		s.text = &endMarks{src: s.text}
	}
	return s, nil
}

// newSeekable returns the stream of a file that is read by offset.
func newSeekable(body Source, size int64, first *origin, total *atomic.Int64) *stream {
	return &stream{
		seekable: body,
		size:     size,
		raw:      &rawReader{src: body, hash: sha256.New(), total: total},
		origin:   first,
		closers:  []io.Closer{body},
	}
}

// splitLines returns the lines of the text, of most bytes each.
func (s *stream) splitLines(most int) *lineSplitter {
	s.lines = newLineSplitter(s.text)
	s.lines.most = most
	return s.lines
}

// followStride is the number of rows after which follow reads.
const followStride = 4096

// follow reads on the raw bytes, for the checksum and the progress, up to the share of the file that a number of rows
// is. The rows themselves are read by offset.
func (s *stream) follow(rows int64, share float64) error {
	due := int64(float64(s.size)*share) - s.raw.bytes
	if rows%followStride != 0 || due <= 0 {
		return nil
	}
	if _, err := io.CopyN(io.Discard, s.raw, due); err != io.EOF {
		return err
	}
	return nil
}

func (s *stream) Close() error {
	var err error
	for _, c := range s.closers {
		err = errors.Join(err, c.Close())
	}
	s.closers = nil
	return err
}

// The first bytes of the compressions.
var (
	magicGzip = []byte{0x1f, 0x8b}             // RFC 1952 §2.3.1
	magicZstd = []byte{0x28, 0xb5, 0x2f, 0xfd} // RFC 8878 §3.1.1
)

// IsCompressed reports whether a file begins as gzip or zstd does.
func IsCompressed(head []byte) bool {
	return bytes.HasPrefix(head, magicGzip) || isZstd(head[:min(len(head), len(magicZstd))])
}

// decompress recognizes the compression by the first bytes: file names may be wrong, and standard input has none.
func decompress(name string, r *bufio.Reader) (io.ReadCloser, error) {
	magic, _ := r.Peek(len(magicZstd)) // the next Read returns an error met here
	switch {
	case isCutMagic(name, magic):
		return nil, io.ErrUnexpectedEOF
	case bytes.HasPrefix(magic, magicGzip):
		return newGzipReader(r)
	case isZstd(magic):
		// With a concurrency of 1 the decoder starts no goroutines.
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	default:
		return io.NopCloser(r), nil
	}
}

// isCutMagic reports whether a file ends within the first bytes of a compression. A text may also be that short and
// begin with the first byte of zstd, unless the name is that of a compressed file.
func isCutMagic(name string, magic []byte) bool {
	if len(magic) == 0 || len(magic) == len(magicZstd) {
		return false
	}
	return compressedName(name) || len(magic) < len(magicGzip) && bytes.HasPrefix(magicGzip, magic) ||
		len(magic) > 1 && bytes.HasPrefix(magicZstd, magic)
}

// compressedName reports whether a file has the extension of a compression that the package reads.
func compressedName(name string) bool {
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".zst")
}

// gzipReader reads all members of a gzip file, and skips zeros between and after them, with which backups fill
// their last block, as the gzip tool does.
type gzipReader struct {
	member *gzip.Reader
	src    *bufio.Reader
	err    error // of open
}

func newGzipReader(r *bufio.Reader) (*gzipReader, error) {
	g := &gzipReader{member: new(gzip.Reader), src: r}
	return g, g.open()
}

// open reads the header of a member. The library returns io.EOF for a header that is cut off.
func (g *gzipReader) open() error {
	g.err = g.member.Reset(g.src)
	if g.err == io.EOF {
		g.err = io.ErrUnexpectedEOF
	}
	g.member.Multistream(false)
	return g.err
}

func (g *gzipReader) Read(p []byte) (int, error) {
	for g.err == nil { // a buffer that has met an error while it looked ahead reads again
		n, err := g.member.Read(p)
		if err != io.EOF {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
		if err := g.next(); err != nil {
			return 0, err
		}
	}
	return 0, g.err
}

// next starts the next member. The error is io.EOF if there is none.
func (g *gzipReader) next() error {
	b, err := g.src.ReadByte()
	for b == 0 && err == nil {
		b, err = g.src.ReadByte()
	}
	if err != nil {
		return err
	}
	if err := g.src.UnreadByte(); err != nil {
		return err
	}
	return g.open()
}

func (g *gzipReader) Close() error { return g.member.Close() }

// isZstd also recognizes the skippable frames (RFC 8878 §3.1.2) with which parallel compressors start.
func isZstd(magic []byte) bool {
	return bytes.Equal(magic, magicZstd) ||
		len(magic) == 4 && magic[0]&0xf0 == 0x50 && bytes.Equal(magic[1:], []byte{0x2a, 0x4d, 0x18})
}

// rawReader counts and hashes the bytes of a file as they are stored.
type rawReader struct {
	src   io.Reader
	hash  hash.Hash
	bytes int64
	total *atomic.Int64
	err   error
}

func (r *rawReader) Read(p []byte) (int, error) {
	// Errors are sticky: a terminal could be read after io.EOF.
	if r.err != nil {
		return 0, r.err
	}
	n, err := r.src.Read(p)
	r.hash.Write(p[:n])
	r.bytes += int64(n)
	r.total.Add(int64(n))
	r.err = err
	return n, err
}

// digest returns the number of bytes read, and their checksum in hex.
func (r *rawReader) digest() (bytes int64, sha256 string) {
	return r.bytes, hex.EncodeToString(r.hash.Sum(nil))
}
