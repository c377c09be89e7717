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
	// readSize is the size of a read from a file, in bytes: system calls then cost little.
	readSize = 64 << 10
	// zstdWindow bounds the memory of a zstd frame: the default bound of the zstd tool.
	zstdWindow = 128 << 20
)

// stream is an opened input.
type stream struct {
	seekable Source        // the file, if it is read by offset; text is then nil
	size     int64         // of seekable, in bytes
	text     io.Reader     // decompressed, in UTF-8
	lines    *lineSplitter // of the text; nil if the parser does not read lines
	encoding string        // if it is known and not utf-8; else ""
	packed   bool          // compressed, or in an archive
	raw      *rawReader
	origin   *origin // nil if the input is not a regular file
	closers  []io.Closer
}

// newRawStream returns a stream without text, which adds the raw bytes that it reads to total.
func newRawStream(body io.ReadCloser, total *atomic.Int64) *stream {
	return &stream{raw: &rawReader{src: body, hash: sha256.New(), total: total}, origin: originOf(body), closers: []io.Closer{body}}
}

// newStream returns the stream of a file. The stream owns body, and newStream closes it on an error. The error is a *ReadError or an *UnsupportedError.
func (r *Reader) newStream(f *file, body io.ReadCloser, total *atomic.Int64) (s *stream, err error) {
	name := f.name()
	s = newRawStream(body, total)
	defer func() {
		if err != nil {
			s.Close() // nothing was written: only the first error matters
		}
	}()
	stored := bufio.NewReaderSize(s.raw, readSize)
	if f.table != nil {
		unzipped, err := f.table.open(stored)
		if err != nil {
			return s, &ReadError{name, 1, err}
		}
		stored = bufio.NewReaderSize(unzipped, readSize)
	}
	head, _ := stored.Peek(headSize) // the next Read returns an error met here
	if err := refuse(name, head); err != nil {
		return s, err
	}
	s.packed = f.table != nil || bytes.HasPrefix(head, magicGzip) || isZstd(head)
	plain, err := decompress(name, stored)
	if err != nil {
		return s, &ReadError{name, 1, err}
	}
	s.closers = append(s.closers, plain)
	text := bufio.NewReaderSize(plain, readSize)
	head, _ = text.Peek(headSize)
	if err := refuse(name, head); err != nil {
		return s, err
	}
	s.text, s.encoding = decode(text, r.options.Encoding, r.onGuess(f))
	if !r.options.Dialect.Strict { // else end marks are text
		s.text = &endMarks{src: s.text}
	}
	return s, nil
}

// splitLines returns the lines of the text, of up to most bytes each.
func (s *stream) splitLines(most int) *lineSplitter {
	s.lines = newLineSplitter(s.text)
	s.lines.most = most
	return s.lines
}

// followStride is the number of rows between two reads of follow.
const followStride = 4096

// follow reads the raw bytes of a file whose rows are read by offset, for the checksum and the progress. share is the share of
// the file that has been read after the given number of rows.
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

// The first bytes of compressed files.
var (
	magicGzip = []byte{0x1f, 0x8b}             // RFC 1952 §2.3.1
	magicZstd = []byte{0x28, 0xb5, 0x2f, 0xfd} // RFC 8878 §3.1.1
)

// decompress recognizes the compression by the first bytes, because file names may be wrong, and standard input has none.
func decompress(name string, r *bufio.Reader) (io.ReadCloser, error) {
	magic, _ := r.Peek(len(magicZstd)) // the next Read returns an error met here
	switch {
	case isCutMagic(name, magic):
		return nil, io.ErrUnexpectedEOF
	case bytes.HasPrefix(magic, magicGzip):
		g := &gzipReader{member: new(gzip.Reader), src: r}
		return g, g.next()
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

// isCutMagic reports whether a file ends within the first bytes of a compression. Text may begin with the first byte of zstd,
// so one byte counts only if the name has the extension of a compression.
func isCutMagic(name string, magic []byte) bool {
	if len(magic) == 0 || len(magic) == len(magicZstd) {
		return false
	}
	name = strings.ToLower(name)
	return strings.HasSuffix(name, ".gz") || strings.HasSuffix(name, ".zst") ||
		len(magic) < len(magicGzip) && bytes.HasPrefix(magicGzip, magic) ||
		len(magic) > 1 && bytes.HasPrefix(magicZstd, magic)
}

// gzipReader reads all members of a gzip file. It skips zeros between and after them, as the gzip tool does: backups pad their
// last block with zeros.
type gzipReader struct {
	member *gzip.Reader
	src    *bufio.Reader
	err    error // of next
}

func (g *gzipReader) Read(p []byte) (int, error) {
	for g.err == nil { // a bufio.Reader reads again after an error that it has met in Peek
		n, err := g.member.Read(p)
		if err != io.EOF {
			return n, err
		}
		if n > 0 {
			return n, nil
		}
		g.err = g.next()
	}
	return 0, g.err
}

// next starts the next member. The error is io.EOF if there is none. A header that is cut off is another error, unlike in the
// library.
func (g *gzipReader) next() error {
	b, err := g.src.ReadByte()
	for b == 0 && err == nil {
		b, err = g.src.ReadByte()
	}
	if err != nil {
		return err
	}
	_ = g.src.UnreadByte() // cannot fail after ReadByte
	err = g.member.Reset(g.src)
	g.member.Multistream(false)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}

func (g *gzipReader) Close() error { return g.member.Close() }

// isZstd reports whether magic begins a zstd frame, or a skippable frame (RFC 8878 §3.1.2), which parallel compressors write
// first.
func isZstd(magic []byte) bool {
	return bytes.HasPrefix(magic, magicZstd) ||
		len(magic) > 0 && magic[0]&0xf0 == 0x50 && bytes.HasPrefix(magic[1:], []byte{0x2a, 0x4d, 0x18})
}

// rawReader counts and hashes the stored bytes of a file.
type rawReader struct {
	src   io.Reader
	hash  hash.Hash
	bytes int64
	total *atomic.Int64
	err   error
}

func (r *rawReader) Read(p []byte) (int, error) {
	// Errors are sticky, because a terminal could be read after io.EOF.
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
